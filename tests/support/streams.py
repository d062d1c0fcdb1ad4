"""Streams of a real Spark: what they need of a session, a source, and a way to wait for them."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql.streaming import DataStreamWriter, StreamingQuery

from asyncwait.backends.spark import EmbeddedSpark

WITHIN = 250.0
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


@contextmanager
def two_lanes(spark: EmbeddedSpark) -> Iterator[EmbeddedSpark]:
    """Have a session run streams with two lanes."""
    conf = spark.session.conf
    before = {name: conf.get(name) for name in (PROVIDER, "spark.sql.shuffle.partitions")}
    conf.set(PROVIDER, ROCKSDB)
    conf.set("spark.sql.shuffle.partitions", "2")
    yield spark
    for name, value in before.items():
        conf.set(name, str(value))


class Started:
    """A stream that is started again whenever its own worker is late for Spark: that waits 10 s.

    Args:
        writer: of the stream.
    """

    def __init__(self, writer: DataStreamWriter) -> None:
        self._writer = writer
        self._query = writer.start()

    def exception(self) -> Any:
        """Return what has ended it."""
        error = self._query.exception()
        if error is None or "worker failed to connect back" not in str(error):
            return error
        self._query = self._writer.start()
        return None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._query, name)


def until(holds: Callable[[], bool], query: StreamingQuery | Started) -> None:
    """Wait until something holds that a stream brings about."""
    over = time.monotonic() + WITHIN
    while not holds():
        assert query.exception() is None, query.exception()
        assert time.monotonic() < over
        time.sleep(0.1)  # A query of Spark rings no bell.


def feed(folder: Path, number: int, ids: range) -> None:
    """Bring a file of rows, whole."""
    fresh = folder / f".{number}"
    fresh.write_text("\n".join(json.dumps({"id": each}) for each in ids))
    fresh.rename(folder / f"{number}.json")
