"""Tables of databases whose drivers block, and functions; on the loops' real clocks."""

import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lookups import failure_of, rows_of

from asyncwait.backends.lookup import (
    DbApiTable,
    Full,
    FunctionTable,
    RedisTable,
    SqliteTable,
    open_table,
)
from asyncwait.spec import Cache, CallFailed, InvalidConfig, MissingExtra

pytestmark = pytest.mark.anyio

LOWEST = -(2**63)


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def users(tmp_path: Path) -> Path:
    path = tmp_path / "a ?#% file.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            """
            CREATE TABLE users (id INTEGER PRIMARY KEY, code TEXT, town TEXT, size REAL);
            CREATE INDEX code ON users (code);
            INSERT INTO users VALUES
                (1, 'a', 'Rome', 1), (2, 'b', 'Oslo', 2), (3, 'b', NULL, 3), (4, '4', 'Bern', 4),
                (5, 'ä "quoted" \u2028', 'Wien', 5), (-9223372036854775808, NULL, 'Low', 6);
            """
        )
    connection.close()
    return path


def by(users: Path, **named: Any) -> SqliteTable:
    return SqliteTable(users, "users", **{"key": "id", "columns": ["code", "town"], **named})


@pytest.mark.parametrize(
    ("key", "columns", "expected"),
    [
        # A row is the tuple of its columns, null is None.
        (
            "id",
            ["code", "town"],
            {
                1: [("a", "Rome")],
                3: [("b", None)],
                99: [],
                LOWEST: [(None, "Low")],
                2**70: [],
            },
        ),
        # A key that is not unique has several rows.
        (
            "code",
            ["id"],
            {"b": [(2,), (3,)], 'ä "quoted" \u2028': [(5,)], "c": [], "\ud800": []},
        ),
        # By several columns keys are tuples.
        (["code", "id"], ["town"], {("b", 3): [(None,)], ("b", 4): [], ("a", None): []}),
    ],
    ids=["ints", "text", "tuples"],
)
async def test_a_table_of_sqlite_is_read_by_a_key(
    users: Path, key: Any, columns: list[str], expected: dict[Any, Any]
) -> None:
    assert await rows_of(by(users, key=key, columns=columns), *expected) == [*expected.values()]


async def test_many_keys_are_one_statement(users: Path) -> None:
    keys = list(range(40_000))

    found = await rows_of(by(users), *keys)

    assert [key for key, rows in zip(keys, found, strict=True) if rows] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("key", "column", "reason"),
    [
        ("1", "id", "the table holds 1 for this key, which SQLite takes for equal"),
        (1.0, "id", "expected a key, of int and str alone; got 1.0"),
        (True, "id", "expected a key, of int and str alone; got True"),
        ("a\0", "code", "text ends where it holds NUL: 'a"),
        (4, "code", "column 'code' holds text; got 4"),
        (b"a", "code", "expected a key, of int and str alone; got b'a'"),
        ("b", ["code", "id"], "expected a tuple of 2 parts, of int and str alone; got 'b'"),
        (1, "size", "the table holds 1.0 for this key"),
    ],
)
async def test_a_key_of_another_type_fails_alone(
    users: Path, key: Any, column: Any, reason: str
) -> None:
    table = by(users, key=column)
    await table.open()

    answers = await table.get_many([key, "b", 2])
    await table.close()

    assert reason in str(answers.pop(key))
    assert answers


async def test_keys_that_only_the_table_takes_for_equal_are_not(tmp_path: Path) -> None:
    path = tmp_path / "towns"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE towns (code TEXT COLLATE NOCASE, town TEXT)")
        connection.execute("INSERT INTO towns VALUES ('a', 'Rome'), ('A', 'Oslo')")
    connection.close()
    table = SqliteTable(path, "towns", key="code", columns=["town"])
    await table.open()

    assert await table.get_many(["a", "B"]) == {"a": [("Rome",)]}
    await table.close()


async def test_what_can_not_be_read_is_named_on_opening(users: Path, tmp_path: Path) -> None:
    tables = (
        by(users, columns=["zip"]),
        SqliteTable(users, "people", key="id", columns=["a"]),
        by(tmp_path / "none.db"),
    )
    for table in tables:
        with pytest.raises(InvalidConfig, match=r"^the table .* can't be read: ") as caught:
            await rows_of(table, 1)
        assert str(caught.value).endswith(str(caught.value.__cause__))

    assert not (tmp_path / "none.db").exists()


async def test_a_change_is_seen_by_the_next_request(users: Path) -> None:
    async with open_table(by(users)) as opened:
        before = await opened.get(1)
        with sqlite3.connect(users) as connection:
            connection.execute("UPDATE users SET town = 'Roma' WHERE id = 1")
        connection.close()
        after = await opened.get(1)

    assert (before, after) == ((("a", "Rome"),), (("a", "Roma"),))


async def test_a_table_of_sqlite_is_read_whole(users: Path) -> None:
    async with open_table(by(users, key="code", columns=["id"]), cache=Full()) as opened:
        assert await opened.get_many(["b", "zz"]) == [((2,), (3,)), ()]
        assert opened.statistics().keys == 4  # a null is no key
    async with open_table(by(users, key=["code", "id"]), cache=Full()) as opened:
        assert opened.peek(("b", 2)) == (("b", "Oslo"),)


def connecting(users: Path) -> Callable[[], sqlite3.Connection]:
    return lambda: sqlite3.connect(users, check_same_thread=False)


async def test_a_table_of_any_driver_is_read_by_a_statement(users: Path) -> None:
    statement = "SELECT id, town, size FROM users WHERE id IN ({keys})"
    table = DbApiTable(connecting(users), statement, max_keys=2)

    assert await rows_of(table, 1, 7, 3, 4, 2) == [
        [("Rome", 1.0)],
        [],
        [(None, 3.0)],
        [("Bern", 4.0)],
        [("Oslo", 2.0)],
    ]


async def test_a_statement_may_have_keys_of_several_parts(users: Path) -> None:
    statement = "SELECT code, id, town FROM users WHERE (code, id) IN (VALUES {keys})"
    table = DbApiTable(
        connecting(users), statement, whole="SELECT code, id, town FROM users", key_parts=2
    )

    assert await rows_of(table, ("b", 2), ("b", 9)) == [[("Oslo",)], []]
    with pytest.raises(CallFailed, match=r"keys of one length, got keys of \[1, 2\]"):
        await rows_of(table, ("b", 2), "b")
    async with open_table(table, cache=Full()) as opened:
        assert opened.peek(("a", 1)) == (("Rome",),)


async def test_a_reading_that_breaks_tells_why(users: Path) -> None:
    made: list[Any] = []

    class Breaks:
        def __init__(self, path: Path) -> None:
            self._connection = sqlite3.connect(path, check_same_thread=False)
            self.cursor = lambda: self
            self.rollback = self._connection.rollback

        def execute(self, statement: str) -> None:
            self._cursor = self._connection.execute(statement)

        def fetchmany(self, size: int) -> Any:
            assert self._cursor.fetchone() is not None
            raise sqlite3.OperationalError(f"disk I/O error in {size} rows")

        def close(self) -> None:
            self._cursor.close()
            self._connection.close()

    def connect() -> Any:
        made.append(Breaks(users))
        return made[-1]

    statement = "SELECT id, town FROM users WHERE id IN ({keys})"
    table = DbApiTable(connect, statement, whole="SELECT id, town FROM users")

    with pytest.raises(sqlite3.OperationalError, match=r"^disk I/O error in 10000 rows$") as caught:
        async with open_table(table, cache=Full()):
            pass

    assert caught.value.__context__ is None
    assert len(made) == 1


async def test_a_broken_connection_is_replaced(users: Path) -> None:
    made: list[Any] = []

    class Broken(sqlite3.Connection):
        def cursor(self, *_: Any) -> Any:  # type: ignore[override]
            raise sqlite3.OperationalError("gone")

    def connect() -> Any:
        kind = sqlite3.Connection if made else Broken
        made.append(sqlite3.connect(users, check_same_thread=False, factory=kind))
        return made[-1]

    table = DbApiTable(connect, "SELECT id, town FROM users WHERE id IN ({keys})")
    async with open_table(table) as opened:
        with pytest.raises(CallFailed, match=r"OperationalError\('gone'\)"):
            await opened.get(1)
        assert await opened.get(1) == (("Rome",),)
        assert await opened.get(2) == (("Oslo",),)

    assert len(made) == 2
    with pytest.raises(sqlite3.ProgrammingError):
        made[1].execute("SELECT 1")


async def test_a_statement_without_its_whole_can_not_be_read_whole(users: Path) -> None:
    table = DbApiTable(connecting(users), "SELECT id FROM users WHERE id IN ({keys})")

    with pytest.raises(InvalidConfig, match=r"^whole must be a SELECT of all rows"):
        async with open_table(table, cache=Full()):
            pass


async def test_a_function_is_a_table() -> None:
    log: list[str] = []

    class Towns:
        def open(self) -> None:
            log.append("open")

        async def close(self) -> None:
            log.append("close")

        async def __call__(self, keys: Any) -> Any:
            return {key: [f"row {key}"] for key in keys}

    assert await rows_of(FunctionTable(Towns()), 1, 2) == [["row 1"], ["row 2"]]
    assert log == ["open", "close"]
    not_async: Any = dict.fromkeys
    assert "expected an awaitable from fn" in await failure_of(FunctionTable(not_async), 1)


async def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cachetools", None)
    monkeypatch.setitem(sys.modules, "redis.asyncio", None)

    async def nothing(_: Any) -> dict[Any, Any]:
        return {}

    async with open_table(FunctionTable(nothing)) as opened:
        assert await opened.get(1) == ()
    with pytest.raises(MissingExtra, match=r"^cachetools .*pip install 'asyncwait\[cache\]'$"):
        async with open_table(FunctionTable(nothing), cache=Cache(1, 1)):
            pass
    with pytest.raises(MissingExtra, match=r"^redis .*pip install 'asyncwait\[redis\]'$"):
        RedisTable("redis://localhost")
