"""Streams of calls, each driven in its own way: floors, peers and the pool.

A flow takes a number of records and runs them all; `FLOWS` says on which loop, how many, and which
clock counts. Peers run as their documentation shows.
"""

import asyncio
import random
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from functools import cache
from heapq import heappop, heappush
from typing import Any, Literal, NamedTuple

import aiostream
import trio

from asyncwait.backends.pool import key_ordered_wait, open_operator, ordered_wait, unordered_wait
from asyncwait.backends.threads import unordered_wait as in_threads
from asyncwait.spec import Barrier, Cache, Element, OperatorConfig, Record, Retry, Watermark

CAPACITY = 100
"""Calls at a time, where a flow has no other."""

SHORT = 0.001
"""Seconds that a slow call takes."""

Fn = Callable[[Any], Awaitable[Any]]

_variable: ContextVar[Any] = ContextVar("_variable")


async def at_once(value: Any) -> Any:
    """W0: return without a wait."""
    return value


async def sets_a_variable(value: Any) -> Any:
    """W0, in a context of its own: the next call must not see what this one sets."""
    _variable.set(value)
    return value


async def one_turn(value: Any) -> Any:
    """W1: let the loop turn once."""
    await asyncio.sleep(0)
    return value


async def trio_turn(value: Any) -> Any:
    await trio.lowlevel.checkpoint()
    return value


async def slow(value: Any) -> Any:
    """W2: take a millisecond."""
    await asyncio.sleep(SHORT)
    return value


BLOCKED = 0.005
"""Seconds that a call in a thread takes."""


def returns_at_once(value: Any) -> Any:
    return value


def blocks(value: Any) -> Any:
    time.sleep(BLOCKED)
    return value


@cache
def hot(count: int) -> list[int]:
    return [number % 100 for number in range(count)]


@cache
def zipf(count: int, keys: int = 10_000) -> list[int]:
    """Give numbers of which the n-th is there once where the first is there n times."""
    weights = [1 / (number + 1) for number in range(keys)]
    return random.Random(1).choices(range(keys), weights, k=count)  # the same in every run


def tail(count: int, often: float = 0.01, factor: int = 50) -> list[float]:
    """W3: seconds that calls take, of which one in a hundred takes fifty times as long."""
    chance = random.Random(1)  # the same in every run
    return [SHORT * (factor if chance.random() < often else 1) for _ in range(count)]


def in_order(latencies: Sequence[float], capacity: int, held: int) -> float:
    """Return in how many seconds ordered output is through that costs nothing but its calls.

    Args:
        latencies: seconds that each call takes, in input order.
        capacity: calls at a time.
        held: finished records that may wait for their turn without taking a slot.
    """
    running: list[tuple[float, int]] = []
    """Ends of calls, and their places in the input."""
    finished: set[int] = set()
    following, first, now = deque(enumerate(latencies)), 0, 0.0
    while first < len(latencies):
        while following and len(running) + max(0, len(finished) - held) < capacity:
            place, seconds = following.popleft()
            heappush(running, (now + seconds, place))
        now, place = heappop(running)
        finished.add(place)
        while first in finished:
            finished.remove(first)
            first += 1
    return now


async def as_long(seconds: float) -> float:
    await asyncio.sleep(seconds)
    return seconds


async def values(count: int) -> AsyncIterator[int]:
    for value in range(count):
        yield value


# Floors.


async def generator(count: int, fn: Fn) -> None:
    """One call after the other in an async generator: a stream, and nothing side by side."""

    async def results() -> AsyncIterator[Any]:
        async for value in values(count):
            yield await fn(value)

    async for _ in results():
        pass


async def workers(source: Iterable[Any], fn: Fn, capacity: int = CAPACITY) -> None:
    """As many tasks as the capacity share an iterator; nothing comes out."""
    iterator = iter(source)

    async def work() -> None:
        for value in iterator:
            await fn(value)

    await asyncio.gather(*(work() for _ in range(capacity)))


async def bare_threads(count: int) -> None:
    """As many threads as the capacity share an iterator and block; nothing comes out."""
    iterator, lock = iter(range(count)), threading.Lock()

    def work() -> None:
        while True:
            with lock:
                value = next(iterator, None)
            if value is None:
                return
            blocks(value)

    threads = [threading.Thread(target=work) for _ in range(CAPACITY)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


# Peers.


async def executor(count: int, fn: Callable[[Any], Any]) -> None:
    """Run `ThreadPoolExecutor.map`, which reads its whole source first."""
    with ThreadPoolExecutor(CAPACITY) as pool:
        for _ in pool.map(fn, range(count)):
            pass


async def window(count: int, fn: Fn, timeout: float | None = None) -> None:  # noqa: ASYNC109
    """Sixty lines that people write: a window of tasks, of which the oldest is awaited."""
    tasks: deque[asyncio.Task[Any]] = deque()

    async def call(value: int) -> Any:
        async with asyncio.timeout(timeout):
            return await fn(value)

    async for value in values(count):
        tasks.append(asyncio.create_task(call(value) if timeout else fn(value)))  # type: ignore[arg-type]
        if len(tasks) == CAPACITY:
            await tasks.popleft()
    while tasks:
        await tasks.popleft()


async def streams(count: int, fn: Fn, capacity: int = CAPACITY) -> None:
    mapped = aiostream.stream.map(values(count), fn, ordered=True, task_limit=capacity)  # type: ignore[arg-type]
    async with mapped.stream() as results:
        async for _ in results:
            pass


async def limiter(count: int, fn: Fn) -> None:
    """Start a task of a nursery for each record, with trio's limiter and a channel for results."""
    limit = trio.CapacityLimiter(CAPACITY)
    send, receive = trio.open_memory_channel[Any](CAPACITY)

    async def call(value: int) -> None:
        try:
            await send.send(await fn(value))
        finally:
            limit.release_on_behalf_of(value)

    async def start(nursery: trio.Nursery) -> None:
        async for value in values(count):
            await limit.acquire_on_behalf_of(value)
            nursery.start_soon(call, value)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(start, nursery)
        for _ in range(count):
            await receive.receive()


# The pool.


async def plain(source: Any, fn: Any, wait: Any = ordered_wait, **options: Any) -> None:
    async with wait(source, fn, **{"capacity": CAPACITY, **options}) as results:
        async for _ in results:
            pass


async def elements(source: AsyncIterator[Element], fn: Any, config: OperatorConfig) -> None:
    async with open_operator(config, fn, source) as results:
        async for _ in results:
            pass


async def stream(count: int, *between: Element, every: int = 100) -> AsyncIterator[Element]:
    """Give records, and some elements behind so many of them."""
    for number in range(count):
        yield Record(number, number)
        if number % every == every - 1:
            for element in between:
                yield element


async def listed(value: Any) -> list[Any]:
    return [value]


class Flow(NamedTuple):
    """What is measured.

    Args:
        run: takes the number of records.
        count: of records.
        clock: processor time, or the wall's where calls take time.
        loop: which runs it.
    """

    run: Callable[[int], Awaitable[None]]
    count: int = 50_000
    clock: Literal["processor", "wall"] = "processor"
    loop: Literal["asyncio", "uvloop", "trio"] = "asyncio"


ON: dict[str, Any] = {"timeout": 10.0}
NEVER = Retry(max_attempts=3)
BARE = OperatorConfig("ordered", CAPACITY)
EVERYTHING = OperatorConfig("ordered", CAPACITY, 10.0, NEVER)
FENCE, BARRIER = Watermark(0), Barrier(0)
CACHE = Cache(10_000, ttl=600)
BY_KEY = Cache(10_000, ttl=600, key=lambda value: value)
SLOW = 20_000

FLOWS: dict[str, Flow] = {
    "generator W0": Flow(lambda n: generator(n, at_once)),
    "workers W1": Flow(lambda n: workers(range(n), one_turn)),
    "workers W2": Flow(lambda n: workers(range(n), slow), SLOW, "wall"),
    "window W0, timeout": Flow(lambda n: window(n, at_once, 10), 10_000),
    "window W1, timeout": Flow(lambda n: window(n, one_turn, 10), 10_000),
    "aiostream W0": Flow(lambda n: streams(n, at_once), 2_000),
    "aiostream W1": Flow(lambda n: streams(n, one_turn), 2_000),
    "aiostream W2, 1000": Flow(lambda n: streams(n, slow, 1000), 2_000, "wall"),
    "limiter W0": Flow(lambda n: limiter(n, at_once), 5_000, loop="trio"),
    "limiter W1": Flow(lambda n: limiter(n, trio_turn), 5_000, loop="trio"),
    "pool W0, nothing": Flow(lambda n: plain(range(n), at_once)),
    "pool W0, unordered": Flow(lambda n: plain(range(n), at_once, unordered_wait)),
    "pool W0, async source": Flow(lambda n: plain(values(n), at_once)),
    "pool W0, timeout": Flow(lambda n: plain(values(n), at_once, **ON)),
    "pool W0, retry": Flow(lambda n: plain(values(n), at_once, retry=NEVER)),
    "pool W0, max_held": Flow(lambda n: plain(values(n), at_once, max_held=100)),
    "pool W0, keys": Flow(
        lambda n: plain(values(n), at_once, key_ordered_wait, key=lambda value: value % 1000)
    ),
    "pool W0, sets a variable": Flow(lambda n: plain(values(n), sets_a_variable)),
    "pool W0, bare elements": Flow(lambda n: elements(stream(n), listed, BARE)),
    "pool W0, watermarks": Flow(lambda n: elements(stream(n, FENCE), listed, BARE)),
    "pool W0, barriers": Flow(lambda n: elements(stream(n, BARRIER), listed, BARE)),
    "pool W0, elements": Flow(lambda n: elements(stream(n, FENCE, BARRIER), listed, EVERYTHING)),
    "pool, kept": Flow(lambda n: plain(hot(n), at_once, cache=CACHE)),
    "pool, kept by key": Flow(lambda n: plain(hot(n), at_once, cache=BY_KEY)),
    "pool, kept, on uvloop": Flow(lambda n: plain(hot(n), at_once, cache=CACHE), loop="uvloop"),
    "pool, kept, on trio": Flow(lambda n: plain(hot(n), at_once, cache=CACHE), loop="trio"),
    "pool, Zipf": Flow(lambda n: plain(zipf(n), at_once, cache=CACHE)),
    "pool W1": Flow(lambda n: plain(values(n), one_turn, **ON)),
    "pool W2": Flow(lambda n: plain(values(n), slow, unordered_wait, **ON), SLOW, "wall"),
    "pool W2, held": Flow(
        lambda n: plain(values(n), slow, unordered_wait, max_held=100, **ON), SLOW, "wall"
    ),
    "pool W2, 1000": Flow(lambda n: plain(values(n), slow, capacity=1000, **ON), SLOW, "wall"),
    "pool W3, held": Flow(lambda n: plain(tail(n), as_long, max_held=5_000), SLOW, "wall"),
    "bare threads, 5 ms": Flow(bare_threads, SLOW, "wall"),
    "executor W0": Flow(lambda n: executor(n, returns_at_once), SLOW, "wall"),
    "executor, 5 ms": Flow(lambda n: executor(n, blocks), SLOW, "wall"),
    "threads W0": Flow(lambda n: plain(range(n), returns_at_once, in_threads, **ON), SLOW, "wall"),
    "threads, 5 ms": Flow(lambda n: plain(range(n), blocks, in_threads, **ON), SLOW, "wall"),
    "workers W1 on uvloop": Flow(lambda n: workers(range(n), one_turn), loop="uvloop"),
    "pool W0 on uvloop": Flow(lambda n: plain(values(n), at_once, **ON), loop="uvloop"),
    "pool W1 on uvloop": Flow(lambda n: plain(values(n), one_turn, **ON), loop="uvloop"),
    "pool W0 on trio": Flow(lambda n: plain(values(n), at_once, **ON), loop="trio"),
    "pool W1 on trio": Flow(lambda n: plain(values(n), trio_turn, **ON), loop="trio"),
}
