"""The join of a partition without Spark: batches of Arrow in, batches of Arrow out."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any

import pyarrow as pa
import pytest
from msgspec.structs import replace

from asyncwait.backends.lookup import Full
from asyncwait.backends.lookup._cached import Policy
from asyncwait.backends.spark.frame._columns import ERROR_TYPE
from asyncwait.backends.spark.join import _lookup
from asyncwait.backends.spark.join._lookup import Shape, keys_of
from asyncwait.backends.spark.join._task import Counts, Join, Options
from asyncwait.spec import Cache, CallFailed, InvalidResult, Retry

pytestmark = pytest.mark.usefixtures("nothing_kept")

ID = pa.schema([("id", pa.int64())])
TOWNS = pa.schema([("town", pa.string()), ("size", pa.int64())])
CACHE = Cache(1_000, ttl=600)


class Noted:
    """A table that notes what it is asked for.

    Args:
        rows: of keys, or what is in place of them; all other keys have one row that tells of them.
    """

    def __init__(self, rows: Mapping[Any, Any] | None = None) -> None:
        self.rows = {**(rows or {})}
        self.log: list[Any] = []

    async def open(self) -> None:
        self.log.append("open")

    async def close(self) -> None:
        self.log.append("close")

    async def get_many(self, keys: Sequence[Any]) -> dict[Any, Any]:
        self.log.append(list(keys))
        return {key: self.rows.get(key, [(f"town {key}", 1)]) for key in keys}

    @property
    def asked(self) -> list[Any]:
        return [keys for keys in self.log if isinstance(keys, list)]


class Readable(Noted):
    async def load_all(self) -> AsyncIterator[tuple[Any, Any]]:
        self.log.append("read")
        for key, rows in self.rows.items():
            for row in rows:
                yield key, row


def joined(table: Any, *batches: dict[str, Any], **changes: Any) -> tuple[list[Any], Any]:
    """The rows that come out of a partition, and what the task tells of itself at its end.

    Args:
        table: to look up in.
        batches: of the partition: columns by name; the key is `user`, unless `on` says others.
        changes: of `Shape`, `Join` and `Options`, whose fields have different names.
    """
    counts = Counts()
    work = _work(table, changes)
    given = [pa.RecordBatch.from_pydict(batch) for batch in batches]
    with work.partition(iter(given), counts) as opened:
        out = [batch.to_pylist() for batch in opened]
    return [*chain(*out)], counts.figures()


def _work(table: Any, changes: dict[str, Any]) -> Join:
    def of(kind: Any) -> dict[str, Any]:
        return {name: changes[name] for name in kind.__struct_fields__ if name in changes}

    rows = changes.get("rows", TOWNS)
    shape = replace(Shape(("user",), rows), **of(Shape))
    options = replace(Options(CACHE), policy=Policy(**of(Policy)), **of(Options))
    return replace(Join(table, shape, ID, rows), **of(Join), options=options)


def row(user: Any, town: Any, size: Any = 1, **others: Any) -> dict[str, Any]:
    return {"user": user, "town": town, "size": size, **others}


def test_each_key_of_a_chunk_is_asked_for_once() -> None:
    table = Noted()

    rows, figures = joined(table, {"user": [2, 1, None, 2]}, {"user": [3, 1, 2, 2]}, {"user": []})

    assert table.log == ["open", [2, 1], [3], "close"]
    assert [each["user"] for each in rows] == [2, 1, None, 2, 3, 1, 2, 2]
    assert rows[:3] == [row(2, "town 2"), row(1, "town 1"), row(None, None, None)]
    assert (figures.loads, figures.shared + figures.hits, figures.null_keys) == (3, 4, 1)
    assert (figures.rows_in, figures.rows_done, figures.calls, figures.errors) == (8, 8, 2, 0)


def test_columns_are_found_by_name() -> None:
    table: Any = Noted({1: [{"TOWN": "a", "Size": 2}], 2: [(3, "b")], 3: [{"city": "c"}]})
    table.columns = ("SIZE", "town")
    assert joined(table, {"user": [1, 2]})[0] == [row(1, "a", 2), row(2, "b", 3)]
    for key, fold in ((3, str.lower), (1, str)):
        with pytest.raises(InvalidResult, match="has none of the columns town, size"):
            joined(Noted(table.rows), {"user": [key]}, fold=fold)


def test_a_key_has_many_rows_or_none() -> None:
    two = Noted({1: [("a", 1), ("b", 2)], 2: []})
    batch = {"user": [1, 2, None, 1], "n": [10, 20, 30, 40]}

    rows, _ = joined(two, batch)
    inner, _ = joined(two, batch, is_left=False)

    found = [row(1, "a", n=10), row(1, "b", 2, n=10)]
    more = [row(1, "a", n=40), row(1, "b", 2, n=40)]
    assert rows == [*found, row(2, None, None, n=20), row(None, None, None, n=30), *more]
    assert inner == found + more


def test_what_comes_to_many_rows_goes_out_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_lookup, "LARGEST", 4)
    table = Noted({key: [("x", number) for number in range(key)] for key in range(10)})
    counts = Counts()
    given = [pa.RecordBatch.from_pydict({"user": [1, 9, 0, 2, 3, 1]})]

    with _work(table, {}).partition(iter(given), counts) as opened:
        parts = [batch.to_pylist() for batch in opened]

    sizes = [9, 1, 2, 3, 1]
    users = [each["user"] for each in chain(*parts)]
    assert users == [1, *[9] * 9, 0, 2, 2, 3, 3, 3, 1]
    assert len(parts) > 2
    assert all(len(part) <= 4 + max(sizes) for part in parts)


def test_instants_that_a_clock_shows_twice_are_two_keys() -> None:
    first = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    column = pa.array([first, first + timedelta(hours=1)], pa.timestamp("us", "Europe/Berlin"))

    keys = keys_of(pa.RecordBatch.from_arrays([column], ["at"]), ["at"])

    assert keys.distinct == [first, first + timedelta(hours=1)]
    assert len({*keys.distinct}) == 2


@pytest.mark.parametrize("size", [1, 7, 300])
def test_keys_of_columns_are_found_whatever_they_are(size: int) -> None:
    numbers = range(1000)
    columns = [[n * 7919 % size or None for n in numbers], [n * n % 11 for n in numbers]]
    columns.append([n % 3 for n in numbers])
    batch = pa.RecordBatch.from_arrays([pa.array(each) for each in columns], ["a", "b", "c"])

    for start in (0, 500):
        keys = keys_of(batch[start:], ["a", "b", "c"])

        rows = [*zip(*columns, strict=True)][start:]
        expected = [None if None in each else each for each in rows]
        assert [keys.distinct[place] for place in keys.places.to_pylist()] == expected
        assert keys.times == [expected.count(each) for each in keys.distinct]


def test_rows_are_tuples_or_mappings() -> None:
    table = Noted({1: [{"size": 7, "town": "a", "more": 1}], 2: [{"town": "b"}], 3: [("c", None)]})
    rows, _ = joined(table, {"user": [1, 2, 3]})
    assert rows == [row(1, "a", 7), row(2, "b", None), row(3, "c", None)]

    one = pa.schema([("tags", pa.list_(pa.string()))])
    table.rows = {1: [["a"], ["b", "c"]], 2: [(["d"],)], 3: [{"tags": None}]}
    rows, _ = joined(table, {"user": [1, 2, 3]}, rows=one)
    assert [each["tags"] for each in rows] == [["a"], ["b", "c"], ["d"], None]


MISFITS: dict[str, tuple[Any, str]] = {
    "text for a number": (("a", "1"), r"column size takes bigint, got '1' \(str\): expected int"),
    "too short": (("a",), r"the row \('a',\) \(tuple\) does not fit: it has 1 values, for town, "),
    "no row": (7, r"the row 7 \(int\) does not fit: expected a dict, tuple, "),
}


@pytest.mark.parametrize("name", MISFITS)
def test_nothing_changes_its_type(name: str) -> None:
    given, told = MISFITS[name]
    table = Noted({2: [("b", 1), given]})
    retry = Retry(max_attempts=3, initial=0.001)

    with pytest.raises(InvalidResult, match=f"^key 2: {told}"):
        joined(table, {"user": [1, 2]}, retry=retry)
    rows, _ = joined(table, {"user": [1, 2]}, on_error="skip", retry=retry)

    assert rows == [row(1, "town 1")]
    assert table.asked == [[1, 2]] * 2


ERRORS = pa.field("error", ERROR_TYPE)


@pytest.mark.parametrize("lists", [None, "found"])
def test_a_key_that_fails_fails_its_rows_alone(lists: str | None) -> None:
    table = Noted({2: LookupError("gone")})
    batch = {"user": [1, 2, 3, 2]}
    retry = Retry(max_attempts=2, initial=0.001)

    rows, figures = joined(table, batch, on_error="skip", lists=lists)
    assert [each["user"] for each in rows] == [1, 3]
    assert (figures.errors, figures.rows_done) == (2, 4)
    rows, _ = joined(table, batch, on_error="column", errors=ERRORS, lists=lists, retry=retry)
    assert [each["error"] and each["error"]["type"] for each in rows] == [
        *(None, "LookupError", None, "LookupError"),
    ]
    told = "key 2: the call failed: LookupError('gone') (after 2 attempts)"
    assert rows[1]["error"] == {"type": "LookupError", "message": told, "attempts": 2}
    assert rows[1].get("found") == (None if lists is None else [{"town": None, "size": None}])
    with pytest.raises(CallFailed, match=r"^key 2: the call failed: LookupError\('gone'\)"):
        joined(table, batch, lists=lists)


def test_a_task_that_is_left_early_tells_what_closing_raises() -> None:
    class Stuck(Noted):
        async def close(self) -> None:
            raise OSError("close")

    table = Stuck()
    given = [pa.RecordBatch.from_pydict({"user": [user]}) for user in range(3)]
    work = _work(table, {"cache": None})
    rows: Any = work.run(iter(given))
    next(rows)
    with pytest.raises(OSError, match="close"):
        rows.close()

    table.rows = {1: LookupError("gone")}
    with pytest.raises(CallFailed) as caught:
        [*work.run(iter(given))]
    assert "OSError('close')" in caught.value.__notes__[-1]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (None, r"LookupError\('gone'\)"),
        (("?", 1), "the failure handler raised SchemaMismatch"),
        ({"town": "?"}, "the failure handler raised TypeError.*expected rows, got .*"),
        ([("?", "1")], "column size takes bigint, got '1'"),
    ],
)
def test_a_function_may_give_none_but_nothing_else(given: Any, told: str) -> None:
    table = Noted({2: LookupError("gone")})
    with pytest.raises(CallFailed, match=f"^key 2: .*{told}"):
        joined(table, {"user": [2]}, on_error=lambda *_: given)


def test_a_table_is_read_whole_with_its_keys_and_rows_held_to_their_types() -> None:
    table = Readable({1: [("a", 1), ("b", 2)], None: [("c", 3)]})

    rows, figures = joined(table, {"user": [1, None, 2]}, cache=Full())

    assert rows == [row(1, "a"), row(1, "b", 2), row(None, None, None), row(2, None, None)]
    assert (figures.hits, figures.null_keys, figures.calls) == (2, 1, 1)
    table.rows["2"] = [("d", 4)]
    with pytest.raises(Exception, match=r"^key '2': column id takes bigint, got '2' \(str\)"):
        joined(table, {"user": [1]}, cache=Full())
    table.rows = {(1,): [("a", 1)]}
    with pytest.raises(Exception, match=r"^key \(1,\): column id takes bigint, got \(1,\) \(tuple"):
        joined(table, {"user": [1]}, cache=Full())
    table.rows = {1: [("a", "1")]}
    with pytest.raises(Exception, match=r"^key 1: column size takes bigint, got '1' \(str\)"):
        joined(table, {"user": [1]}, cache=Full())
    assert table.log[-3:] == ["open", "read", "close"]


def _run(table: Any, users: list[Any], identity: bytes, cache: Any = CACHE) -> list[Any]:
    work = _work(table, {"identity": identity, "cache": cache})
    batches = iter([pa.RecordBatch.from_pydict({"user": users})])
    return [each for batch in work.run(batches) for each in batch.to_pylist()]


@pytest.mark.parametrize("cache", [CACHE, Full()])
def test_the_next_task_of_a_process_finds_what_is_kept(cache: Any) -> None:
    one, two = Readable({1: [("one", 1)]}), Readable({1: [("two", 2)]})

    for _ in range(2):
        assert _run(one, [1], b"one", cache) == [row(1, "one")]
        assert _run(two, [1], b"two", cache) == [row(1, "two", 2)]

    read = "read" if isinstance(cache, Full) else [1]
    assert one.log == two.log == ["open", read, "close", "open", "close"]


def test_leaving_early_closes_the_table() -> None:
    table, left = Noted(), [pa.RecordBatch.from_pydict({"user": [n]}) for n in range(20)]

    def batches() -> Iterator[pa.RecordBatch]:
        while left:
            yield left.pop(0)

    run = _work(table, {}).run(batches())
    assert next(run).to_pylist() == [row(0, "town 0")]
    run.close()  # type: ignore[attr-defined]

    assert table.log[-1] == "close"
    assert left == []
    asked = len(table.asked)
    assert _run(table, [0], b"") == [row(0, "town 0")]
    assert len(table.asked) == asked
