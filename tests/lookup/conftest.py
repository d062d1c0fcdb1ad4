"""What the tests of lookups share: both loops on virtual clocks, and a real Redis."""

from operators import anyio_backend
from redis_fixtures import own_redis, redis_server, shared_redis

__all__ = ["anyio_backend", "own_redis", "redis_server", "shared_redis"]
