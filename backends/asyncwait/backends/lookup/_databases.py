"""Tables of SQLite and of any driver of the DB-API (PEP 249): statements run in threads."""

import json
import re
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from anyio import CancelScope, CapacityLimiter, to_thread

from asyncwait.backends.lookup._table import Answers
from asyncwait.spec import InvalidConfig
from asyncwait.spec.checks import is_plain_function, require_whole
from asyncwait.spec.texts import shown

T = TypeVar("T")

READ_AT_ONCE = 10_000
"""Number of rows fetched at once when a table is read whole."""


class _Connections:
    """A table whose connections are used by one thread each at a time, and by several in turn.

    A statement that has begun runs to its end despite a cancellation, because not all drivers can
    stop a statement.
    """

    def __init__(self, connect: Callable[[], Any], limit: int) -> None:
        self._connected = connect
        self._limit = limit
        self._idle: list[Any] = []

    async def open(self) -> None:
        """Prepare, on the loop that will wait for the threads; the first statement connects."""
        self._limiter = CapacityLimiter(self._limit)

    async def _run(self, job: Callable[[Any], T]) -> T:
        """Run `job` in a thread, with a connection.

        Raises:
            Exception: connecting or `job` raised; the connection may be broken, and is closed.
        """
        return await to_thread.run_sync(self._run_here, job, limiter=self._limiter)

    def _run_here(self, job: Callable[[Any], T]) -> T:
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._connected()
        try:
            result = job(connection)
        except BaseException:
            with suppress(Exception):
                connection.close()
            raise
        self._idle.append(connection)
        return result

    async def close(self) -> None:
        """Close the idle connections: after the last request, all connections are idle."""
        await to_thread.run_sync(self._close, limiter=self._limiter)

    def _close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    async def _all_rows(self, statement: str) -> AsyncIterator[Any]:
        """Yield all rows of a statement, some at a time, with a connection of their own.

        Raises:
            Exception: connecting or the driver raised.
        """
        in_thread = partial(to_thread.run_sync, limiter=self._limiter)
        connection = await in_thread(self._connected)
        try:
            cursor = await in_thread(connection.cursor)
            await in_thread(cursor.execute, statement)
            while rows := await in_thread(cursor.fetchmany, READ_AT_ONCE):
                for row in rows:
                    yield row
        finally:
            with CancelScope(shield=True), suppress(Exception):  # The connection may be broken.
                await in_thread(connection.close)


def fetch(connection: Any, statement: str, parameters: Sequence[Any] = ()) -> list[Any]:
    """Return all rows of a statement."""
    with closing(connection.cursor()) as cursor:
        cursor.execute(statement, parameters)
        rows: list[Any] = cursor.fetchall()
    rollback = getattr(connection, "rollback", None)  # not every database has transactions
    if rollback is not None:
        rollback()  # so that the next statement sees later writes of others
    return rows


_PLACEHOLDERS = {"qmark": "?", "format": "%s", "pyformat": "%s"}

_KEYS = "{keys}"

_WRITES = re.compile(r"\s*(DELETE|UPDATE|INSERT|MERGE|REPLACE|TRUNCATE|DROP)\b", re.IGNORECASE)
"""Statements that return no rows, and change some."""


class DbApiTable(_Connections):
    """A table that a statement reads.

    Args:
        connect: a function without arguments that opens a connection of the driver. One thread at a
            time uses a connection, and several in turn.
        statement: selects the rows of many keys, with `{keys}` in place of their list, for example
            `SELECT id, name, town FROM users WHERE id IN ({keys})`. The first columns of each row
            are its key, as many as the key has parts; the other columns are the row, as a tuple.
        paramstyle: of the driver: "qmark", "format" or "pyformat"; the driver's module has it
            under that name.
        max_keys: largest number of keys in one statement; several statements read more keys, one
            after the other.
        connections: largest number of concurrent statements.
        whole: the statement without its condition, for `Full`; None if `Full` is not used.
        key_parts: number of columns of the key, if the table is read whole.

    Raises:
        InvalidConfig: an argument is invalid.
    """

    def __init__(
        self,
        connect: Callable[[], Any],
        statement: str,
        *,
        paramstyle: str = "qmark",
        max_keys: int = 500,
        connections: int = 4,
        whole: str | None = None,
        key_parts: int = 1,
    ) -> None:
        if not is_plain_function(connect):
            raise InvalidConfig.of("connect", connect, "a plain function that gives a connection")
        if statement.count(_KEYS) != 1 or _WRITES.match(statement):
            expected = "a SELECT with {keys} once, say: SELECT id, name FROM users WHERE id IN "
            raise InvalidConfig.of("statement", statement, f"{expected}({_KEYS})")
        if paramstyle not in _PLACEHOLDERS:
            raise InvalidConfig.of("paramstyle", paramstyle, "'qmark', 'format' or 'pyformat'")
        require_whole("max_keys", max_keys)
        require_whole("connections", connections)
        require_whole("key_parts", key_parts)
        self._statement = statement
        self._placeholder = _PLACEHOLDERS[paramstyle]
        self._max_keys = max_keys
        self._whole = whole
        self._key_parts = key_parts
        super().__init__(connect, connections)

    async def get_many(self, keys: Sequence[Any]) -> Answers:
        """Read the rows of `keys`.

        Raises:
            ValueError: the keys have different lengths.
            Exception: the driver raised.
        """
        parts = {len(key) if isinstance(key, tuple) else 1 for key in keys}
        if len(parts) > 1:
            raise ValueError(f"expected keys of one length, got keys of {sorted(parts)} parts")
        answers: dict[Any, list[Any]] = {}
        for start in range(0, len(keys), self._max_keys):
            read = self._reading(keys[start : start + self._max_keys])
            for row in await self._run(read):
                key, rest = _divided(row, *parts)
                answers.setdefault(key, []).append(rest)
        return answers

    def _reading(self, keys: Sequence[Any]) -> Callable[[Any], list[Any]]:
        places: list[str] = []
        values: list[Any] = []
        for key in keys:
            parts = key if isinstance(key, tuple) else (key,)
            values += parts
            marks = ", ".join([self._placeholder] * len(parts))
            places.append(f"({marks})" if isinstance(key, tuple) else marks)
        statement = self._statement.replace(_KEYS, ", ".join(places))
        return lambda connection: fetch(connection, statement, values)

    async def load_all(self) -> AsyncIterator[tuple[Any, Any]]:
        """Read all rows."""
        if self._whole is None:
            raise InvalidConfig.of("whole", None, "a SELECT of all rows, for the cache is Full")
        async for row in self._all_rows(self._whole):
            yield _divided(row, self._key_parts)


def _divided(row: Sequence[Any], parts: int) -> tuple[Any, tuple[Any, ...]]:
    key = row[0] if parts == 1 else tuple(row[:parts])
    return key, tuple(row[parts:])


_KINDS = frozenset({int, str})
"""Types of keys; values of other types are equal to other keys in SQLite than in Python."""


_TEXT = re.compile("^(?!.*INT).*(CHAR|CLOB|TEXT)", re.IGNORECASE)
"""Types of columns to which SQLite gives the affinity of text."""


class SqliteTable(_Connections):
    """A table in a file of SQLite, which is opened for reading.

    A row is the tuple of its columns. One statement reads any number of keys, in a thread of its
    own, so that the loop goes on.

    Args:
        path: of the file.
        table: name of a table or view.
        key: the column by which rows are found, of ints or text; or columns, for keys that are
            tuples. Without an index on it each request reads the whole table.
        columns: the columns of a row.

    Raises:
        InvalidConfig: an argument is invalid.
    """

    def __init__(
        self,
        path: str | Path,
        table: str,
        *,
        key: str | Sequence[str],
        columns: Sequence[str],
    ) -> None:
        path_kinds: Any = str | Path
        if not isinstance(path, path_kinds):
            raise InvalidConfig.of("path", path, "the path of a file")
        key_kinds: Any = (str, Sequence)
        if not isinstance(key, key_kinds) or not key:
            raise InvalidConfig.of("key", key, "the name of a column, or a sequence of names")
        self._keys = (key,) if isinstance(key, str) else tuple(key)
        names = (*self._keys, *columns)
        if isinstance(columns, str) or not columns:
            raise InvalidConfig.of("columns", columns, "a sequence of names, at least one")
        self.columns = tuple(columns)
        self._path = Path(path)
        self._table = table
        self._is_tuple = not isinstance(key, str)
        self._columns = ", ".join(f"t.{_quoted(name)}" for name in names)
        asked = [f"json_extract(asked.value, '$[{place}]')" for place in range(len(self._keys))]
        if not self._is_tuple:
            asked = ["asked.value"]
        same = " AND ".join(
            f"t.{_quoted(name)} = {value}" for name, value in zip(self._keys, asked, strict=True)
        )
        # SQLite reads the left side of a cross join first, so it looks each key up.
        self._statement = (
            f"SELECT asked.key, {self._columns} FROM json_each(?) AS asked "  # noqa: S608 - quoted
            f"CROSS JOIN {_quoted(table)} AS t ON {same}"
        )
        super().__init__(self._connect, 1)
        self._texts: frozenset[str] = frozenset()
        """Names of the columns that contain text, and never ints."""

    def _connect(self) -> sqlite3.Connection:
        address = f"file:{quote(str(self._path.absolute()))}?mode=ro"
        return sqlite3.connect(address, uri=True, check_same_thread=False)

    async def open(self) -> None:
        """Open the file.

        Raises:
            InvalidConfig: the file, the table or a column does not exist.
        """
        await super().open()
        try:
            await self._read([])
            self._texts = frozenset(await self._run(self._read_texts))
        except sqlite3.Error as error:
            raise InvalidConfig(
                f"the table {shown(self._table)} of {shown(str(self._path))} can't be read: {error}"
            ) from error

    async def get_many(self, keys: Sequence[Any]) -> Answers:
        """Read the rows of `keys`.

        Raises:
            sqlite3.Error: they can't be read.
        """
        answers: dict[Any, Any] = {key: e for key in keys if (e := self._refused(key)) is not None}
        asked = [key for key in keys if key not in answers]
        parts = len(self._keys)
        for place, *row in await self._read(asked):
            key, found = asked[place], tuple(row[:parts])
            wanted = key if self._is_tuple else (key,)
            if list(map(type, found)) != list(map(type, wanted)):
                answers[key] = self._other_type(found)
            elif found != wanted:
                continue  # A collation treats them as equal, and Python does not.
            elif not isinstance(answers.setdefault(key, []), Exception):
                answers[key].append(tuple(row[parts:]))
        return answers

    def _read_texts(self, connection: sqlite3.Connection) -> list[str]:
        columns = fetch(connection, "SELECT name, type FROM pragma_table_info(?)", [self._table])
        return [name.lower() for name, kind in columns if _TEXT.search(kind)]

    async def _read(self, keys: list[Any]) -> list[Any]:
        parameters = [json.dumps(keys)]
        return await self._run(lambda connection: fetch(connection, self._statement, parameters))

    async def load_all(self) -> AsyncIterator[tuple[Any, Any]]:
        """Read all rows."""
        statement = f"SELECT {self._columns} FROM {_quoted(self._table)} AS t"  # noqa: S608 - quoted
        parts = len(self._keys)
        async for row in self._all_rows(statement):
            yield (row[:parts] if self._is_tuple else row[0]), row[parts:]

    def _refused(self, key: Any) -> Exception | None:
        """Return the fault of a key that SQLite would take for another key, or for no key."""
        parts = key if self._is_tuple and isinstance(key, tuple) else (key,)
        if len(parts) != len(self._keys) or not _KINDS.issuperset(map(type, parts)):
            what = f"a tuple of {len(self._keys)} parts" if self._is_tuple else "a key"
            return TypeError(f"expected {what}, of int and str alone; got {shown(key)}")
        for name, part in zip(self._keys, parts, strict=True):
            if type(part) is int and name.lower() in self._texts:
                return TypeError(f"column {shown(name)} holds text; got {shown(key)}")
        if any(isinstance(part, str) and "\0" in part for part in parts):
            return ValueError(f"in the JSON of SQLite text ends where it holds NUL: {shown(key)}")
        return None

    def _other_type(self, found: tuple[Any, ...]) -> Exception:
        held = shown(found if self._is_tuple else found[0])
        return TypeError(
            f"the table holds {held} for this key, which SQLite takes for equal and Python does "
            "not; look up keys of the column's own type"
        )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
