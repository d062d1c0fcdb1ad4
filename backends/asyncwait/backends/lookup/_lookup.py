"""A stream of values, each with the rows of a table that belong to it."""

from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager
from functools import partial
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from asyncwait.backends.lookup._cached import Cached
from asyncwait.backends.lookup._chunks import ChunkFeeder, LookupResults, Room
from asyncwait.backends.lookup._open import tabled
from asyncwait.backends.lookup._requests import Policy
from asyncwait.backends.lookup._table import Outcome, Rows, Table, place_of
from asyncwait.backends.lookup._whole import Full, Whole
from asyncwait.backends.pool import open_plain
from asyncwait.spec import (
    Batch,
    Cache,
    CallFailed,
    InvalidConfig,
    OperatorConfig,
    OperatorError,
    Record,
    Retry,
)
from asyncwait.spec.checks import is_plain_function
from asyncwait.spec.texts import shown
from asyncwait.toolkit import (
    PlainOne,
    PlainSource,
    entered_once,
    is_collection,
    reraise_fatal,
    results_despite,
    settled,
    skip,
)

A = TypeVar("A")

How: TypeAlias = Literal["left", "inner"]

OnError: TypeAlias = Literal["fail", "skip"] | Callable[[A, OperatorError], Iterable[Any] | None]
"""The treatment of a value whose last attempt has failed."""


class _ChunkLookup(Generic[A]):
    """Function that the pool calls to look a chunk up."""

    def __init__(
        self,
        table: Cached | Whole,
        key: Callable[[A], Any] | None,
        how: How,
        on_error: OnError[A] | None,
    ) -> None:
        self._table = table
        self._key = key
        self._is_inner = how == "inner"
        self._on_error = None if on_error == "fail" else on_error
        self.open = table.open
        self.close = table.close

    async def __call__(self, values: list[A]) -> tuple[int, list[tuple[A, Rows]]]:
        if self._on_error is None:
            keys = values if self._key is None else list(map(self._key_of, values))
            pairs = list(zip(values, await self._table.get_many(keys), strict=True))
        else:
            pairs = list(self._handled(values, await self._outcomes(values)))
        return len(values), [pair for pair in pairs if pair[1]] if self._is_inner else pairs

    def _key_of(self, value: A) -> Any:
        try:
            return value if self._key is None else settled("key", self._key(value))
        except BaseException as error:
            reraise_fatal(error)
            reason = f"its key can't be told: {shown(error)}"
            raise CallFailed(Record(value), reason) from error

    async def _outcomes(self, values: list[A]) -> list[Outcome]:
        keys: list[Any] = []
        failed: dict[int, CallFailed] = {}
        for number, value in enumerate(values):
            try:
                key = self._key_of(value)
                place_of(key)
            except CallFailed as failure:
                failed[number] = failure
            else:
                keys.append(key)
        found = iter(await self._table.outcomes(keys))
        return [failed.get(number) or next(found) for number in range(len(values))]

    def _handled(self, values: list[A], outcomes: list[Outcome]) -> Iterator[tuple[A, Rows]]:
        for value, outcome in zip(values, outcomes, strict=True):
            if not isinstance(outcome, OperatorError):
                yield value, outcome
                continue
            is_skipped = self._on_error == "skip"
            rows = results_despite(
                outcome, skip if is_skipped else partial(self._other_rows, value)
            )
            if not is_skipped:
                yield value, rows
            self._table.figures.failures_handled += 1

    def _other_rows(self, value: A, _: Any, failure: OperatorError) -> Any:
        handler: Any = self._on_error
        rows = handler(value, failure)
        if not is_collection(rows):
            return settled("on_error", rows)
        if isinstance(rows, Mapping):  # Its keys would be taken for rows.
            raise TypeError(f"expected rows, got {shown(rows)}; return [row] for one row")
        return rows


@entered_once("results", "async for value, rows in results")
@asynccontextmanager
async def lookup(
    source: Iterable[A] | AsyncIterable[A],
    table: Table,
    *,
    key: Callable[[A], Any] | None = None,
    how: How = "left",
    mode: Literal["ordered", "unordered"] = "ordered",
    cache: Cache | Full | None = None,
    capacity: int = 2_000,
    timeout: float | None = None,  # noqa: ASYNC109 - of each value, not of this function
    retry: Retry | None = None,
    retry_missing: Retry | None = None,
    on_error: OnError[A] | None = None,
    batch: Batch | None = None,
) -> AsyncGenerator[LookupResults[A]]:
    """Give each value of `source` with the rows of `table` that belong to it.

    Values are looked up in chunks, each of which is what the source gives without a wait; a chunk
    whose keys are all kept makes no request. The table is one of now: what it is changed to later,
    a value that has come out does not learn.

    Args:
        source: the values; closed on every way out.
        table: it is opened before the first value is read, and closed with the context.
        key: gives the key of a value; None where the value is the key.
        how: "left" gives a value without rows an empty sequence; "inner" leaves it out. A key that
            is None, or a tuple with None in it, has no rows, and the table is not asked.
        mode: "ordered" gives values in input order; "unordered" gives a chunk as soon as all of its
            keys are decided, though an earlier one is not.
        cache: what is kept; None for nothing, but requests for one key are shared all the same.
        capacity: values read, and not yet taken by the consumer, at most.
        timeout: seconds from the first request for a value to its deadline; None for none.
        retry: how requests that fail are repeated; None for not at all.
        retry_missing: the same for keys without rows.
        on_error: what becomes of a value whose key has failed after all retries, is late, or can't
            be told: "fail" ends the stream with the error, and so does None; "skip" leaves the
            value out; a plain function of value and error gives the rows in their place, any
            iterable of them, or None for the error.
        batch: how keys of several chunks gather for one request, where the source is slow; None for
            a request for each chunk. A key waits no longer than `max_wait` while there is a place,
            and for nothing where the source has ended.

    Returns:
        An async context manager that gives an async iterator of pairs of a value and its rows. They
        are shared by all values with that key: change none of them.

    Raises:
        InvalidConfig: an argument is wrong; on entering, and the source is closed.
        MissingExtra: there is a cache, and cachetools is not installed; the same.
    """
    async with aclosing(PlainSource(source)) as values:
        if key is not None and not is_plain_function(key, 1):
            raise InvalidConfig.of("key", key, "a plain function that gives the key of a value")
        if how not in {"left", "inner"}:
            raise InvalidConfig.of("how", how, "'left' or 'inner'")
        if mode not in {"ordered", "unordered"}:
            raise InvalidConfig.of("mode", mode, "'ordered' or 'unordered'")
        if on_error not in (None, "fail", "skip") and not is_plain_function(on_error):
            raise InvalidConfig.of("on_error", on_error, "'fail', 'skip' or a plain function")
        config = OperatorConfig(mode, capacity)
        opened = tabled(table, cache, Policy(timeout, retry, retry_missing, batch))
        chunk_lookup, room = PlainOne(_ChunkLookup(opened, key, how, on_error)), Room(capacity)
        if isinstance(opened, Cached):
            opened.is_last, room.hurry = room.is_last, opened.hurry
        async with open_plain(
            config, chunk_lookup, values, lambda core, source: ChunkFeeder(core, source, room)
        ) as chunks:
            yield LookupResults(chunks, room, opened.statistics)
