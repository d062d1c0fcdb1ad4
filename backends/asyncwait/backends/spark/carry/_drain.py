"""The end of a carried stream; this module does not import PySpark, which comes with the writer."""

import json
import logging
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from asyncwait.backends.spark.carry._reading import (
    CheckpointUnreadable,
    LaneRead,
    last_of,
    operators_of,
    read_checkpoint,
)
from asyncwait.spec import InvalidConfig
from asyncwait.spec.snapshots import encode_snapshot
from asyncwait.spec.texts import shown

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming import DataStreamWriter

_LONGEST_REST = 5.0
"""Seconds between two micro-batches in which no lane is due."""

_log = logging.getLogger("asyncwait")
DRAINING: set[str] = set()
"""Checkpoints of draining streams, which Spark plays micro-batch by micro-batch."""


def drain(writer: "DataStreamWriter", checkpoint: str) -> int:
    """Finish the records in flight on a stopped stream, and read nothing new from its source.

    The micro-batches go to the sink of the writer; the last one leaves an empty state, so that the
    stream may start again with another function, schema or number of lanes. Each micro-batch waits
    until a lane is due, as in `Carry(pause=...)`.

    Args:
        writer: the writer of the stream, with its sink and its `checkpointLocation`, as for
            `start()`; its trigger is not used.
        checkpoint: the path of that checkpoint.

    Returns:
        The number of rows in flight, or finished and not yet out, at the beginning; if a
        micro-batch has begun and is not committed, behind that micro-batch.

    Raises:
        InvalidConfig: the stream still runs, or the writer has another checkpoint.
        CheckpointUnreadable: `checkpoint` is not the checkpoint of a carried stream.
        StreamingQueryException: a micro-batch has failed; a second `drain` goes on after it.
    """
    stopped = _Stopped(writer, checkpoint)
    stopped.settle()
    held = stopped.lanes()
    first = left = _count(held)
    rest = 0.0
    while left:
        _log.info("%s: %d rows are in flight, or not yet out", checkpoint, left)
        time.sleep(rest)  # Spark sends no event when a timer of a stopped stream is due.
        stopped.begin()
        stopped.play()
        before, held = held, stopped.lanes()
        is_due = [lane.stamp for lane in held] != [lane.stamp for lane in before]
        rest = 0.0 if is_due else min(rest * 2 or 0.1, _LONGEST_REST)
        left = _count(held)
    return first


def save(
    writer: "DataStreamWriter", checkpoint: str, file: str, operator: int | None = None
) -> int:
    """Write the records in flight on a stopped stream to a file, as a snapshot for any operator.

    A micro-batch that has begun and is not committed is finished first. A snapshot has no results:
    finished records that are not yet out are called again. In the end the call hosts of the stream
    on this machine end, with all calls: they would begin calls for rows that have moved.

    Args:
        writer: the writer of the stream, as for `drain`.
        checkpoint: the path of its checkpoint.
        file: path of the snapshot.
        operator: the number of the operator, if the query has several that carry calls.

    Returns:
        The number of records in the snapshot.

    Raises:
        InvalidConfig: the stream still runs, or the writer has another checkpoint.
        CheckpointUnreadable: `checkpoint` is not the checkpoint of a carried stream.
    """
    from asyncwait.backends.spark.carry._processor import end_all  # It imports PySpark.

    stopped = _Stopped(writer, checkpoint)
    stopped.settle()
    taken = read_checkpoint(stopped.session, checkpoint, operator=operator).snapshot()
    Path(file).write_bytes(encode_snapshot(taken))
    end_all(json.loads(stopped.read("metadata"))["id"])  # An error above costs no call.
    return len(taken.in_flight)


class _Stopped:
    """A stream that does not run, played micro-batch by micro-batch.

    Raises:
        InvalidConfig: the stream runs, its session is remote, or it has another checkpoint.
    """

    def __init__(self, writer: "DataStreamWriter", checkpoint: str) -> None:
        self.session = cast("SparkSession", writer._spark)  # noqa: SLF001 - which made its DataFrame
        self._writer = writer
        self._path = checkpoint
        if not hasattr(self.session, "_jsparkSession"):
            raise InvalidConfig("a remote session can't drain; use one in the driver's process")
        java: Any = self.session._jsparkSession  # noqa: SLF001
        self._at = self.session._jvm.org.apache.hadoop.fs.Path  # noqa: SLF001
        self._files = self._at(checkpoint).getFileSystem(java.sessionState().newHadoopConf())
        self._root = self._qualified(checkpoint)
        own = self._field("extraOptions").get(writer._jwrite).get("checkpointLocation")  # noqa: SLF001
        given = own.get() if own.isDefined() else None
        if given is None or self._qualified(given) != self._root:
            raise InvalidConfig(
                f"expected a writer with the checkpointLocation {shown(checkpoint)}, got "
                f"{shown(given)}; give the writer and the checkpoint of one stream"
            )
        for query in java.streams().active():
            if query.streamingQuery().resolvedCheckpointRoot() == self._root:
                raise InvalidConfig(f"the stream of {shown(checkpoint)} runs: stop it before")

    def _qualified(self, path: str) -> str:
        files = self._files
        at = self._at(path).makeQualified(files.getUri(), files.getWorkingDirectory())
        return str(at.toString())

    def lanes(self) -> list[LaneRead]:
        numbers = operators_of(self.session, self._path)
        if not numbers:
            raise CheckpointUnreadable(f"no operator of {shown(self._path)} carries calls")
        reads = (read_checkpoint(self.session, self._path, operator=each) for each in numbers)
        return [lane for each in reads for lane in each.lanes]

    def settle(self) -> None:
        """Play a micro-batch that has begun and is not committed."""
        begun, committed = (
            last_of(self.session, self._path, log) for log in ("offsets", "commits")
        )
        if begun > committed:
            self.play()

    def read(self, name: str) -> str:
        """Return the text of a file of the checkpoint."""
        found = self._files.open(self._at(self._at(self._path), name))
        try:
            return bytes(found.readAllBytes()).decode()
        finally:
            found.close()

    def begin(self) -> None:
        """Begin a micro-batch without rows: at the offsets of the last one."""
        last = last_of(self.session, self._path, "offsets")
        folder = self._at(self._at(self._path), "offsets")
        version, about, offsets = self.read(f"offsets/{last}").split("\n", 2)
        told = json.loads(about)
        if "batchTimestampMs" not in told:
            raise CheckpointUnreadable(f"{shown(self._path)} has no times of micro-batches")
        told["batchTimestampMs"] = max(told["batchTimestampMs"] + 1, time.time_ns() // 1_000_000)
        fresh, made = self._at(folder, f".{last + 1}.drain.tmp"), self._at(folder, str(last + 1))
        out = self._files.create(fresh, True)
        try:
            out.write(bytearray("\n".join((version, json.dumps(told), offsets)).encode()))
        finally:
            out.close()
        if not self._files.rename(fresh, made):
            raise CheckpointUnreadable(f"{shown(self._path)}: micro-batch {last + 1} exists")

    def play(self) -> None:
        with self._played_once():
            query = self._writer.start()
        query.awaitTermination()

    @contextmanager
    def _played_once(self) -> Generator[None]:
        """Set the writer's trigger to `once` while the stream starts; no task refuses it."""
        java: Any = self._writer._jwrite  # noqa: SLF001
        field = self._field("trigger")
        given = field.get(java)
        DRAINING.add(self._root)
        try:
            self._writer.trigger(once=True)
            yield
        finally:
            field.set(java, given)
            DRAINING.discard(self._root)

    def _field(self, name: str) -> Any:
        field = self._writer._jwrite.getClass().getDeclaredField(name)  # noqa: SLF001
        field.setAccessible(True)
        return field


def _count(held: list[LaneRead]) -> int:
    return sum(len(lane.in_flight) + len(lane.finished) for lane in held)
