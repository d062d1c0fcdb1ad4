"""The output of a chunk of rows: its keys looked up, and their rows of the table beside it.

The rows of a key are converted to Arrow once in a chunk, and copied for each row from there.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, chain
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

LARGEST = 10_000
"""Largest number of output rows in a piece, unless a single row on the left has more."""

Found: TypeAlias = Sequence[tuple[Any, ...]] | None
"""The rows of the table for a key, each with the cells of its columns; None if the rows on the left
with that key are dropped.
"""


class Shape(Struct, frozen=True):
    """The columns of input and output.

    Args:
        on: the columns on the left that form the key.
        found: the output columns of a row of the table, without its key.
        is_left: rows without rows of the table go out with nulls.
        lists: name of the one column in which the rows of a key go out as a list, not one by
            one; None for single rows.
        wanted: rows go out without columns of the table if they have rows of it, or if they have
            none; None for output with these columns.
        errors: the column for the errors of keys; None without it.
    """

    on: tuple[str, ...]
    found: pa.Schema
    is_left: bool = True
    lists: str | None = None
    errors: pa.Field | None = None
    wanted: bool | None = None

    @property
    def nulls(self) -> tuple[None, ...]:
        return (None,) * len(self.found)

    @property
    def tail(self) -> list[pa.Field]:
        columns = [*self.found]
        if self.lists is not None:
            item = pa.field("element", pa.struct(columns), nullable=False)
            columns = [pa.field(self.lists, pa.list_(item), nullable=False)]
        return [*columns, *([] if self.errors is None else [self.errors])]


class Layout:
    """The output for the rows of a chunk, by the place of their keys.

    Args:
        errors: for each key, as dicts, or None; if the shape has a column for them.
    """

    def __init__(self, shape: Shape, found: Sequence[Found], errors: Sequence[Any]) -> None:
        self._shape = shape
        nothing: Found = None
        if shape.is_left:
            nothing = () if shape.lists else (shape.nulls,)
        rows = [nothing if each == () else each for each in found]
        if (wanted := shape.wanted) is not None:
            told = errors if shape.errors is not None else [None] * len(found)
            rows = [
                ((),) if error or (each is not None and bool(each) is wanted) else None
                for each, error in zip(found, told, strict=True)
            ]
        present = [each for each in rows if each is not None]
        self._values = _structs(shape.found, chain.from_iterable(present))
        sizes = [len(each or ()) for each in rows]
        self._sizes = pa.array(sizes, pa.int64())
        self._largest = max(sizes, default=0)
        if shape.lists:
            self._values = _listed(map(len, present), self._values)
            sizes = [int(each is not None) for each in rows]
        is_one_each = sizes.count(1) == len(sizes)
        self._entries = None if is_one_each else _listed(sizes, self._values)
        self._errors = pa.array(errors, shape.errors.type) if shape.errors else None

    def ends(self, places: pa.Array) -> list[int]:
        """Return the ends of parts of the chunk, each with at most `LARGEST` output rows."""
        if len(places) * self._largest <= LARGEST:
            return [len(places)]
        sums = pc.cumulative_sum(self._sizes.take(places))
        ends: list[int] = pc.run_end_encode(pc.divide(sums, LARGEST)).run_ends.to_pylist()
        return ends

    def beside(self, rows: pa.RecordBatch, places: pa.Array) -> pa.RecordBatch:
        """Return some rows of the chunk, whose keys have these places, with their table rows."""
        errors = [] if self._errors is None else [self._errors.take(places)]
        if self._entries is None:
            values = self._values.take(places)
        else:
            taken = self._entries.take(places)
            values, parents = pc.list_flatten(taken), pc.list_parent_indices(taken)
            rows, errors = rows.take(parents), [each.take(parents) for each in errors]
        columns = [values] if self._shape.lists else values.flatten()
        fields = [*rows.schema, *self._shape.tail]
        return pa.RecordBatch.from_arrays(
            [*rows.columns, *columns, *errors], schema=pa.schema(fields)
        )


def _structs(schema: pa.Schema, rows: Iterable[tuple[Any, ...]]) -> pa.StructArray:
    if not len(schema):
        return pa.array([{} for _ in rows], pa.struct([]))
    cells = [*zip(*rows, strict=True)] or [()] * len(schema)
    arrays = [pa.array(each, field.type) for each, field in zip(cells, schema, strict=True)]
    return pa.StructArray.from_arrays(arrays, fields=[*schema])


def _listed(sizes: Iterable[int], values: pa.Array) -> pa.ListArray:
    offsets = pa.array(accumulate(sizes, initial=0), pa.int32())
    item = pa.field("element", values.type, nullable=False)
    return pa.ListArray.from_arrays(offsets, values, pa.list_(item))


Piece: TypeAlias = Callable[[], pa.RecordBatch]
"""Makes a batch of some rows of a chunk, or raises the failure of one of its keys."""


class ChunkRows:
    """The codec of a partition: chunks are batches, and batches are made of pieces."""

    def decode(self, batch: pa.RecordBatch) -> Iterable[pa.RecordBatch]:
        return [batch]

    def encode(self, pieces: Sequence[Piece]) -> pa.RecordBatch:
        """Return the one piece as a batch.

        Raises:
            AsyncWaitError: a key has failed, or can't be read.
        """
        (piece,) = pieces
        return piece()
