"""Opening a table for lookups, and a stream of values with the rows for their keys."""

from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager
from functools import partial
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from msgspec.structs import asdict

from asyncwait.backends.lookup._cached import Cached, Policy
from asyncwait.backends.lookup._chunks import ChunkFeeder, LookupResults, Room
from asyncwait.backends.lookup._table import (
    OpenTable,
    Outcome,
    Rows,
    Table,
    WholeTable,
    place_of,
    require_table,
)
from asyncwait.backends.lookup._whole import Copy, Full, Whole
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
    Store,
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
        if isinstance(rows, Mapping):  # The keys of a mapping would be taken for rows.
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
    """Yield each value of `source` with the rows of `table` for its key.

    Values are looked up in chunks of values that the source yields without waiting; a chunk whose
    keys are all cached makes no request. The table is read at the time of the lookup: a value that
    has come out does not learn of later changes.

    Args:
        source: the values; closed on every way out.
        table: opened before the first value is read, and closed with the context.
        key: returns the key of a value; None if the value is the key.
        how: "left" gives a value without rows an empty sequence; "inner" drops it. A key that
            is None, or a tuple with None in it, has no rows, and causes no request.
        mode: "ordered" yields values in input order; "unordered" yields a chunk as soon as all its
            keys are decided, even if an earlier chunk is not.
        cache: the policy of the cache; None for no cache, but requests for one key are still
        shared.
        capacity: largest number of values read, and not yet taken by the consumer.
        timeout: seconds from the first request for a value to its deadline; None for none.
        retry: how failed requests are repeated; None for never.
        retry_missing: how requests for keys without rows are repeated; None for never.
        on_error: treatment of a value whose key has failed after all retries, is late, or can't
            be computed: "fail" ends the stream with the error, and so does None; "skip" drops the
            value; a plain function of value and error returns other rows for it, as any
            iterable, or None for the error.
        batch: how keys of several chunks gather for one request, if the source is slow; None for
            a request for each chunk. A key waits at most `max_wait` while a request may begin,
            and not at all when the source has ended.

    Returns:
        An async context manager that gives an async iterator of pairs of a value and its rows. All
        values with one key share the rows: do not change them.

    Raises:
        InvalidConfig: an argument is invalid; on entering, and the source is closed.
        MissingExtra: `cache` is set, and cachetools is not installed; on entering, too.
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


def kept_by(cache: Cache | Full | None) -> Store | Copy:
    """Return an empty store for such a cache.

    Raises:
        MissingExtra: cachetools is not installed, and is needed.
    """
    return Copy() if isinstance(cache, Full) else Store(cache)


def tabled(
    table: Table, cache: Cache | Full | None, policy: Policy, kept: Any = None
) -> Cached | Whole:
    """Return the lookups in a table with such a cache.

    Args:
        table: the table.
        cache: the policy of the cache.
        policy: deadline, retries and batches of the requests.
        kept: a store of `kept_by`, which several lookups may use in turn. None for a new one.

    Raises:
        InvalidConfig: an argument is invalid, or they exclude each other.
        MissingExtra: `cache` is set, and cachetools is not installed.
    """
    require_table(table)
    if isinstance(cache, Full):
        if not isinstance(table, WholeTable):
            raise InvalidConfig.of("table", table, "one with load_all(), for the cache is Full")
        for name, value in asdict(policy).items():
            if value is not None:
                raise InvalidConfig.of(name, value, "None: with Full no lookup waits")
        return Whole(table, cache, kept or Copy())
    if not (cache is None or isinstance(cache, Cache)):
        raise InvalidConfig.of("cache", cache, "a Cache, a Full or None")
    if cache is not None and cache.key is not None:
        raise InvalidConfig.of("cache.key", cache.key, "None: `key` of the lookup returns its keys")
    if cache is not None and cache.missing_ttl is not None and not policy.takes_misses:
        expected = "None: with it a missing key would be asked for no more"
        raise InvalidConfig.of("missing_ttl", cache.missing_ttl, f"{expected}, and retry_missing")
    return Cached(table, kept or Store(cache), policy)


@entered_once("table", "await table.get(key)")
@asynccontextmanager
async def open_table(
    table: Table,
    *,
    cache: Cache | Full | None = None,
    timeout: float | None = None,  # noqa: ASYNC109 - of each lookup, not of this function
    retry: Retry | None = None,
    retry_missing: Retry | None = None,
    batch: Batch | None = None,
) -> AsyncGenerator[OpenTable]:
    """Open a table for lookups until the context is left.

    Args:
        table: closed with the context.
        cache: the policy of the cache; None for no cache, but requests for one key are still
        shared.
        timeout: seconds from a lookup's first request to its deadline; None for none.
        retry: how failed requests are repeated; None for never.
        retry_missing: how requests for keys without rows are repeated, `max_attempts` times in all;
            None for never.
        batch: how keys of several lookups gather for one request; None for no gathering. `split`
            must be False, because a table fails key by key.

    Returns:
        An async context manager that gives an `OpenTable`.

    Raises:
        InvalidConfig: an argument is invalid.
        MissingExtra: `cache` is set, and cachetools is not installed.
        Exception: opening the table raised it, or closing, if the body raised nothing (END-18).
    """
    opened = tabled(table, cache, Policy(timeout, retry, retry_missing, batch))
    await opened.open()
    error: BaseException | None = None
    try:
        yield opened
    except BaseException as raised:
        error = raised
        raise
    finally:
        await opened.close(error)
