"""A stream that starts again with something changed; triggers, and the ends of a stream."""

import asyncio
import json
import os
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql.functions import window
from pyspark.sql.streaming import DataStreamWriter
from streams import Started, Stream, until

from asyncwait.backends.spark import (
    Carry,
    EmbeddedSpark,
    drain,
    key_ordered_wait,
    save,
    unordered_wait,
)
from asyncwait.backends.spark.carry._drain import _Stopped
from asyncwait.backends.spark.carry._reading import CheckpointUnreadable
from asyncwait.backends.spark.conformance._streams import sunk
from asyncwait.spec import InvalidConfig
from asyncwait.spec.snapshots import decode_snapshot

KEYS = 6
PARTITIONS = "spark.sql.shuffle.partitions"


class Orders(Stream):
    """A stream of orders, each of a key; the call of each key's first one waits for a file."""

    def __init__(self, spark: EmbeddedSpark, home: Path) -> None:
        super().__init__(spark, home)
        self.host = home / "host"
        self._files = 0

    def feed(self) -> None:
        """Bring one more order of each key."""
        rows = [{"id": self._files * KEYS + key, "k": key} for key in range(KEYS)]
        fresh = self.home / "fresh"
        fresh.write_text("\n".join(map(json.dumps, rows)))
        fresh.rename(self.source / f"{self._files}.json")
        self._files += 1

    def writer(self, schema: str = "id long, k long", **changed: Any) -> DataStreamWriter:
        notes, goes, factor = self.notes, self.goes, changed.pop("factor", 2)
        host = self.host

        async def fn(row: Any) -> dict[str, int]:
            host.write_text(str(os.getpid()))
            with notes.open("a") as file:
                file.write(f"{row.id}\n")
            while row.id < KEYS and not goes.exists():
                await asyncio.sleep(0.05)
            return {"made": factor * row.id}

        rows = self.spark.session.readStream.schema(schema).json(str(self.source))
        carry = {"order_by": "id", "pause": 0.2, "budget": 0.1, "lease": 600} | changed.pop(
            "carry", {}
        )
        given = {"key": "k", "timeout": 300, "capacity": 50, "carry": Carry(**carry)} | changed
        out = key_ordered_wait(rows, fn, "made long", **given)
        name = f"out{len(schema)}"
        writer = out.writeStream.format("parquet").option("path", str(self.home / name))
        kept = writer.option("checkpointLocation", str(self.kept))
        return kept.trigger(processingTime="100 milliseconds")

    def rows(self) -> list[dict[str, Any]]:
        tables = (table for out in self.home.glob("out*") for table in sunk(out))
        return [row for table in tables for row in table.to_pylist()]

    def run(self, until_calls: int, **changed: Any) -> None:
        """Run until so many calls have begun, and a micro-batch after that is over."""
        with Started(self.writer(**changed)) as query:
            until(lambda: len(self.calls()) >= until_calls, query)
            last = (query.lastProgress and query.lastProgress["batchId"]) or 0
            until(lambda: (query.lastProgress or {"batchId": -1})["batchId"] > last, query)

    def run_until_out(self, rows: int, **changed: Any) -> None:
        self.goes.touch()
        with Started(self.writer(**changed)) as query:
            until(lambda: len(self.rows()) == rows, query)

    def is_in_order(self) -> bool:
        keys = [[row["id"] for row in self.rows() if row["k"] == key] for key in range(KEYS)]
        return all(ids == sorted(ids) for ids in keys)


def until_ended(process: int) -> None:
    over = time.monotonic() + 60
    with suppress(FileNotFoundError):
        while "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text():
            assert time.monotonic() < over
            time.sleep(0.02)  # The end of another process rings no bell.


def refusal(writer: DataStreamWriter) -> str:
    """Return the error of a stream; one whose own worker is late for Spark starts again."""
    while True:
        with pytest.raises(StreamingQueryException) as raised:
            writer.start().awaitTermination(200)
        if "worker failed to connect back" not in str(raised.value):
            return str(raised.value)


@pytest.fixture
def orders(streams: EmbeddedSpark, tmp_path: Path) -> Orders:
    return Orders(streams, tmp_path)


REFUSED: dict[str, dict[str, Any]] = {
    "lanes=2": {"carry": {"version": "2", "lanes": 1}},
    "another fn": {"factor": 3},
}


@pytest.mark.timeout(700)
def test_a_refused_restart_changes_nothing_and_another_version_calls_again(orders: Orders) -> None:
    orders.feed()
    orders.run(KEYS)
    orders.feed()
    for text, changed in REFUSED.items():
        assert text in refusal(orders.writer(**changed))
    assert orders.calls() == [*range(KEYS)]
    orders.run_until_out(2 * KEYS, factor=3, carry={"version": "2"})

    assert orders.calls() == sorted([*range(2 * KEYS), *range(KEYS)])
    assert orders.is_in_order()
    assert {row["made"] / 3 for row in orders.rows()} == set(range(2 * KEYS))


@pytest.mark.timeout(700)
def test_what_changes_no_call_changes_no_order(orders: Orders) -> None:
    orders.feed()
    orders.run(KEYS)
    conf = orders.spark.session.conf
    conf.set("spark.sql.streaming.minBatchesToRetain", "3")
    conf.set(PARTITIONS, "4")
    orders.feed()
    orders.run(KEYS, carry={"lease": 90, "pause": 0.3, "budget": 0.0})
    assert orders.calls() == [*range(KEYS)]
    conf.set(PARTITIONS, "1")
    orders.feed()  # Without rows Spark may begin no micro-batch behind a complete one.
    orders.run_until_out(3 * KEYS)

    assert orders.calls() == [*range(3 * KEYS)]
    assert orders.is_in_order()


@pytest.mark.timeout(400)
def test_a_trigger_that_reaches_no_end_is_refused_by_name(orders: Orders) -> None:
    orders.feed()
    writer = orders.writer().trigger(availableNow=True)
    assert "trigger(availableNow=True)" in refusal(writer)
    assert orders.calls() == []


@pytest.mark.timeout(400)
def test_a_drained_stream_has_read_nothing_new_and_may_change(
    orders: Orders, tmp_path: Path
) -> None:
    orders.feed()
    orders.run(KEYS)
    orders.feed()
    host = int(orders.host.read_text())
    writer, kept = orders.writer(), str(orders.kept)
    assert save(writer, kept, str(tmp_path / "snapshot")) == KEYS
    until_ended(host)
    orders.goes.touch()
    _Stopped(writer, kept).begin()
    assert drain(writer, kept) <= KEYS  # The micro-batch that had begun may bring out some.
    assert drain(writer, f"file:{kept}/") == 0
    assert orders.calls() == sorted([*range(KEYS)] * 2)
    assert sorted(row["id"] for row in orders.rows()) == [*range(KEYS)]
    changed = {"schema": "id long, k long, new string", "factor": 3, "carry": {"lanes": 1}}
    orders.feed()
    with Started(orders.writer(**changed)) as query:
        until(lambda: len(orders.rows()) == 3 * KEYS, query)
        with pytest.raises(InvalidConfig, match="runs: stop it before"):
            drain(writer, kept)

    taken = decode_snapshot((tmp_path / "snapshot").read_bytes()).in_flight
    assert {each.key for each in taken} == set(range(KEYS))  # type: ignore[union-attr]
    assert orders.calls() == sorted([*range(KEYS), *range(3 * KEYS)])


def test_the_writer_of_another_checkpoint_is_refused(orders: Orders, tmp_path: Path) -> None:
    orders.feed()
    rows = orders.spark.session.readStream.schema("id long").json(str(orders.source))
    elsewhere = orders.writer().option("checkpointLocation", "hdfs://there/kept")
    writers = {str(orders.kept): orders.writer(), "hdfs:": elsewhere, "None": rows.writeStream}
    for got, writer in writers.items():
        for end in (drain, partial(save, file=str(tmp_path / "file"))):
            with pytest.raises(InvalidConfig, match=f"checkpointLocation '.*other', got .*{got}"):
                end(writer, str(tmp_path / "other"))

    assert (orders.calls(), orders.kept.exists()) == ([], False)


def test_a_checkpoint_whose_states_spark_cannot_read_is_refused(orders: Orders) -> None:
    writer = orders.writer()
    for odd in " []{}%#?":
        kept = orders.home / f"kept{odd}1"
        kept.mkdir()
        with pytest.raises(CheckpointUnreadable, match=r"^expected a path without spaces"):
            drain(writer.option("checkpointLocation", str(kept)), str(kept))
        assert [*kept.iterdir()] == []


def test_a_watermark_in_front_does_not_pass(streams: EmbeddedSpark, tmp_path: Path) -> None:
    async def fn(_row: Any) -> dict[str, int]:
        return {"made": 1}

    rows = streams.session.readStream.schema("id long, at timestamp").json(str(tmp_path))
    out = unordered_wait(rows.withWatermark("at", "5 seconds"), fn, "made long", carry=Carry())
    counted = out.groupBy(window("at", "10 seconds")).count()

    with pytest.raises(AnalysisException, match="without watermark"):
        counted.writeStream.format("noop").start()
