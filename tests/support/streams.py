"""Streams of a real Spark: what they need of a session, a source, and a way to wait for them."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from pyspark.sql.functions import col, concat, lit
from pyspark.sql.streaming import DataStreamWriter, StreamingQuery

from asyncwait.backends.spark import Carry, EmbeddedSpark, unordered_wait
from asyncwait.backends.spark.carry._reading import STATE
from asyncwait.backends.spark.conformance._streams import settings, sunk

WITHIN = 250.0


@contextmanager
def two_lanes(spark: EmbeddedSpark) -> Iterator[EmbeddedSpark]:
    with settings(spark.session):
        yield spark


class Started:
    """A stream that is started again whenever its own worker is late for Spark: that waits 10 s."""

    def __init__(self, writer: DataStreamWriter) -> None:
        self._writer = writer
        self._query = writer.start()

    def exception(self) -> Any:
        error = self._query.exception()
        if error is None or "worker failed to connect back" not in str(error):
            return error
        self._query = self._writer.start()
        return None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._query, name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._query.stop()


def until(holds: Callable[[], bool], query: StreamingQuery | Started) -> None:
    over = time.monotonic() + WITHIN
    while not holds():
        assert query.exception() is None, query.exception()
        assert time.monotonic() < over
        time.sleep(0.1)  # A query of Spark rings no bell.


def feed(folder: Path, number: int, ids: range) -> None:
    fresh = folder / f".{number}"
    fresh.write_text("\n".join(json.dumps({"id": each}) for each in ids))
    fresh.rename(folder / f"{number}.json")


SLOW = {3, 5}
"""Ids of rows that wait, of the streams below."""


class Stream:
    def __init__(self, spark: EmbeddedSpark, home: Path, restore: str | None = None) -> None:
        self.spark, self.home, self.goes = spark, home, home / "goes"
        self.source, self.out, self.kept = home / "in", home / "out", home / "kept"
        self.notes = home / "calls"
        for folder in (self.source, self.out):
            folder.mkdir(parents=True)
        self.carry = Carry(pause=0.2, budget=0.1, name="twice", restore=restore)

    def fn(self) -> Any:
        """Return a function that notes its calls; calls of slow rows wait for a file."""
        goes, notes = self.goes, self.notes

        async def fn(row: Any) -> dict[str, int]:
            with notes.open("a") as file:
                file.write(f"{row.id}\n")
            while row.id in SLOW and not goes.exists():
                await asyncio.sleep(0.05)
            return {"twice": 2 * row.id}

        return fn

    def calls(self) -> list[int]:
        notes = self.notes.read_text() if self.notes.exists() else ""
        return sorted(map(int, notes.split()))

    def start(self, interval: str = "100 milliseconds") -> Started:
        rows = self.spark.session.readStream.schema("id long").json(str(self.source))
        named = rows.withColumn("name", concat(lit("n"), col("id")))
        out = unordered_wait(named, self.fn(), "twice long", carry=self.carry)
        writer = out.writeStream.format("parquet").option("path", str(self.out))
        kept = writer.option("checkpointLocation", str(self.kept))
        return Started(kept.trigger(processingTime=interval))

    def found(self) -> list[tuple[int, str, int]]:
        rows = (row for table in sunk(self.out) for row in table.to_pylist())
        return sorted(tuple(row.values()) for row in rows)

    def run_until(self, count: int) -> None:
        with self.start() as query:
            until(lambda: len(self.found()) == count, query)
        with self.start("7 days") as query:
            until(lambda: self.begun() == self.committed() and bool(query.lastProgress), query)

    def begun(self) -> int:
        return max(int(each.name) for each in (self.kept / "offsets").glob("[0-9]*"))

    def committed(self) -> int:
        return max(int(each.name) for each in (self.kept / "commits").glob("[0-9]*"))


def states_of(spark: EmbeddedSpark, checkpoint: Path) -> Iterator[tuple[int, int, bytes]]:
    for batch in sorted(int(each.name) for each in (checkpoint / "commits").glob("[0-9]*")):
        reader = spark.session.read.format("statestore").option("stateVarName", STATE)
        for row in reader.option("batchId", batch).load(str(checkpoint)).collect():
            yield batch, row.key.lane, bytes(row.value.state)


async def score(row: Any) -> dict[str, float]:
    return {"score": row.id / 2}
