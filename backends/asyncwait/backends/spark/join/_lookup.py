"""The lookup of chunks of rows: their keys, the rows of the table beside them, and the output.

The rows of a key are converted to Arrow once in a chunk, and copied for each row from there.
"""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import accumulate, chain, pairwise
from typing import Any, NoReturn, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from pyarrow import types

from asyncwait.backends.lookup._cached import Cached
from asyncwait.backends.lookup._whole import Whole
from asyncwait.backends.spark._partition import PartitionSource
from asyncwait.backends.spark.frame._errors import UnreadableRow, cause_behind, told_of
from asyncwait.spec import AsyncWaitError, OperatorError
from asyncwait.spec.texts import shown
from asyncwait.toolkit import is_collection, results_despite

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


class ChunkLookup:
    """Looks chunks up in an open table.

    Args:
        table: opened and closed with this object.
        on_error: see `asyncwait.backends.spark.lookup_join`.
        fit: converts a row that `on_error` returns.
        chunks: largest number of concurrent lookups of chunks.
    """

    def __init__(
        self,
        table: Cached | Whole,
        shape: Shape,
        on_error: Any,
        fit: Callable[[Any], Any],
        chunks: int,
    ) -> None:
        self._table = table
        self._shape = shape
        self._on_error = on_error
        self._fit = fit
        self.causes = Counter[str]()
        """The number of failed rows by cause."""
        self._running = 0
        self._has_ended = False
        self.open = table.open
        self.close = table.close
        self._hurry: Callable[[], None] = lambda: None
        if isinstance(table, Cached):
            table.is_last = lambda: self._has_ended or self._running == chunks
            self._hurry = table.hurry

    def end(self) -> None:
        """Note that no further chunk will come, so that no key waits for keys of one."""
        self._has_ended = True
        self._hurry()

    async def __call__(self, chunk: pa.RecordBatch) -> list[Piece]:
        """Return the output of a chunk, in pieces."""
        self._running += 1
        try:
            keys = keys_of(chunk, self._shape.on)
            outcomes = await self._table.outcomes(keys.distinct, keys.times)
            layout = self._laid_out(outcomes, keys.times)
        except AsyncWaitError as error:
            return [partial(_fail, error)]
        finally:
            self._running -= 1
        return [
            partial(layout.beside, chunk[start:end], keys.places[start:end])
            for start, end in pairwise([0, *layout.ends(keys.places)])
        ]

    def _laid_out(self, outcomes: Sequence[Any], times: Sequence[int]) -> Layout:
        """Lay out the rows of keys, once no key has an untreated failure."""
        found: list[Found] = [*outcomes]
        errors: list[Any] = [None] * len(outcomes)
        for place, outcome in enumerate(outcomes):
            if isinstance(outcome, OperatorError):
                found[place] = self._despite(outcome)
                errors[place] = told_of(outcome)
                self._table.figures.failures_handled += times[place]
                self.causes[cause_behind(outcome)] += times[place]
        return Layout(self._shape, found, errors)

    def _despite(self, failure: OperatorError) -> Found:
        """Return the rows of a key in place of its failure.

        Raises:
            OperatorError: there are none.
        """
        if self._on_error == "skip":
            return None
        if self._on_error == "column":
            return (self._shape.nulls,)
        return results_despite(failure, None if self._on_error == "fail" else self._other_rows)

    def _other_rows(self, key: Any, failure: OperatorError) -> Any:
        rows = self._on_error(key, failure)
        if rows is None:
            return None
        if isinstance(rows, Mapping) or not is_collection(rows):
            raise TypeError(f"expected rows, got {shown(rows)}; return [row] for one row")
        return [*map(self._fit, rows)]


class Chunks(AsyncIterator[Any]):
    """The chunks of a source; `on_end` is called when there are no more."""

    def __init__(self, source: PartitionSource, on_end: Callable[[], None]) -> None:
        self._source = source
        self._on_end = on_end

    async def __anext__(self) -> Any:
        try:
            return await anext(self._source)
        except StopAsyncIteration:
            self._on_end()
            raise

    async def aclose(self) -> None:
        await self._source.aclose()


def _fail(error: AsyncWaitError) -> NoReturn:
    raise error from error.__cause__


class Keys(Struct, frozen=True):
    """The keys of the rows of a chunk.

    Args:
        distinct: each key once; tuples for several columns. The last may be None:
            it represents all keys that are null, in a part or in whole.
        places: the place of its key in `distinct`, for each row.
    """

    distinct: list[Any]
    times: list[int]
    places: pa.Array


def keys_of(batch: pa.RecordBatch, names: Sequence[str]) -> Keys:
    """Return the keys in some columns.

    Raises:
        UnreadableRow: a text is not UTF-8.
    """
    first, *others = names
    distinct: list[Any]
    distinct, places = _encoded(batch, first)
    if others:
        distinct = [(value,) for value in distinct]
    for name in others:
        values, more = _encoded(batch, name)
        codes = pc.add(pc.multiply(places.cast(pa.int64()), len(values)), more)
        pairs = codes.dictionary_encode()
        distinct = [
            (*distinct[code // len(values)], values[code % len(values)])
            for code in pairs.dictionary.to_pylist()
        ]
        places = pairs.indices
    if places.null_count:
        places = pc.fill_null(places, len(distinct))
        distinct = [*distinct, None]
    counts = pc.value_counts(places)
    times = dict(zip(*(each.to_pylist() for each in counts.flatten()), strict=True))
    return Keys(distinct, [times[place] for place in range(len(distinct))], places)


def _encoded(batch: pa.RecordBatch, name: str) -> tuple[list[Any], pa.Array]:
    column = batch.column(name)
    if types.is_timestamp(column.type) and column.type.tz is not None:
        # In a zone where clocks are set back, Python treats instants an hour apart as equal.
        column = column.cast(pa.timestamp("us", "UTC"))
    encoded = column.dictionary_encode()
    try:
        return encoded.dictionary.to_pylist(), encoded.indices
    except UnicodeDecodeError as error:
        raise UnreadableRow(
            f"column {name}: expected text in UTF-8, got {shown(error)}; use make_valid_utf8"
        ) from None
    except (OverflowError, ValueError) as error:
        raise UnreadableRow(
            f"column {name}: expected dates from year 1 to 9999, got one beyond ({shown(error)})"
        ) from None
