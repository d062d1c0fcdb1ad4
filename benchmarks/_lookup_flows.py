"""DataFrames joined with a table in Redis: by hand, as people do it, and by `lookup_join`."""

import os
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import redis
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import udf

from asyncwait.backends.lookup import RedisTable
from asyncwait.backends.spark import lookup_join
from asyncwait.spec import Cache

PARTITIONS = 2
PAYLOAD = "x" * 20
COLUMNS = "key long, town string"
MANY, FEW, SOME = 1_000_000, 20_000, 1_000
_ttl = count(600)


class SparkFlow(NamedTuple):
    """A join of a DataFrame of keys, its rows, and the rows of a run before it."""

    join: Callable[[DataFrame], DataFrame]
    count: int = MANY
    before: int = SOME


def unchanged(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Be what it costs to have rows pass through Python."""
    return batches


def getting(url: str) -> Callable[[DataFrame], DataFrame]:
    """Return the join by a UDF that asks for each row."""
    clients: list[Any] = []

    @udf("string")
    def get(key: int) -> Any:
        if not clients:
            clients.append(redis.Redis.from_url(url, decode_responses=True))
        return clients[0].get(str(key))

    return lambda df: df.withColumn("town", get("key"))


def flows_of(url: str, towns: DataFrame) -> dict[str, SparkFlow]:
    table, kept = RedisTable(url), Cache(10_000, ttl=599)

    def cold(df: DataFrame) -> DataFrame:
        # Of another cache each time, so that nothing is kept of it yet.
        cache = Cache(10_000, ttl=next(_ttl))
        return lookup_join(df, table, on="key", columns=COLUMNS, cache=cache)

    def warm(df: DataFrame, where: str | None = None) -> DataFrame:
        return lookup_join(df, table, on="key", columns=COLUMNS, cache=kept, where=where)

    return {
        "rows through Python": SparkFlow(lambda df: df.mapInArrow(unchanged, df.schema)),
        "GET a row in a UDF": SparkFlow(getting(url), FEW),
        "lookup_join": SparkFlow(cold),
        "lookup_join, kept before": SparkFlow(warm, before=MANY),
        "lookup_join, a condition": SparkFlow(lambda df: warm(df, "t.town <> payload")),
        "join, loaded before": SparkFlow(lambda df: df.join(towns, "key", "left")),
    }


def frames_of(session: SparkSession, keys: Callable[[int], list[int]]) -> dict[int, DataFrame]:
    """Return DataFrames of so many rows, which are in memory already."""
    frames = {}
    for rows in (SOME, FEW, MANY):
        table = pa.table({"key": pa.array(keys(rows), pa.int64()), "payload": [PAYLOAD] * rows})
        frames[rows] = session.createDataFrame(table).cache()
        frames[rows].count()
    return frames


def took(flow: SparkFlow, frames: dict[int, DataFrame]) -> tuple[float, float]:
    """Return microseconds a row by the clock, and of processors, but for those of Redis."""
    for rows in (flow.before, flow.count):
        joined = flow.join(frames[rows])
        began, used = time.perf_counter(), _processors()
        joined.write.format("noop").mode("overwrite").save()
    ended = time.perf_counter()
    return (ended - began) / flow.count * 1e6, (_processors() - used) / flow.count * 1e6


def _processors() -> float:
    """Return seconds of all processes that this one has started, and they, but for Redis."""
    found = dict(filter(None, map(_process, Path("/proc").glob("[0-9]*/stat"))))
    below = {os.getpid()}
    while more := {pid for pid, (parent, *_) in found.items() if parent in below} - below:
        below |= more
    below.discard(os.getpid())
    seconds = [sec for _, name, sec in map(found.__getitem__, below) if "redis" not in name]
    return sum(seconds)


def _process(path: Path) -> tuple[int, tuple[int, str, float]] | None:
    """Return the number of a process; its parent, its name, and its seconds until now."""
    try:
        begin, _, rest = path.read_text().rpartition(")")
    except OSError:  # It has ended.
        return None
    pid, _, name = begin.partition(" (")
    fields = rest.split()
    ticks = sum(map(int, fields[11:15]))  # of children that have ended, too
    return int(pid), (int(fields[1]), name, ticks / os.sysconf("SC_CLK_TCK"))
