"""Rows on their way to lanes, and results on their way out: several rows in one value."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from asyncwait.backends.spark.carry._records import (
    OutcomeCodec,
    RowCodec,
    key_bytes,
    packed,
    set_aside,
    unpacked_outcomes,
)
from asyncwait.backends.spark.frame._task import telling
from asyncwait.spec.carry import Row

PACKED = "lane long, rows binary"
"""The columns of rows on their way."""

FIGURES = ("in_flight", "oldest", "calls", "retries", "errors", "waiting_for_permits")
"""The figures of a call host: rows whose calls have begun and are not finished; seconds since the
first call of the oldest row; calls, retries and failed rows since the host began; rows that wait
for a permit of a limit."""

VISITED = f"rows binary, figures struct<{', '.join(f'{name}: double' for name in FIGURES)}>"
"""The columns of what comes out of a visit: rows, if any, and the figures of its host, if known."""


class Packing(Struct, frozen=True):
    """Packs the rows of a partition by their lanes, whose number stands in their last column.

    Args:
        travelling: the columns before it.
        key: places of the columns that order rows, in key-ordered mode.
        names: not None where the columns of the batches have other names.
        time: place of the column of event times, if there is one.
    """

    travelling: pa.Schema
    key: Sequence[int] = ()
    names: tuple[str, ...] | None = None
    time: int | None = None

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Return one row for each lane in each batch."""
        return telling(self._run(batches))

    def _run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if batch.num_rows:
                yield self.packed(batch)
            set_aside()

    def packed(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return one row for each lane."""
        codec = RowCodec(self.travelling)
        lanes, rows = batch.column(len(codec.columns)), batch.select(range(len(codec.columns)))
        names = pc.unique(lanes)
        parts = [self._packed(codec, rows.filter(pc.equal(lanes, name))) for name in names]
        return pa.RecordBatch.from_arrays(
            [names, pa.array(parts, pa.binary())], names=["lane", "rows"]
        )

    def _packed(self, codec: RowCodec, batch: pa.RecordBatch) -> bytes:
        keys: Iterable[bytes] = repeat(b"")
        times: Iterable[int | None] = repeat(None)
        if self.key:
            cells = zip(*(batch.column(place).to_pylist() for place in self.key), strict=True)
            keys = map(key_bytes, cells)
        if self.time is not None:
            times = _milliseconds(batch.column(self.time))
        return packed(map(Row, codec.encode(batch), keys, times))


def _milliseconds(times: pa.Array) -> list[int | None]:
    counted = times.cast(pa.timestamp("us", times.type.tz)).cast(pa.int64())
    return [None if each is None else each // 1_000 for each in counted.to_pylist()]


class Unpacking(Struct, frozen=True):
    """Makes rows of what comes out of lanes.

    Args:
        outcomes: how they are packed.
    """

    outcomes: OutcomeCodec
    names: None = None

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Return the rows."""
        return telling(self._run(batches))

    def _run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for value in batch.column(0).drop_null().to_pylist():
                yield from self.outcomes.batches(unpacked_outcomes(value))
            set_aside()
