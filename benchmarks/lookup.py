"""Cost of a row that is looked up, beside a request for each row and floors.

    python benchmarks/lookup.py [--runs 5]

Each round runs every flow once, so that other work of the machine hits all flows; the table shows
the median over the rounds, the least and the most processor time of this process, without Redis. A
`redis-server` has to be on PATH. Needs the extras `cache` and `redis`.
"""

import asyncio
import gc
import random
import sqlite3
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import redis
import redis.asyncio
from _page import machine, measured, parser, shown, spread
from anyio import to_thread
from rich.console import Console

from asyncwait.backends.lookup import (
    Full,
    FunctionTable,
    RedisTable,
    SqliteTable,
    lookup,
    open_table,
)
from asyncwait.backends.pool import ordered_wait
from asyncwait.spec import Batch, Cache

sys.path += [str(Path(__file__).resolve().parents[1] / "tests" / "support")]

from lookups import RedisServer

KEYS = 10_000
CACHE = Cache(KEYS, ttl=600)
_chance = random.Random(1)  # the same in every run
_weights = [1 / (n + 1) for n in range(KEYS)]


class Flow(NamedTuple):
    """A run that takes keys, a function that draws them, and their number."""

    run: Callable[[list[int]], Awaitable[None]]
    keys: Callable[[int], list[int]]
    count: int = 100_000


def uniform(count: int) -> list[int]:
    return _chance.choices(range(KEYS), k=count)


def zipf(count: int) -> list[int]:
    return _chance.choices(range(KEYS), weights=_weights, k=count)


def hot(count: int) -> list[int]:
    return [n % 1000 for n in range(count)]


async def streamed(keys: Iterable[int]) -> AsyncIterator[int]:
    for key in keys:
        yield key


async def drained(context: Any) -> None:
    async with context as results:
        async for _ in results:
            pass


async def memory(keys: Sequence[int]) -> dict[int, list[int]]:
    return {key: [key] for key in keys}


async def one(key: int) -> int:
    return key


async def peeked(keys: list[int]) -> None:
    async with open_table(FunctionTable(memory), cache=CACHE) as table:
        await table.get_many(range(1000))
        for key in keys:
            table.peek(key)


async def whole(keys: list[int]) -> None:

    class Whole(FunctionTable):
        async def load_all(self) -> AsyncIterator[tuple[int, int]]:
            for key in range(KEYS):
                yield key, key

    await drained(lookup(keys, Whole(memory), cache=Full()))


def flows_of(url: str, path: Path) -> dict[str, Flow]:

    async def row_wise(keys: list[int], capacity: int = 100) -> None:
        pool = redis.asyncio.BlockingConnectionPool.from_url(url, max_connections=10)
        async with redis.asyncio.Redis.from_pool(pool) as client:
            await drained(ordered_wait(keys, client.get, capacity=capacity))

    async def batched(keys: list[int]) -> None:
        async with redis.asyncio.Redis.from_url(url) as client:
            hundreds = Batch(max_size=100)
            await drained(ordered_wait(keys, client.mget, capacity=1_000, batch=hundreds))

    async def synchronous(keys: list[int]) -> None:
        with redis.Redis.from_url(url) as client:
            for key in keys:
                client.get(str(key))

    async def threads(keys: list[int]) -> None:
        connection = sqlite3.connect(path, check_same_thread=False)
        limiter = anyio.CapacityLimiter(1)

        def select(key: int) -> list[Any]:
            return connection.execute("SELECT town FROM users WHERE id = ?", [key]).fetchall()

        await drained(
            ordered_wait(keys, lambda key: to_thread.run_sync(select, key, limiter=limiter))
        )
        connection.close()

    def from_redis(keys: Any, **options: Any) -> Awaitable[None]:
        return drained(lookup(keys, RedisTable(url), **options))

    def from_sqlite(keys: Any, **options: Any) -> Awaitable[None]:
        table = SqliteTable(path, "users", key="id", columns=["town"])
        return drained(lookup(keys, table, **options))

    return {
        "no call: the pool alone": Flow(lambda keys: drained(ordered_wait(keys, one)), uniform),
        "kept: peek, no stream": Flow(peeked, hot),
        "kept: lookup": Flow(lambda k: drained(lookup(k, FunctionTable(memory), cache=CACHE)), hot),
        "kept: lookup, async source": Flow(
            lambda k: drained(lookup(streamed(k), FunctionTable(memory), cache=CACHE)), hot
        ),
        "kept: the whole table": Flow(whole, hot),
        "Redis: GET a row, synchronous": Flow(synchronous, zipf, 5_000),
        "Redis: GET a row in the pool": Flow(row_wise, zipf, 5_000),
        "Redis: GET a row in the pool, 1000": Flow(lambda k: row_wise(k, 1_000), uniform),
        "Redis: MGET a batch of 100 in the pool, 1000": Flow(batched, uniform),
        "Redis: lookup, nothing kept": Flow(from_redis, uniform),
        "Redis: lookup, Zipf": Flow(lambda k: from_redis(k, cache=CACHE), zipf),
        "Redis: lookup, Zipf, a tenth kept": Flow(
            lambda k: from_redis(k, cache=Cache(KEYS // 10, 600)), zipf
        ),
        "SQLite: SELECT a row in the pool": Flow(threads, zipf, 5_000),
        "SQLite: lookup, nothing kept": Flow(from_sqlite, uniform),
        "SQLite: lookup, Zipf": Flow(lambda k: from_sqlite(k, cache=CACHE), zipf),
    }


@contextmanager
def tables() -> Iterator[tuple[str, Path]]:
    """Start a Redis and fill it, and fill a file of SQLite; give where they are."""
    rows = [(key, f"town {key}") for key in range(KEYS)]
    with (
        tempfile.TemporaryDirectory(prefix="lookup-") as folder,
        closing(RedisServer()) as server,
        closing(sqlite3.connect(path := Path(folder) / "users.db")) as connection,
    ):
        server.client.mset({str(key): town for key, town in rows})
        connection.execute("CREATE TABLE users (id INTEGER PRIMARY KEY, town TEXT)")
        connection.executemany("INSERT INTO users VALUES (?, ?)", rows)
        connection.commit()
        yield server.url, path


def cost(flow: Flow) -> float:
    """Return microseconds a row; a short run goes before, for what is done once."""
    asyncio.run(flow.run(flow.keys(flow.count // 20)))
    keys = flow.keys(flow.count)
    gc.collect()
    began = time.process_time()
    asyncio.run(flow.run(keys))
    return (time.process_time() - began) / flow.count * 1e6


def main() -> None:
    arguments = parser(__doc__, runs=5, writes=False).parse_args()
    with tables() as (url, path):
        flows = flows_of(url, path)
        rounds = [measured(flows, cost, f"round {n + 1}") for n in range(arguments.runs)]
    Console().print(machine(), shown(("flow", "us a row", "from", "to"), spread(rounds)))


if __name__ == "__main__":
    main()
