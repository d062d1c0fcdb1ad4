"""Looks chunks up: the function that the pool calls."""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NoReturn

import pyarrow as pa

from asyncwait.backends.lookup._cached import Cached
from asyncwait.backends.lookup._whole import Whole
from asyncwait.backends.spark._reader import PartitionSource
from asyncwait.backends.spark.frame._errors import cause_behind, told_of
from asyncwait.backends.spark.join._chunks import Found, Layout, Piece, Shape
from asyncwait.backends.spark.join._keys import keys_of
from asyncwait.backends.spark.join._table import RowFitter
from asyncwait.spec import AsyncWaitError, OperatorError
from asyncwait.spec.texts import shown
from asyncwait.toolkit import is_collection, results_despite


class Looking:
    """Looks chunks up in an open table.

    Args:
        table: opened and closed with this.
        shape: of what goes out.
        on_error: see `asyncwait.backends.spark.lookup_join`.
        fitter: of rows that `on_error` gives.
        chunks: how many are looked up at a time at most.
    """

    def __init__(
        self, table: Cached | Whole, shape: Shape, on_error: Any, fitter: RowFitter, chunks: int
    ) -> None:
        self._table = table
        self._shape = shape
        self._on_error = on_error
        self._fitter = fitter
        self.causes = Counter[str]()
        """What rows have failed of."""
        self._running = 0
        self._has_ended = False
        self.open = table.open
        self.close = table.close
        self._hurry: Callable[[], None] = lambda: None
        if isinstance(table, Cached):
            table.is_last = lambda: self._has_ended or self._running == chunks
            self._hurry = table.hurry

    def end(self) -> None:
        """Note that no further chunk will come, so that no key waits for others of one."""
        self._has_ended = True
        self._hurry()

    async def __call__(self, chunk: pa.RecordBatch) -> list[Piece]:
        """Return what goes out for a chunk, in pieces."""
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
        """Lay out what keys have, once nothing of it is a failure."""
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
        """Return what a key has in place of a failure.

        Raises:
            OperatorError: there is nothing.
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
        """Close the source."""
        await self._source.aclose()


def _fail(error: AsyncWaitError) -> NoReturn:
    raise error from error.__cause__
