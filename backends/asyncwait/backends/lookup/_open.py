"""Opening a table for lookups."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from asyncwait.backends.lookup._cached import Cached
from asyncwait.backends.lookup._requests import Policy
from asyncwait.backends.lookup._table import OpenTable, Table, WholeTable, require_table
from asyncwait.backends.lookup._whole import Copy, Full, Whole
from asyncwait.spec import Batch, Cache, InvalidConfig, Retry
from asyncwait.toolkit import Store, entered_once


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
        for name, value in policy.given.items():
            if value is not None:
                raise InvalidConfig.of(name, value, "None: with Full no lookup waits")
        return Whole(table, cache, kept or Copy())
    if not (cache is None or isinstance(cache, Cache)):
        raise InvalidConfig.of("cache", cache, "a Cache, a Full or None")
    if cache is not None and cache.key is not None:
        raise InvalidConfig.of("cache.key", cache.key, "None: a lookup is given its keys")
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
