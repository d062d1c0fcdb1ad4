"""Opening a table to look up in."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol

from asyncwait.backends.lookup._asking import Policy
from asyncwait.backends.lookup._cached import Cached
from asyncwait.backends.lookup._figures import LookupStatistics
from asyncwait.backends.lookup._settings import Full
from asyncwait.backends.lookup._table import Rows, Table, WholeTable, require_table
from asyncwait.backends.lookup._whole import Whole
from asyncwait.spec import Batch, Cache, InvalidConfig, Retry


class OpenTable(Protocol):
    """A table that can be looked up in, by any number of tasks of one loop."""

    def peek(self, key: Any) -> Rows | None:
        """Return the rows of a key if that takes no request, else None; only then it is counted.

        Raises:
            CallFailed: `key` can't be hashed, or the copy of the table is too old.
            RuntimeError: the table is closed, or is being closed.
        """
        ...

    async def get(self, key: Any) -> Rows:
        """Return the rows of a key; see `get_many`."""
        ...

    async def get_many(self, keys: Sequence[Any]) -> list[Rows]:
        """Return the rows of each key, in their order; the keys may repeat.

        The table is asked in one request for all that is neither kept nor being asked for.

        Raises:
            CallFailed: the table has failed for a key, which is named, and `retry` is used up.
            CallTimedOut: it did not answer before the deadline.
            InvalidResult: it gave an answer that is none.
            RuntimeError: the table is closed, or is being closed; no retry repeats that.
        """
        ...

    def statistics(self) -> LookupStatistics:
        """Return the present figures."""
        ...


def tabled(table: Table, cache: Cache | Full | None, policy: Policy) -> Cached | Whole:
    """Return what looks up in a table as a cache says.

    Raises:
        InvalidConfig: one of the three is wrong, or they don't go together.
        MissingExtra: there is a cache, and cachetools is not installed.
    """
    require_table(table)
    if isinstance(cache, Full):
        if not isinstance(table, WholeTable):
            raise InvalidConfig.of("table", table, "one with load_all(), for the cache is Full")
        for name, value in policy.given.items():
            if value is not None:
                raise InvalidConfig.of(name, value, "None: with Full no lookup waits")
        return Whole(table, cache)
    if not (cache is None or isinstance(cache, Cache)):
        raise InvalidConfig.of("cache", cache, "a Cache, a Full or None")
    if cache is not None and cache.key is not None:
        raise InvalidConfig.of("cache.key", cache.key, "None: a lookup is given its keys")
    if cache is not None and cache.missing_ttl is not None and not policy.takes_misses:
        expected = "None: with it a missing key would be asked for no more"
        raise InvalidConfig.of("missing_ttl", cache.missing_ttl, f"{expected}, and retry_missing")
    return Cached(table, cache, policy)


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
    """Open a table, to look up in it until the context is left.

    Args:
        table: it is closed with the context.
        cache: what is kept; None for nothing, but requests for one key are shared all the same.
        timeout: seconds from a lookup's first request to its deadline; None for none.
        retry: how requests that fail are repeated; None for not at all.
        retry_missing: how keys without rows are asked for again, `max_attempts` times in all; None
            for not at all.
        batch: how keys of several lookups gather for one request; None for not at all. `split` must
            be False, for a table fails key by key.

    Returns:
        An async context manager that gives an `OpenTable`.

    Raises:
        InvalidConfig: an argument is wrong.
        MissingExtra: there is a cache, and cachetools is not installed.
    """
    opened = tabled(table, cache, Policy(timeout, retry, retry_missing, batch))
    await opened.open()
    try:
        yield opened
    finally:
        await opened.close()
