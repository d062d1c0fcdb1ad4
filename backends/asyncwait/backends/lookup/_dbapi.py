"""Tables of any database with a driver of the DB-API (PEP 249)."""

import re
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from asyncwait.backends.lookup._connections import Connections, fetch
from asyncwait.backends.lookup._table import Answers
from asyncwait.spec import InvalidConfig
from asyncwait.spec.checks import is_plain_function, require_whole

_PLACEHOLDERS = {"qmark": "?", "format": "%s", "pyformat": "%s"}

_KEYS = "{keys}"

_WRITES = re.compile(r"\s*(DELETE|UPDATE|INSERT|MERGE|REPLACE|TRUNCATE|DROP)\b", re.IGNORECASE)
"""Statements that return no rows, and change some."""


class DbApiTable:
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
        self._connections = Connections(connect, connections)

    async def open(self) -> None:
        """Prepare; the first statement connects."""
        self._connections.open()

    async def close(self) -> None:
        """Close the connections."""
        await self._connections.close()

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
            for row in await self._connections.run(read):
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
        async for row in self._connections.all_rows(self._whole):
            yield _divided(row, self._key_parts)


def _divided(row: Sequence[Any], parts: int) -> tuple[Any, tuple[Any, ...]]:
    key = row[0] if parts == 1 else tuple(row[:parts])
    return key, tuple(row[parts:])
