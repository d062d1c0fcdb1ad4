"""DataFrames enriched by a call for each row: by hand, as people do it, and by `ordered_wait`."""

import asyncio
import atexit
import random
import shutil
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import pyarrow as pa
from pyspark.sql import DataFrame, Row, SparkSession

from asyncwait.backends.journal import Journal
from asyncwait.backends.spark import ordered_wait, unordered_wait

CAPACITY = 100
PARTITIONS = 2
SCHEMA = pa.schema([("id", pa.int64()), ("payload", pa.string()), ("answer", pa.int64())])
DDL = "id long, payload string, answer long"
Batches = Iterator[pa.RecordBatch]
Fetch = Callable[[Any], Any]


def rows(session: SparkSession, count: int, payload: int = 100) -> DataFrame:
    df = session.range(0, count, 1, PARTITIONS)
    return df.selectExpr("id", f"repeat('x', {payload}) AS payload")


def slow(seconds: float) -> Fetch:
    async def fetch(row: Any) -> tuple[int]:
        await asyncio.sleep(seconds)
        return (row.id,)

    return fetch


def tailed(seconds: float, often: float = 0.01, factor: int = 20) -> Fetch:
    """Return a call of which one in a hundred takes twenty times as long, always the same ones."""

    async def fetch(row: Any) -> tuple[int]:
        late = random.Random(row.id).random() < often
        await asyncio.sleep(seconds * (factor if late else 1))
        return (row.id,)

    return fetch


async def at_once(row: Any) -> tuple[int]:
    return (row.id,)


def _rows_of(batch: pa.RecordBatch) -> list[Row]:
    make = Row("id", "payload")
    return list(map(make, batch.column("id").to_pylist(), batch.column("payload").to_pylist()))


def _batch_of(done: list[tuple[Row, tuple[int]]]) -> pa.RecordBatch:
    columns = [
        pa.array([row.id for row, _ in done], pa.int64()),
        pa.array([row.payload for row, _ in done], pa.string()),
        pa.array([answer[0] for _, answer in done], pa.int64()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


# By hand, the best that `mapInArrow` has seen.


def no_function(batches: Batches) -> Batches:
    """Convert each row to Python and back, and call nothing."""
    for batch in batches:
        given = _rows_of(batch)
        for start in range(0, len(given), 500):
            yield _batch_of([(row, (row.id,)) for row in given[start : start + 500]])


def windowed(fetch: Fetch, hold: int) -> Callable[[Batches], Batches]:
    """Keep a window of tasks over the whole partition: so many calls run, so many rows wait."""

    def run(batches: Batches) -> Batches:
        given = (row for batch in batches for row in _rows_of(batch))
        return map(_batch_of, _window(given, fetch, hold))

    return run


def _window(given: Iterator[Any], fetch: Fetch, hold: int) -> Iterator[list[tuple[Any, Any]]]:
    """Yield what was given, in order, with what its calls return, up to 500 at a time."""
    loop = asyncio.new_event_loop()
    window: deque[tuple[Any, asyncio.Task[Any]]] = deque()
    running, room = 0, asyncio.Event()

    def ended(_: Any) -> None:
        nonlocal running
        running -= 1
        room.set()

    async def fill() -> list[tuple[Any, Any]]:
        nonlocal running
        while True:
            while running < CAPACITY and len(window) < hold:
                value = next(given, room)
                if value is room:
                    break
                task = loop.create_task(fetch(value))
                task.add_done_callback(ended)
                window.append((value, task))
                running += 1
            done = []
            while window and window[0][1].done() and len(done) < 500:
                value, task = window.popleft()
                done.append((value, task.result()))
            if done or not window:
                return done
            room.clear()
            await room.wait()

    while done := loop.run_until_complete(fill()):
        yield done


def first_seen(batches: Batches) -> Batches:
    """Tell when the first row of a partition comes, by the wall's clock."""
    for number, _ in enumerate(batches):
        if number == 0:
            yield pa.RecordBatch.from_arrays([pa.array([time.time()])], names=["at"])


def by_hand(run: Callable[[Batches], Batches]) -> Callable[[DataFrame], DataFrame]:
    return lambda df: df.mapInArrow(run, DDL)


def ordered(fetch: Fetch, **options: Any) -> Callable[[DataFrame], DataFrame]:
    return lambda df: ordered_wait(df, fetch, "answer long", **options)


def kept(fetch: Fetch) -> Callable[[DataFrame], DataFrame]:
    def enrich(df: DataFrame) -> DataFrame:
        folder = tempfile.mkdtemp(prefix="asyncwait-journal-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        journal = Journal(folder, "benchmark", "1")
        return ordered_wait(df, fetch, "answer long", columns=["id"], journal=journal)

    return enrich


def unordered(fetch: Fetch, **options: Any) -> Callable[[DataFrame], DataFrame]:
    return lambda df: unordered_wait(df, fetch, "answer long", **options)


class Weighed:
    """Calls that return at once, and a file that tells how much memory their worker had at most.

    Args:
        folder: where such files are; every task adds one.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def open(self) -> None:
        """Forget what the worker, which may be an old one, needed before."""
        Path("/proc/self/clear_refs").write_text("5")

    async def __call__(self, row: Any) -> tuple[int]:
        return (row.id,)

    def close(self) -> None:
        """Tell the most kilobytes that were resident since."""
        lines = Path("/proc/self/status").read_text().splitlines()
        most = next(line.split()[1] for line in lines if line.startswith("VmHWM"))
        Path(self._folder, uuid4().hex).write_text(most)


class Flow(NamedTuple):
    """What is measured.

    Args:
        enrich: makes a DataFrame of one of rows.
        count: of rows.
        payload: bytes beside each.
    """

    enrich: Callable[[DataFrame], DataFrame]
    count: int
    payload: int = 100


FAST, MANY, FEW = 100_000, 100_000, 40_000

FLOWS: dict[str, Flow] = {
    "no function": Flow(by_hand(no_function), FAST),
    "window, 0 ms": Flow(by_hand(windowed(at_once, 400)), FAST),
    "ordered, 0 ms": Flow(ordered(at_once), FAST),
    "window, 5 ms": Flow(by_hand(windowed(slow(0.005), 400)), MANY),
    "ordered, 5 ms": Flow(ordered(slow(0.005)), MANY),
    "unordered, 5 ms": Flow(unordered(slow(0.005)), MANY),
    "ordered, 5 ms, journal": Flow(kept(slow(0.005)), MANY),
    "ordered, 5 ms, 1 kB": Flow(ordered(slow(0.005)), MANY, 1000),
    "window, tail": Flow(by_hand(windowed(tailed(0.02), 400)), FEW),
    "wide window, tail": Flow(by_hand(windowed(tailed(0.02), 4000)), FEW),
    "ordered, tail": Flow(ordered(tailed(0.02)), FEW),
}
