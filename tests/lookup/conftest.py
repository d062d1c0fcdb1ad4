"""What the tests of lookups share: both loops on virtual clocks, and a real Redis."""

from lookups import own_redis, redis_server, shared_redis
from operators import anyio_backend

__all__ = ["anyio_backend", "own_redis", "redis_server", "shared_redis"]
