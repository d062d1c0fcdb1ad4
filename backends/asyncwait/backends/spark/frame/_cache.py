"""Results that rows share by their values, and the caches of a worker process.

A cached result refers to no row: it would keep the input batch of the row in memory.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, TypeVar

import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from asyncwait.backends.spark.frame._rows import FrameRows, InputRow, OutputRow, RowRecord
from asyncwait.spec import Cache
from asyncwait.toolkit import Store

MOST = 8
"""Number of tables and functions whose results a process caches; the least recently used goes."""

K = TypeVar("K")

_caches: dict[bytes, Any] = {}


@contextmanager
def lent(identity: bytes, make: Callable[[], K]) -> Generator[K]:
    """Lend a task the cache of its table or function, and take it back at the end.

    A Spark worker runs one task after the other; concurrent tasks share no cache.
    """
    found = _caches.pop(identity, None)
    cache: K = make() if found is None else found
    try:
        yield cache
    finally:
        _caches[identity] = cache
        for oldest in [*_caches][:-MOST]:
            del _caches[oldest]


class Sharing(Struct):
    """The cache of a task.

    Args:
        calls: calls of the function so far; a row with a cached key makes no call.
    """

    store: Store
    calls: int = 0

    def count_call(self) -> InputRow:
        """Count a call, and return the row to which its results belong."""
        self.calls += 1
        return NO_ROW


@contextmanager
def shared(cache: Cache | None, identity: bytes) -> Generator[Sharing | None]:
    """Lend a task the cache of calls with this identity; None without a cache."""
    if cache is None:
        yield None
        return
    with lent(identity, lambda: Store(cache)) as store:
        yield Sharing(store)


NO_ROW = InputRow(None, pa.RecordBatch.from_pydict({}), 0, str)


class _RowKey(tuple[Any, ...]):  # noqa: SLOT001 - a tuple has no own slots
    """The key of a row for order by key; a result comes with its key, which refers to the row."""

    row: InputRow


def record_of(row: InputRow, key: Iterable[Any] = ()) -> RowRecord:
    """Return a row as a record whose key leads from the results to the row."""
    made = _RowKey(key)
    made.row = row
    return RowRecord(row, key=made)


class SharedRows(FrameRows):
    """The codec of a partition whose results come as records; see `record_of`."""

    def encode(self, rows: Sequence[Any]) -> pa.RecordBatch:
        """Return the results as a batch, each with the kept columns of its own row."""
        return super().encode([OutputRow(each.key.row, each.value.fields) for each in rows])


def keyed_by_rows(cache: Cache) -> Cache:
    """Return a cache for values as a cache for rows with these values."""
    own = cache.key

    def key(row: InputRow) -> Any:
        return _told_apart(row.value if own is None else own(row.value))

    return replace(cache, key=key)


def _told_apart(key: Any) -> Any:
    """Return a key that differs for different instants.

    In a zone where clocks are set back, Python treats two instants an hour apart as equal.
    """
    if isinstance(key, tuple):
        return (type(key), *map(_told_apart, key))
    if isinstance(key, datetime) and key.tzinfo is not None:
        return key.replace(tzinfo=None), key.utcoffset()
    return key
