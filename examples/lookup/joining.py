"""A run: orders come in, each is joined with the price of its product, and what that came to."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from random import Random
from statistics import median, quantiles
from typing import Any, NamedTuple

from prices import PRODUCTS, Change, Prices, change_on, filled

from asyncwait.backends.lookup import LookupStatistics, lookup
from asyncwait.spec import Batch, Cache

TTL = 0.5
"""Seconds for which a price that was read is good."""

WAYS: Mapping[str, dict[str, Any]] = {
    "neither": {},
    "cache": {"cache": Cache(PRODUCTS, TTL)},
    "batch": {"batch": Batch(max_size=500, max_wait=0.005)},
    "cache and batch": {
        "cache": Cache(PRODUCTS, TTL),
        "batch": Batch(max_size=500, max_wait=0.005),
    },
}
"""Options of `lookup`, by what they are called."""

BIN = 0.1
"""Seconds that are one point of the picture."""


class Plan(NamedTuple):
    """How many orders come, how many a second, and the seed that they are drawn from."""

    orders: int
    rate: int
    seed: int


class Order(NamedTuple):
    """What was ordered, and when."""

    number: int
    product: int
    at: float


class Joined(NamedTuple):
    """An order with the price that it was given, when that was, and the figures of then."""

    order: Order
    price: int
    at: float
    so_far: LookupStatistics


@dataclass
class Run:
    """What one run came to.

    Args:
        name: one of `WAYS`.
        changes: of prices.
        joined: the orders, as they came out.
    """

    name: str
    changes: list[Change]
    joined: list[Joined] = field(default_factory=list)

    def figures(self) -> tuple[float, ...]:
        """Return them in the order of `FIGURES`."""
        last = self.joined[-1].so_far
        latencies = [(each.at - each.order.at) * 1_000 for each in self.joined]
        seconds = self.joined[-1].at - self.joined[0].order.at
        highest = quantiles(latencies, n=100)[98]
        rate = last.requests / seconds
        return last.hits / last.rows, median(latencies), highest, rate, last.mean_batch

    def moments(self) -> list[tuple[float, float, float, float]]:
        """Return what is drawn, bin by bin: second, hit rate, latency in ms, requests a second."""
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
        """Name the orders with a price that was no longer good when they came.

        A price may be as old as the cache allows, and was read by a request that began before the
        order came, if another has asked for the product just before.
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
    """Give orders at their rate, mostly of a few products."""
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
