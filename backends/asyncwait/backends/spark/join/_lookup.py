"""The lookup of chunks: the keys of a chunk, and the function that the pool calls."""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from pyarrow import types

from asyncwait.backends.lookup._cached import Cached
from asyncwait.backends.lookup._whole import Whole
from asyncwait.backends.spark._partition import PartitionSource
from asyncwait.backends.spark.frame._errors import UnreadableRow, cause_behind, told_of
from asyncwait.backends.spark.join._chunks import Found, Layout, Piece, Shape
from asyncwait.backends.spark.join._table import RowFitter
from asyncwait.spec import AsyncWaitError, OperatorError
from asyncwait.spec.texts import shown
from asyncwait.toolkit import is_collection, results_despite


class ChunkLookup:
    """Looks chunks up in an open table.

    Args:
        table: opened and closed with this object.
        on_error: see `asyncwait.backends.spark.lookup_join`.
        chunks: largest number of concurrent lookups of chunks.
    """

    def __init__(
        self, table: Cached | Whole, shape: Shape, on_error: Any, fitter: RowFitter, chunks: int
    ) -> None:
        self._table = table
        self._shape = shape
        self._on_error = on_error
        self._fitter = fitter
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
        return [*map(self._fitter.fit, rows)]


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
