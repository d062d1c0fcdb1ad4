"""Rows on their way to lanes, and results on their way out: several rows in one value."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import count, repeat
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from pyspark import TaskContext

from asyncwait.backends.spark.carry._records import (
    OutcomeCodec,
    RowCodec,
    key_bytes,
    packed,
    set_aside,
    unpacked_outcomes,
)
from asyncwait.backends.spark.frame._task import micro_batch, telling
from asyncwait.spec.carry import Row

PACKED = "lane long, rows binary"
"""The columns of packed rows."""

FIGURES = ("in_flight", "oldest", "calls", "retries", "errors", "waiting_for_permits")
"""The figures of a call host: rows whose calls have begun and are not finished; seconds since the
first call of the oldest row; calls, retries and failed rows since the host began; rows that wait
for a permit of a limit.
"""

VISITED = f"rows binary, figures struct<{', '.join(f'{name}: double' for name in FIGURES)}>"
"""The output columns of a visit: rows, if any, and the figures of its host, if known."""

TRIGGER = "spark.asyncwait.trigger"
"""The setting of a query that names a trigger which carried calls do not support."""

PARTITIONS = "spark.sql.shuffle.partitions"

_STATE_PARTITIONS = "spark.sql.streaming.internal.stateStore.partitions"
"""The number of state partitions; Spark 4.3 and later set other shuffles separately."""


def partitions_here() -> int:
    """Return the number of state partitions of the present task's query.

    The checkpoint keeps this number, whatever the session's setting when the query starts again.
    """
    context = TaskContext.get()
    assert context is not None
    given = context.getLocalProperty(_STATE_PARTITIONS) or context.getLocalProperty(PARTITIONS)
    return int(given or 200)


@cache
def lane_names(partitions: int, lanes: int | None) -> tuple[int, ...]:
    """Return the numbers of the lanes, each in a shuffle partition of its own.

    Spark's hash may put lanes 0 and 1 into one partition, so the number of a partition's lane is
    the first number that the hash puts there.

    Args:
        partitions: the number of state partitions.
        lanes: the number of lanes; None for one lane in each partition.
    """
    first: dict[int, int] = {}
    numbers = count()
    while len(first) < partitions:
        number = next(numbers)
        first.setdefault(_spark_hash(number) % partitions, number)
    return tuple(first[each] for each in range(partitions))[:lanes]


def _spark_hash(number: int) -> int:
    """Return Spark's `hash` of a long >= 0: Murmur3 with the seed 42."""
    mixed = 42
    for word in (number & _WORD, number >> 32):
        scrambled = _rotated(word * 0xCC9E2D51 & _WORD, 15) * 0x1B873593 & _WORD
        mixed = (_rotated(mixed ^ scrambled, 13) * 5 + 0xE6546B64) & _WORD
    mixed ^= 8
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        mixed = (mixed ^ mixed >> shift) * factor & _WORD
    return mixed - (mixed >> 31 << 32)


_WORD = 0xFFFFFFFF


def _rotated(word: int, by: int) -> int:
    return (word << by | word >> 32 - by) & _WORD


_first: dict[str, str] = {}
"""The first micro-batch at which this process was at work, by run."""


def is_first() -> bool:
    """Whether no earlier micro-batch of its run was at work in this process."""
    context = TaskContext.get()
    run = context and context.getLocalProperty("spark.jobGroup.id")
    batch = micro_batch()
    return _first.setdefault(run or "", batch) == batch


class Packing(Struct, frozen=True):
    """Packs the rows of a partition by their lanes, whose hash is in their last column.

    The first rows of a run are packed for every lane, some of which get none: so each lane is
    visited, and refuses an incompatible state, before a lane stores rows that another lane refuses.

    Args:
        lanes: the number of lanes; None for as many as state partitions.
        key: places of the columns that order rows, in key-ordered mode.
        names: not None if the columns of the batches have other names.
        time: place of the column of event times, if there is one.
    """

    travelling: pa.Schema
    lanes: int | None = None
    key: Sequence[int] = ()
    names: tuple[str, ...] | None = None
    time: int | None = None

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return telling(self._run(batches))

    def _run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        names = lane_names(partitions_here(), self.lanes)
        if is_first():
            yield _to_lanes(names, [packed(())] * len(names))
        for batch in batches:
            if batch.num_rows:
                yield self.packed(batch, names)
            set_aside()

    def packed(self, batch: pa.RecordBatch, names: Sequence[int]) -> pa.RecordBatch:
        """Return one row for each lane with rows; `names` has the names of all lanes."""
        codec = RowCodec(self.travelling)
        hashes, rows = batch.column(len(codec.columns)), batch.select(range(len(codec.columns)))
        lanes = pa.array([names[each % len(names)] for each in hashes.to_pylist()], pa.int64())
        found = pc.unique(lanes)
        parts = [self._packed(codec, rows.filter(pc.equal(lanes, name))) for name in found]
        return _to_lanes(found, parts)

    def _packed(self, codec: RowCodec, batch: pa.RecordBatch) -> bytes:
        keys: Iterable[bytes] = repeat(b"")
        times: Iterable[int | None] = repeat(None)
        if self.key:
            cells = zip(*(batch.column(place).to_pylist() for place in self.key), strict=True)
            keys = map(key_bytes, cells)
        if self.time is not None:
            times = _milliseconds(batch.column(self.time))
        return packed(map(Row, codec.encode(batch), keys, times))


def _to_lanes(names: Iterable[Any], parts: list[bytes]) -> pa.RecordBatch:
    arrays = [pa.array(names, pa.int64()), pa.array(parts, pa.binary())]
    return pa.RecordBatch.from_arrays(arrays, names=["lane", "rows"])


def _milliseconds(times: pa.Array) -> list[int | None]:
    counted = times.cast(pa.timestamp("us", times.type.tz)).cast(pa.int64())
    return [None if each is None else each // 1_000 for each in counted.to_pylist()]


class Unpacking(Struct, frozen=True):
    """Makes rows of the output of lanes."""

    outcomes: OutcomeCodec
    names: None = None

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return telling(self._run(batches))

    def _run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for value in batch.column(0).drop_null().to_pylist():
                yield from self.outcomes.batches(unpacked_outcomes(value))
            set_aside()
