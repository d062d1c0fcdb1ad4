"""A run: orders are joined with prices in Redis, which change meanwhile, and its figures."""

import asyncio
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from random import Random
from statistics import median, quantiles
from typing import Any, NamedTuple

import redis
import redis.asyncio

from asyncwait.backends.lookup import LookupStatistics, RedisTable, lookup
from asyncwait.spec import Batch, Cache

PRODUCTS = 2_000
DISTANCE = 0.002
"""Seconds to the Redis and back, as in another rack; on a socket there would be none."""


class Change(NamedTuple):
    """A new price of a product, and the moment at which it was set at the latest."""

    product: int
    price: int
    at: float


class Prices(RedisTable):
    """A table in Redis that is some distance away."""

    async def get_many(self, keys: Sequence[Any]) -> Any:
        """Wait for the distance, and look up."""
        await asyncio.sleep(DISTANCE)
        return await super().get_many(keys)


@contextmanager
def server(command: str) -> Iterator[str]:
    """Start a Redis on a private socket; yield its address."""
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
    """Raise the price of a product every few milliseconds; note each change."""
    chance = Random(seed)
    price = {change.product: change.price for change in changes}
    async with redis.asyncio.Redis.from_url(url) as client:
        while not over.is_set():
            product = chance.randrange(PRODUCTS) // chance.randrange(1, 100)
            price[product] += 1
            await client.set(f"price:{product}", price[product])
            changes.append(Change(product, price[product], time.monotonic()))
            await asyncio.sleep(0.005)


TTL = 0.5
"""Seconds for which a price stays in the cache."""

WAYS: Mapping[str, dict[str, Any]] = {
    "neither": {},
    "cache": {"cache": Cache(PRODUCTS, TTL)},
    "batch": {"batch": Batch(max_size=500, max_wait=0.005)},
    "cache and batch": {
        "cache": Cache(PRODUCTS, TTL),
        "batch": Batch(max_size=500, max_wait=0.005),
    },
}
"""Options of `lookup`, by name."""

BIN = 0.1
"""Seconds of one point of the picture."""


class Plan(NamedTuple):
    """Number of orders, their rate a second, and the seed that draws them."""

    orders: int
    rate: int
    seed: int


class Order(NamedTuple):
    """An order of a product, and its moment."""

    number: int
    product: int
    at: float


class Joined(NamedTuple):
    """An order with its price, the moment of the join, and the figures then."""

    order: Order
    price: int
    at: float
    so_far: LookupStatistics


@dataclass
class Run:
    """A run in one of the `WAYS`, with its changes of prices and the joined orders."""

    name: str
    changes: list[Change]
    joined: list[Joined] = field(default_factory=list)

    def figures(self) -> tuple[float, ...]:
        """Return the figures in the order of `FIGURES`."""
        last = self.joined[-1].so_far
        latencies = [(each.at - each.order.at) * 1_000 for each in self.joined]
        seconds = self.joined[-1].at - self.joined[0].order.at
        highest = quantiles(latencies, n=100)[98]
        rate = last.requests / seconds
        return last.hits / last.rows, median(latencies), highest, rate, last.mean_batch

    def moments(self) -> list[tuple[float, float, float, float]]:
        """Return for each bin: second, hit rate, latency in ms, requests a second."""
        begun, made = self.joined[0].at, list[tuple[float, float, float, float]]()
        before = LookupStatistics()
        for number, group in groupby(self.joined, lambda each: int((each.at - begun) / BIN)):
            orders = list(group)
            now = orders[-1].so_far
            rows = max(1, now.rows - before.rows)
            latency = median((each.at - each.order.at) * 1_000 for each in orders)
            requests = (now.requests - before.requests) / BIN
            made.append((number * BIN, (now.hits - before.hits) / rows, latency, requests))
            before = now
        return made

    def too_old(self) -> list[str]:
        """Return the orders with a price that was too old when they came, in words.

        A price may be as old as the cache allows, and was read by a request that began before the
        order came, if another order needed the product just before.
        """
        replaced = {(each.product, each.price - 1): each.at for each in self.changes}
        longest = max(each.at - each.order.at for each in self.joined)
        oldest = longest + (TTL if "cache" in WAYS[self.name] else 0)
        return [
            f"{self.name}: order {each.order.number} has a price that was replaced long before"
            for each in self.joined
            if replaced.get((each.order.product, each.price), each.at) < each.order.at - oldest
        ]


async def orders(plan: Plan) -> AsyncIterator[Order]:
    """Yield orders at their rate, mostly of a few products."""
    chance, begun = Random(plan.seed), time.monotonic()
    for number in range(plan.orders):
        wait = begun + number / plan.rate - time.monotonic()
        if wait > 0:
            await asyncio.sleep(wait)
        product = chance.randrange(PRODUCTS) // chance.randrange(1, 100)
        yield Order(number, product, time.monotonic())


async def joined(name: str, plan: Plan, url: str) -> Run:
    """Join all orders in one of the `WAYS`, while prices change."""
    run = Run(name, await filled(url))
    over = asyncio.Event()
    changing = asyncio.create_task(change_on(url, run.changes, plan.seed, over))
    table = Prices(url, prefix="price:")
    async with lookup(orders(plan), table, key=lambda each: each.product, **WAYS[name]) as results:
        async for order, (price,) in results:
            now = time.monotonic()
            run.joined.append(Joined(order, int(price), now, results.statistics()))
    over.set()
    await changing
    return run
