"""The table: prices of products in Redis, which somebody changes while they are read."""

import asyncio
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import redis
import redis.asyncio

from asyncwait.backends.lookup import RedisTable

PRODUCTS = 2_000
DISTANCE = 0.002
"""Seconds to the Redis and back, as it is in another rack; on a socket there would be none."""


class Change(NamedTuple):
    """A price that was set: of what, to what, and when it was so at the latest."""

    product: int
    price: int
    at: float


class Prices(RedisTable):
    """A table in Redis that is some distance away."""

    async def get_many(self, keys: Sequence[Any]) -> Any:
        """Take the way, and ask."""
        await asyncio.sleep(DISTANCE)
        return await super().get_many(keys)


@contextmanager
def server(command: str) -> Iterator[str]:
    """Start a Redis, on a socket that nobody else knows; give its address."""
    with tempfile.TemporaryDirectory(prefix="orders-") as folder:
        socket = Path(folder) / "socket"
        options = ["--port", "0", "--unixsocket", str(socket), "--save", "", "--dir", folder]
        started = subprocess.Popen([command, *options], stdout=subprocess.DEVNULL)
        try:
            while not socket.exists():
                if started.poll() is not None:
                    raise RuntimeError(f"redis-server has ended with {started.returncode}")
                time.sleep(0.01)  # nothing tells when a server listens
            yield f"unix://{socket}"
        finally:
            started.kill()
            started.wait()


async def filled(url: str) -> list[Change]:
    """Set the price of each product to 100."""
    async with redis.asyncio.Redis.from_url(url) as client:
        await client.mset({f"price:{product}": 100 for product in range(PRODUCTS)})
    return [Change(product, 100, time.monotonic()) for product in range(PRODUCTS)]


async def change_on(url: str, changes: list[Change], seed: int, over: asyncio.Event) -> None:
    """Raise the price of some product every few milliseconds until it is over; write down when."""
    chance = Random(seed)
    price = {change.product: change.price for change in changes}
    async with redis.asyncio.Redis.from_url(url) as client:
        while not over.is_set():
            product = chance.randrange(PRODUCTS) // chance.randrange(1, 100)
            price[product] += 1
            await client.set(f"price:{product}", price[product])
            changes.append(Change(product, price[product], time.monotonic()))
            await asyncio.sleep(0.005)
