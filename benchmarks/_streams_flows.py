"""Streams that are measured: how long events take, what rows cost, and what is left in the end."""

import asyncio
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
from _streams_job import LANES
from _streams_kills import processes
from _streams_sink import Arrived
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.streaming import StreamingQuery

from asyncwait.backends.spark import Carry, ordered_wait, unordered_wait
from asyncwait.backends.spark.frame._task import micro_batch

RATE, WARM, LASTS = 20, 3, 20
"""Events a second, micro-batches before any is measured, and for how many seconds they are."""

SHORT, LONG, OFTEN = 0.05, 5.0, 100
"""Seconds that a call takes, and one in so many."""

BATCH, FIRST, BATCHES = 20_000, 3, 8
"""Rows of a micro-batch, how many batches go before, and how many count."""

Flow = Callable[[DataFrame], DataFrame]


async def tailed(row: Any) -> tuple[int]:
    await asyncio.sleep(LONG if row.id % OFTEN == 0 else SHORT)
    return (row.id,)


async def at_once(row: Any) -> tuple[int]:
    return (row.id,)


def waits(kind: Any, fn: Any, *, carried: bool) -> Flow:
    options = {"carry": Carry(order_by="id")} if carried else {}
    return lambda df: kind(df, fn, "answer long", **options)


def shuffled(df: DataFrame) -> DataFrame:
    """Bring rows to lanes, and do nothing there."""
    lane = sql.element_at(sql.array(*map(sql.lit, _lanes(df.sparkSession))), _lane_of("id"))
    schema = "id long, payload string"
    moved = df.withColumn("lane", lane).repartition(LANES, "lane").select("id", "payload")
    return moved.mapInArrow(_same, schema)


def _lane_of(name: str) -> Any:
    return (sql.pmod(sql.hash(name), sql.lit(LANES)) + 1).cast("int")


def _lanes(session: SparkSession) -> list[int]:
    """Return numbers of which each falls into a partition of its own."""
    part = sql.pmod(sql.hash("id"), sql.lit(LANES))
    found = session.range(64).groupBy(part.alias("part")).agg(sql.min("id").alias("id"))
    return [row.id for row in found.orderBy("part").collect()]


def _same(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


LATENCIES: dict[str, Flow] = {
    f"{name}, {'carry' if carried else 'drained'}": waits(kind, tailed, carried=carried)
    for name, kind in (("unordered", unordered_wait), ("ordered", ordered_wait))
    for carried in (False, True)
}

COSTS: dict[str, Flow] = {
    "shuffle, no function": shuffled,
    "drained": waits(ordered_wait, at_once, carried=False),
    "carry": waits(ordered_wait, at_once, carried=True),
}


@contextmanager
def running(out: DataFrame, sink: str = "noop") -> Iterator[tuple[StreamingQuery, Path]]:
    folder = Path(tempfile.mkdtemp(prefix="stream-"))
    writer = out.writeStream.format(sink).option("path", str(folder / "out"))
    query = writer.option("checkpointLocation", str(folder / "checkpoint")).start()
    try:
        yield query, folder / "out"
    finally:
        query.stop()
        shutil.rmtree(folder, ignore_errors=True)


def latencies(session: SparkSession, flow: Flow) -> tuple[list[float], list[int]]:
    """Return how many seconds, and how many micro-batches, short calls' events were under way."""
    source = session.readStream.format("rate").option("rowsPerSecond", RATE).load()
    events = source.select(
        sql.col("value").alias("id"), sql.col("timestamp").cast("double").alias("began")
    ).mapInArrow(_stamped, "id long, began double, came long")
    wanted: set[int] = set()
    with running(flow(events), "manifests") as (query, folder):
        arrived = Arrived("manifests", folder)
        while query.isActive and not (wanted and wanted <= {row["id"] for row in arrived.rows()}):
            time.sleep(0.5)
            arrived.look()
            if not wanted and sum(map(bool, arrived.batches.values())) >= WARM:
                row = arrived.rows()[0]
                first = row["id"] + int(RATE * (time.time() - row["began"]))
                wanted = {each for each in range(first, first + LASTS * RATE) if each % OFTEN}
        if (error := query.exception()) is not None:
            raise error
    found = [
        (arrived.at[number] - row["began"], number - row["came"])
        for number, rows in arrived.batches.items()
        for row in rows
        if row["id"] in wanted
    ]
    return [seconds for seconds, _ in found], [batches for _, batches in found]


def _stamped(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        came = int(micro_batch().rpartition(" ")[2])
        yield batch.append_column("came", pa.array([came] * len(batch), pa.int64()))


def seconds(session: SparkSession, flow: Flow) -> tuple[float, float]:
    """Return how long a micro-batch takes, by the median, and how much of processors."""
    source = session.readStream.format("rate-micro-batch").option("rowsPerBatch", BATCH)
    rows = source.option("numPartitions", LANES).load()
    given = rows.select(sql.col("value").alias("id"), sql.lit("x" * 100).alias("payload"))
    took: dict[int, int] = {}
    first = began = 0.0
    with running(flow(given)) as (query, _):
        while query.isActive and len(took) < BATCHES + FIRST:
            time.sleep(0.05)
            for each in query.recentProgress:
                if each["numInputRows"] == BATCH:
                    took[each["batchId"]] = each["durationMs"]["addBatch"]
            if not first and len(took) >= FIRST:
                first, began = len(took), _processor()
        if (error := query.exception()) is not None:
            raise error
        used = (_processor() - began) / (len(took) - first)
    return statistics.median([took[each] for each in sorted(took)][FIRST:]) / 1_000, used


def _processor() -> float:
    """Return how many seconds of processors Spark, its workers and hosts have used."""
    ticks = 0
    for pid, _ in processes(Path(tempfile.gettempdir())):
        with suppress(OSError):
            told = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(told[11]) + int(told[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def hosts() -> tuple[int, int, int]:
    """Return how many call hosts of this run there are, their sockets, and files in all."""
    folder = Path(tempfile.gettempdir())
    files = [each for each in (folder / f"asyncwait-{os.getuid()}").rglob("*") if not each.is_dir()]
    running = sum(part == "host" for _, part in processes(folder))
    return running, sum(each.is_socket() for each in files), len(files)
