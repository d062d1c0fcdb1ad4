"""The servers of the tests in here."""

from lookups import own_redis, redis_server, shared_redis

__all__ = ["own_redis", "redis_server", "shared_redis"]
