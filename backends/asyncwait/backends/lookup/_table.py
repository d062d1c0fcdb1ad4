"""Tables, their keys and answers, and the figures of their lookups."""

from collections import deque
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping, Sequence
from itertools import islice
from statistics import fmean, quantiles
from typing import Any, Protocol, TypeAlias, runtime_checkable

import anyio
from msgspec import Struct

from asyncwait.spec import InvalidConfig, InvalidResult, OperatorError, Record
from asyncwait.spec.texts import shown
from asyncwait.toolkit import (
    PLAIN_KEYS,
    JoinableTasks,
    awaited,
    call_failed,
    is_whole,
    join_errors,
    require_kind,
    run_hook,
    settled,
    stand_in,
)

LAST = 1_000
"""Number of the latest requests that count for sizes and times."""


class LookupStatistics(Struct, frozen=True):
    """The figures of a lookup: hits + shared + loads + stale + null_keys = rows, at any moment.

    A row counts when it is looked up, whatever its outcome or its number of attempts. It counts as
    `stale` instead of `shared` or `loads` once it has got stale rows.
    """

    rows: int = 0
    """Rows that were looked up."""
    hits: int = 0
    """Rows that got cached rows at once."""
    shared: int = 0
    """Rows that wait, or waited, for a request which another row has begun."""
    loads: int = 0
    """Rows that have begun a request for their key."""
    stale: int = 0
    """Rows that got stale rows of the table, because the table failed."""
    null_keys: int = 0
    """Rows whose key the table cannot have: it is null, has a null in it, or is NaN."""
    misses: int = 0
    """Rows without a null key for whose key the table has no row."""
    in_flight: int = 0
    """Rows that wait for an answer."""
    failures_handled: int = 0
    """Rows that have failed, and are dropped or have other rows, as `on_error` says."""
    requests: int = 0
    """Calls of the table that were begun, also in the background; with `Full`, readings of it."""
    failed_requests: int = 0
    """Requests that raised, or returned an invalid answer."""
    refreshes: int = 0
    """Keys that were read again in the background; with `Full`, such readings of the table."""
    evictions: int = 0
    """Keys that were evicted from the cache."""
    keys: int = 0
    """Keys in the cache."""
    mean_batch: float = 0.0
    """Keys in a request, on average."""
    max_batch: int = 0
    """Keys in the largest request."""
    latency_p50: float | None = None
    """Seconds within which half of the requests ended; None before the first one."""
    latency_p99: float | None = None
    """Seconds within which 99 in 100 requests ended."""
    age: float | None = None
    """Seconds since the reading of the present copy began, with `Full`."""


class Figures:
    """The figures of a lookup while they are counted."""

    def __init__(self) -> None:
        self.rows = self.hits = self.shared = self.loads = self.stale = self.null_keys = 0
        self.misses = self.in_flight = self.failures_handled = 0
        self.requests = self.failed_requests = self.refreshes = 0
        self._sizes: deque[int] = deque(maxlen=LAST)
        self._seconds: deque[float] = deque(maxlen=LAST)

    def answered(self, size: int, seconds: float) -> None:
        """Note a request that has ended without being cancelled."""
        self._sizes.append(size)
        self._seconds.append(seconds)

    def told(self, keys: int, evictions: int = 0, age: float | None = None) -> LookupStatistics:
        counts = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        median, highest = _percentiles(list(self._seconds))
        return LookupStatistics(
            **counts,
            evictions=evictions,
            keys=keys,
            mean_batch=fmean(self._sizes) if self._sizes else 0.0,
            max_batch=max(self._sizes, default=0),
            latency_p50=median,
            latency_p99=highest,
            age=age,
        )


def _percentiles(seconds: list[float]) -> tuple[float | None, float | None]:
    if not seconds:
        return None, None
    cuts = quantiles(seconds * 2 if len(seconds) == 1 else seconds, n=100, method="inclusive")
    return cuts[49], cuts[98]


Rows: TypeAlias = Sequence[Any]
"""The rows of one key, none or many. All lookups of the key share them: do not change them."""

NO_ROWS: tuple[Any, ...] = ()

Answers: TypeAlias = Mapping[Any, Rows | Exception]
"""Rows by key, or the failure of that key alone. A key that is not in it has no rows."""


@runtime_checkable
class Table(Protocol):
    """A table on the other side of a join.

    A lookup opens it, closes it, and calls it on one loop, but several calls may run at the same
    time. It may also have `load_all`; see `WholeTable`. If it has `columns`, the names of the parts
    of its tuples, a join finds columns by these names.
    """

    async def open(self) -> None:
        """Prepare, before the first call."""
        ...

    async def close(self) -> None:
        """Release resources, after the last call."""
        ...

    async def get_many(self, keys: Sequence[Any]) -> Answers:
        """Return the rows of `keys`, each of which occurs once and contains no null.

        A key without rows may be left out. An exception as a value is the failure of that key; a
        raised exception fails all keys.
        """
        ...


@runtime_checkable
class WholeTable(Table, Protocol):
    """A table that can be read whole, as `Full` requires."""

    def load_all(self) -> AsyncIterable[tuple[Any, Any]]:
        """Yield each row with its key; a key may come again."""
        ...


@runtime_checkable
class OpenTable(Protocol):
    """A table for lookups by any number of tasks of one loop."""

    def peek(self, key: Any) -> Rows | None:
        """Return the rows of a key if no request is needed, else None; only rows are counted.

        Raises:
            CallFailed: `key` can't be hashed, or the copy of the table is too old.
            RuntimeError: the table is closing or closed.
        """
        ...

    async def get(self, key: Any) -> Rows:
        """Return the rows of a key; see `get_many`."""
        return (await self.get_many([key]))[0]

    async def get_many(self, keys: Sequence[Any]) -> list[Rows]:
        """Return the rows of each key, in their order; the keys may repeat.

        One request fetches all keys that are neither cached nor in a running request.

        Raises:
            CallFailed: the table has failed for a key, which is named, and `retry` is used up.
            CallTimedOut: the table did not answer before the deadline.
            InvalidResult: the table gave an invalid answer.
            RuntimeError: the table is closing or closed; no retry repeats that.
        """
        ...

    def statistics(self) -> LookupStatistics:
        """Return the present figures."""
        ...


Outcome: TypeAlias = Rows | OperatorError
"""The outcome of a lookup: rows, or its failure."""


def places_of(keys: Sequence[Any]) -> Sequence[Any]:
    """Return the stand-in of each key; `keys` itself if the keys are their own stand-ins.

    Raises:
        CallFailed: a key can't be hashed, or compared with itself.
    """
    return keys if PLAIN_KEYS.issuperset(map(type, keys)) else list(map(place_of, keys))


def rows_with(wanted: Any, values: Sequence[Any], times: Sequence[int] | None) -> int:
    """Return the number of rows with a value, where each value counts as `times` says, or once."""
    if times is None:
        return values.count(wanted)
    return sum(count for value, count in zip(values, times, strict=True) if value == wanted)


async def close_behind(tasks: JoinableTasks, table: Table, error: BaseException | None) -> None:
    """Wait until tasks have ended, and close the table, despite any cancellation.

    An error of closing becomes a note on the `error` with which the table is left, if there is one.
    """
    reason = await tasks.join()
    first = join_errors(error if reason is None else reason, await close_table(table))
    if first is not None and first is not error:
        raise first


async def close_table(table: Table) -> Exception | None:
    """Close a table, despite any cancellation; return its error."""
    with anyio.CancelScope(shield=True):
        try:
            await table.close()
        except Exception as error:
            return error
    return None


def table_closed() -> RuntimeError:
    """Return the error of each lookup once its table is closing; no retry repeats it."""
    return RuntimeError("the table is closed; look up while the context of open_table() is open")


def require_table(table: Any) -> None:
    """Refuse an object that is not a table.

    Raises:
        InvalidConfig: `table` is no Table.
    """
    if isinstance(table, OpenTable):
        expected = "a table that is not open yet; call get() or get_many() of an open table"
        raise InvalidConfig.of("table", table, expected)
    if isinstance(table, type) or not isinstance(table, Table):
        expected = "a table with open(), close() and get_many(keys); FunctionTable(fn) makes one"
        raise InvalidConfig.of("table", table, expected)


def read_answers(asked: Mapping[Any, Any], answers: Any) -> dict[Any, tuple[Any, ...] | Exception]:
    """Return the answer of a table, by stand-in, for each requested key.

    Raises:
        InvalidResult: the answer is no mapping, or has a key that was not requested.
    """
    if not isinstance(answers, Mapping):
        raise InvalidResult(
            None,
            f"expected a mapping from key to rows from get_many(), got {shown(answers)} "
            f"({type(answers).__name__}); return {{}} if there are none",
        )
    read: dict[Any, tuple[Any, ...] | Exception] = dict.fromkeys(asked, ())
    if hasattr(type(answers), "__missing__"):  # as in a defaultdict, with rows for all keys
        answers = {**answers, **{key: answers[key] for key in asked.values()}}
    for rows in islice(answers.values(), 1):  # The first rows show a mistake.
        settled("get_many", rows)
    for key, rows in answers.items():
        place = key if type(key) in PLAIN_KEYS else stand_in(key)
        if place not in read:
            raise InvalidResult(None, _not_asked(key, asked))
        read[place] = tuple(rows) if type(rows) in _USUAL else _collected(key, rows)
    return read


_USUAL = frozenset({list, tuple})


def _collected(key: Any, rows: Any) -> tuple[Any, ...] | Exception:
    if isinstance(rows, Exception):
        return rows
    if isinstance(rows, Sequence) and not is_whole(rows):
        return tuple(rows)
    reason = (
        f"expected a sequence of rows, got {shown(rows)} ({type(rows).__name__}); answer [row] for "
        "one row, and leave out a key that has none"
    )
    return InvalidResult(LookedUp(key), reason)


def _not_asked(key: Any, asked: Mapping[Any, Any]) -> str:
    equal = next((each for each in asked.values() if each == key), None)
    hint = "answer for the keys of the call alone"
    if equal is not None:
        hint = f"it was asked for {shown(equal)} ({type(equal).__name__}), another type"
    return (
        f"the table answered for a key that is none of this call: {shown(key)} "
        f"({type(key).__name__}); {hint}"
    )


class LookedUp(Record, frozen=True):
    """A key as the record of an error, which calls it a key."""

    def __str__(self) -> str:
        return f"key {super().__str__().removeprefix('Record ')}"


def place_of(key: Any) -> Any:
    """Return the stand-in of a key.

    Raises:
        CallFailed: `key` can't be hashed, or compared with itself.
    """
    try:
        return stand_in(key)
    except Exception as error:
        raise call_failed(LookedUp(key), error) from error


def require_keys(keys: Any) -> Sequence[Any]:
    """Refuse a text in place of the keys, because each of its letters would be a key.

    Raises:
        InvalidConfig: `keys` is a text, or has no length and order.
    """
    if is_whole(keys) or not isinstance(keys, Sequence):
        raise InvalidConfig.of("keys", keys, "a list of keys; [key] for one")
    return keys


def types_of(key: Any) -> Any:
    """Return the type of a key, or the types of its parts."""
    return tuple(map(type, key)) if isinstance(key, tuple) else type(key)


class FunctionTable:
    """A table that is a function.

    Args:
        fn: an async function that takes a list of keys, and returns a mapping from key to rows;
            see `Table.get_many`. It may have `open()` and `close()`, async or not.

    Raises:
        InvalidConfig: `fn` is not such a function, or has a `yield`.
    """

    def __init__(self, fn: Callable[[Sequence[Any]], Awaitable[Answers]]) -> None:
        if isinstance(fn, type) or not callable(fn):
            raise InvalidConfig.of("fn", fn, "an async function of a list of keys")
        require_kind(fn, blocks=False, many=False, batched=True)
        self._fn = fn

    async def open(self) -> None:
        """Run the function's own `open`, if it has one."""
        await run_hook(getattr(self._fn, "open", None))

    async def close(self) -> None:
        """Run the function's own `close`, if it has one."""
        await run_hook(getattr(self._fn, "close", None))

    async def get_many(self, keys: Sequence[Any]) -> Answers:
        """Call the function.

        Raises:
            WrongFunction: the function is not async, or returns unfinished work.
        """
        return settled("fn", await awaited(self._fn(keys)))  # type: ignore[no-any-return]
