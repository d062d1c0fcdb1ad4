"""A table of SQLite, with the standard library alone."""

import json
import re
import sqlite3
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from asyncwait.backends.lookup._connections import Connections, fetch
from asyncwait.backends.lookup._table import Answers
from asyncwait.spec import InvalidConfig
from asyncwait.spec.texts import shown

_KINDS = frozenset({int, str})
"""Types of keys; values of other types are equal to other keys in SQLite than in Python."""


_TEXT = re.compile("^(?!.*INT).*(CHAR|CLOB|TEXT)", re.IGNORECASE)
"""Types of columns to which SQLite gives the affinity of text."""


class SqliteTable:
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
        self._connections = Connections(self._connect, 1)
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
        self._connections.open()
        try:
            await self._read([])
            self._texts = frozenset(await self._connections.run(self._read_texts))
        except sqlite3.Error as error:
            raise InvalidConfig(
                f"the table {shown(self._table)} of {shown(str(self._path))} can't be read: {error}"
            ) from error

    async def close(self) -> None:
        """Close the file."""
        await self._connections.close()

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
        return await self._connections.run(
            lambda connection: fetch(connection, self._statement, parameters)
        )

    async def load_all(self) -> AsyncIterator[tuple[Any, Any]]:
        """Read all rows."""
        statement = f"SELECT {self._columns} FROM {_quoted(self._table)} AS t"  # noqa: S608 - quoted
        parts = len(self._keys)
        async for row in self._connections.all_rows(statement):
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
