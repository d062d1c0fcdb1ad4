"""Rows that share calls by their values: what is kept is of no row, and each has it as its own.

What a row has gone out with would otherwise be kept with the batch of input that it came in.
"""

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from asyncwait.backends.spark._kept import kept
from asyncwait.backends.spark.frame._calls import Results, RowFunction
from asyncwait.backends.spark.frame._rows import FrameRows, InputRow, OutputRow, RowRecord
from asyncwait.spec import Cache
from asyncwait.toolkit import FunctionParts, Store


class Sharing(Struct):
    """What the rows of a task share.

    Args:
        store: of what is kept in this process.
        calls: of the function, so far; a row that asks for its key makes none.
    """

    store: Store
    calls: int = 0


@contextmanager
def shared(cache: Cache | None, identity: bytes) -> Generator[Sharing | None]:
    """Lend a task what is kept for calls with this identity; None without a cache."""
    if cache is None:
        yield None
        return
    with kept(identity, lambda: Store(cache)) as store:
        yield Sharing(store)


_NOBODY = InputRow(None, pa.RecordBatch.from_pydict({}), 0, str)


class SharedFunction(RowFunction):
    """The user's function as one of input rows, whose results are of none of them."""

    def __init__(self, parts: FunctionParts, results: Results, sharing: Sharing) -> None:
        super().__init__(parts, results, None)
        self._sharing = sharing

    async def __call__(self, row: InputRow) -> Any:
        self._sharing.calls += 1
        return self._kept(_NOBODY, await self._given(row.value))


class _RowKey(tuple[Any, ...]):  # noqa: SLOT001 - a tuple takes none of its own
    """The key of a row in the order of keys; results come with it, and so find their row again."""

    row: InputRow


def record_of(row: InputRow, key: Iterable[Any] = ()) -> RowRecord:
    """Return a row as the record whose results find it again."""
    made = _RowKey(key)
    made.row = row
    return RowRecord(row, key=made)


class SharedRows(FrameRows):
    """The codec of a partition where results come as records; see `record_of`."""

    def encode(self, rows: Sequence[Any]) -> pa.RecordBatch:
        """Return the results as a batch, each with what is carried of its own row."""
        return super().encode([OutputRow(each.key.row, each.value.fields) for each in rows])


def asked_by_rows(cache: Cache) -> Cache:
    """Return a cache of values as one of their rows."""
    own = cache.key

    def key(row: InputRow) -> Any:
        return _told_apart(row.value if own is None else own(row.value))

    return replace(cache, key=key)


def _told_apart(key: Any) -> Any:
    """Return a key that is another one for another instant.

    In a zone where clocks are set back, Python takes two instants an hour apart for equal.
    """
    if isinstance(key, tuple):
        return (type(key), *map(_told_apart, key))
    if isinstance(key, datetime) and key.tzinfo is not None:
        return key.replace(tzinfo=None), key.utcoffset()
    return key
