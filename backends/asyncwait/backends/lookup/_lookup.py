"""A stream of values, each with the rows of a table that belong to it."""

from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable
from contextlib import aclosing, asynccontextmanager
from typing import Any, Literal, TypeAlias, TypeVar

from asyncwait.backends.lookup._asking import Policy
from asyncwait.backends.lookup._cached import Cached
from asyncwait.backends.lookup._chunks import ChunkFeeder, LookupResults, Room
from asyncwait.backends.lookup._open import tabled
from asyncwait.backends.lookup._settings import Full
from asyncwait.backends.lookup._table import Rows, Table
from asyncwait.backends.lookup._whole import Whole
from asyncwait.backends.pool import open_plain
from asyncwait.spec import Batch, Cache, CallFailed, InvalidConfig, OperatorConfig, Record, Retry
from asyncwait.spec.checks import is_plain_function
from asyncwait.spec.texts import shown
from asyncwait.toolkit import PlainOne, PlainSource, reraise_fatal

A = TypeVar("A")

How: TypeAlias = Literal["left", "inner"]


class _Looking:
    """Looks a chunk up: the function that the pool calls."""

    def __init__(self, table: Cached | Whole, key: Callable[[Any], Any] | None, how: How) -> None:
        self._table = table
        self._key = key
        self._is_inner = how == "inner"
        self.open = table.open
        self.close = table.close

    async def __call__(self, values: list[Any]) -> tuple[int, list[tuple[Any, Rows]]]:
        keys = values if self._key is None else _keys_of(values, self._key)
        pairs = zip(values, await self._table.get_many(keys), strict=True)
        return len(values), [pair for pair in pairs if pair[1]] if self._is_inner else list(pairs)


def _keys_of(values: list[Any], key: Callable[[Any], Any]) -> list[Any]:
    keys: list[Any] = []
    try:
        for value in values:
            keys.append(key(value))  # noqa: PERF401 - so that it is known whose key has raised
    except BaseException as error:
        reraise_fatal(error)
        reason = f"its key can't be told: {shown(error)}"
        raise CallFailed(Record(values[len(keys)]), reason) from error
    return keys


@asynccontextmanager
async def lookup(
    source: Iterable[A] | AsyncIterable[A],
    table: Table,
    *,
    key: Callable[[A], Any] | None = None,
    how: How = "left",
    cache: Cache | Full | None = None,
    capacity: int = 2_000,
    timeout: float | None = None,  # noqa: ASYNC109 - of each value, not of this function
    retry: Retry | None = None,
    retry_missing: Retry | None = None,
    batch: Batch | None = None,
) -> AsyncGenerator[LookupResults[A]]:
    """Give each value of `source` with the rows of `table` that belong to it, in input order.

    Values are looked up in chunks, each of which is what the source gives without a wait; a chunk
    whose keys are all kept makes no request. The table is one of now: what it is changed to later,
    a value that has come out does not learn.

    Args:
        source: the values; closed on every way out.
        table: it is opened before the first value is read, and closed with the context.
        key: gives the key of a value; None where the value is the key.
        how: "left" gives a value without rows an empty sequence; "inner" leaves it out. A key that
            is None, or a tuple with None in it, has no rows, and the table is not asked.
        cache: what is kept; None for nothing, but requests for one key are shared all the same.
        capacity: values read, and not yet taken by the consumer, at most.
        timeout: seconds from the first request for a value to its deadline; None for none.
        retry: how requests that fail are repeated; None for not at all.
        retry_missing: how keys without rows are asked for again, `max_attempts` times in all; None
            for not at all.
        batch: how keys of several chunks gather for one request, where the source is slow; None for
            a request for each chunk. A key waits no longer than `max_wait` while there is a place,
            and for nothing where the source has ended. `split` must be False, for a table fails key
            by key.

    Returns:
        An async context manager that gives an async iterator of pairs of a value and its rows. They
        are shared by all values with that key: change none of them.

    Raises:
        InvalidConfig: an argument is wrong; on entering, and the source is closed.
        MissingExtra: there is a cache, and cachetools is not installed; the same.
    """
    async with aclosing(PlainSource(source)) as values:
        if key is not None and not is_plain_function(key):
            raise InvalidConfig.of("key", key, "a plain function that gives the key of a value")
        if how not in {"left", "inner"}:
            raise InvalidConfig.of("how", how, "'left' or 'inner'")
        config = OperatorConfig("ordered", capacity)
        opened = tabled(table, cache, Policy(timeout, retry, retry_missing, batch))
        looking, room = PlainOne(_Looking(opened, key, how)), Room(capacity)
        if isinstance(opened, Cached):
            opened.is_last, room.hurry = room.is_last, opened.hurry
        async with open_plain(
            config, looking, values, lambda core, source: ChunkFeeder(core, source, room)
        ) as chunks:
            yield LookupResults(chunks, room, opened.statistics)
