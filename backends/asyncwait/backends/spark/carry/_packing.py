"""Rows on their way to lanes, and results on their way out: several rows in one value."""

from collections.abc import Iterator, Sequence

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


class Packing(Struct, frozen=True):
    """Packs the rows of a partition by their lanes, whose number stands in their last column.

    Args:
        travelling: the columns before it.
        key: places of the columns that order rows, in key-ordered mode.
        names: not None where the columns of the batches have other names.
    """

    travelling: pa.Schema
    key: Sequence[int] = ()
    names: tuple[str, ...] | None = None

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
        records = codec.encode(batch)
        if not self.key:
            return packed(map(Row, records))
        cells = zip(*(batch.column(place).to_pylist() for place in self.key), strict=True)
        return packed(map(Row, records, map(key_bytes, cells)))


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
            for value in batch.column(0).to_pylist():
                yield from self.outcomes.batches(unpacked_outcomes(value))
            set_aside()
