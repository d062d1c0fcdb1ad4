"""Servers of Redis for tests: one to share, and one to be killed."""

from collections.abc import Iterator

import pytest
from lookups import RedisServer


@pytest.fixture(scope="session")
def shared_redis() -> Iterator[RedisServer]:
    server = RedisServer()
    yield server
    server.close()


@pytest.fixture
def redis_server(shared_redis: RedisServer) -> RedisServer:
    shared_redis.client.flushall()
    return shared_redis


@pytest.fixture
def own_redis() -> Iterator[RedisServer]:
    server = RedisServer("--appendonly", "yes")
    yield server
    server.close()
