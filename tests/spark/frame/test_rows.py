"""Rows as arguments and as output, and those that fail, without Spark."""

import asyncio
from copy import copy
from math import nan
from typing import Any
from urllib.error import HTTPError

import pyarrow as pa
import pytest
from frames import Service, rows_of, work_of
from msgspec.structs import replace
from pyspark.errors import PySparkAttributeError, PySparkRuntimeError
from pyspark.sql import Row

from asyncwait.backends.journal import Journal
from asyncwait.backends.spark import SchemaMismatch, Share, TooManyFailed
from asyncwait.backends.spark.frame._rows import FrameRows, Shape, UnreadableRow, row_class
from asyncwait.backends.spark.frame._task import Counts
from asyncwait.spec import (
    Batch,
    Cache,
    CallFailed,
    CallTimedOut,
    InvalidConfig,
    OperatorError,
    Retry,
)

TABLE = pa.table(
    {
        "id": pa.array(range(10), pa.int64()),
        "city": [f"c{number}" for number in range(10)],
        "load": [b"x" * number for number in range(10)],
    }
)
DOUBLED = pa.schema([("twice", pa.int64())])


def enriched(
    fn: Any, *, batch_size: int = 4, counts: Counts | None = None, **options: Any
) -> list[dict[str, Any]]:
    asked = {"results": DOUBLED, "carried": ("id",), "capacity": 3, "max_held": 100, **options}
    batches = iter(TABLE.to_batches(batch_size))
    with work_of(fn, **asked).partition(batches, 7, counts) as partition:
        return [row for batch in partition for row in batch.to_pylist()]


async def double(value: int) -> dict[str, int]:
    await asyncio.sleep(0.001 * (10 - value))
    return {"twice": 2 * value}


def block(value: int) -> tuple[int]:
    return (2 * value,)


EXPECTED = [{"id": number, "twice": 2 * number} for number in range(10)]


@pytest.mark.parametrize("fn", [double, block])
@pytest.mark.parametrize("batch_size", [1, 4, 100])
def test_results_stand_behind_the_rows_that_they_are_of(fn: Any, batch_size: int) -> None:
    assert enriched(fn, batch_size=batch_size) == EXPECTED


def test_the_function_is_given_rows_like_those_of_pyspark() -> None:
    names = ("id", "two words", "count", "__class__", "id")
    row = tuple.__new__(row_class(names), (7, "x", 3, "y", 8))
    own = Row(*names)(7, "x", 3, "y", 8)
    assert row == own
    assert isinstance(row, Row)
    assert (row.id, row["id"], row[4], getattr(row, "two words")) == (7, 7, 8, "x")
    assert (row["count"], row["__class__"], row.asDict()) == (3, "y", own.asDict())
    assert row.count(3) == own.count(3) == 1
    assert repr(row) == repr(own)
    assert "id" in row
    assert "x" not in row
    again = copy(row)  # as pickling does it
    assert (again, type(again), again.id) == (own, Row, 7)
    with pytest.raises(PySparkAttributeError):
        _ = row.town
    with pytest.raises(PySparkRuntimeError):
        row.id = 8


def test_what_is_carried_is_what_came() -> None:
    rows = enriched(double, carried=["load", "city"])
    expected = [{"load": b"x" * n, "city": f"c{n}", "twice": 2 * n} for n in range(10)]
    assert rows == expected
    assert enriched(double, carried=[]) == [{"twice": 2 * n} for n in range(10)]


def is_three(value: int) -> bool:
    return value == 3


@pytest.mark.parametrize(
    ("key", "name"), [((), "row 3 of partition 7: "), (("city", "id"), "row city='c3', id=3: ")]
)
def test_an_error_names_the_row(key: Any, name: str) -> None:
    with pytest.raises(CallFailed) as raised:
        enriched(Service(is_three), key=key)
    assert str(raised.value).startswith(name)


def instead(value: int, error: OperatorError) -> dict[str, int]:
    assert isinstance(error.__cause__, LookupError)
    return {"twice": -value}


@pytest.mark.parametrize(
    ("on_error", "result"), [("skip", []), (instead, [-3]), ("column", [None])]
)
def test_a_row_that_fails_is_left_out_replaced_or_told_of(on_error: Any, result: Any) -> None:
    told = "error" if on_error == "column" else None
    retry = Retry(max_attempts=2, initial=0.001)
    rows = enriched(Service(is_three), on_error=on_error, error_column=told, retry=retry)
    assert [row["twice"] for row in rows] == [0, 2, 4, *result, *(2 * n for n in range(4, 10))]
    if told:
        error = rows[3]["error"]
        assert (error["type"], error["attempts"]) == ("LookupError", 2)
        assert error["message"].startswith("row 3 of partition 7: ")
        assert [row["error"] for row in rows if row["id"] != 3] == [None] * 9


def test_rows_that_have_failed_are_counted_by_cause() -> None:
    async def fn(value: int) -> tuple[int]:
        if value < 3:
            raise HTTPError("http://a.example", 400, "no", None, None)  # type: ignore[arg-type]
        if value == 3:
            await asyncio.sleep(9)
        return (value,)

    retry = Retry(max_attempts=2, initial=0.001)
    handlings: list[Any] = ["skip", "column", lambda *_: (0,)]
    for on_error in handlings:
        counts, told = Counts(), "error" if on_error == "column" else None
        options = {"on_error": on_error, "error_column": told, "retry": retry, "timeout": 0.2}
        enriched(fn, counts=counts, **options)
        assert counts.failed.causes == {"HTTPError 400": 3, "CallTimedOut": 1}
    counts = Counts()
    with pytest.raises(CallFailed):
        enriched(fn, counts=counts, capacity=1)
    assert counts.failed.causes == {"HTTPError 400": 1}


def test_a_deadline_names_its_row() -> None:
    async def hang(value: int) -> tuple[int]:
        await asyncio.sleep(9 if value == 3 else 0)
        return (2 * value,)

    with pytest.raises(CallTimedOut, match=r"^row 3 of partition 7: "):
        enriched(hang, timeout=0.2)


@pytest.mark.parametrize(
    ("given", "shows"),
    [
        (None, "got None"),
        ({"x": 1}, "{'x': 1} (dict)"),
        ((1, 2), "(1, 2) (tuple)"),
        ({"twice": "4"}, "column twice takes bigint, got '4' (str)"),
    ],
)
def test_what_does_not_fit_fails_its_row_and_is_not_asked_for_again(given: Any, shows: str) -> None:
    calls: list[int] = []

    async def fn(value: int) -> Any:
        calls.append(value)
        return given

    with pytest.raises(CallFailed) as raised:
        enriched(fn, capacity=1, retry=Retry(max_attempts=5, initial=0.001))
    assert str(raised.value).startswith("row 0 of partition 7: ")
    assert isinstance(raised.value.__cause__, SchemaMismatch)
    assert shows in str(raised.value.__cause__)
    assert calls == [0]


def test_rows_of_equal_keys_are_called_one_after_the_other() -> None:
    running: list[str] = []

    async def fn(row: Row) -> tuple[int]:
        running.append("x")
        await asyncio.sleep(0.001)
        assert running == ["x"]
        running.clear()
        return (2 * row.id,)

    for cells in ([nan] * 10, [[1.0, nan]] * 10, [{"a": nan}] * 10, [None] * 10):
        table = TABLE.append_column("key", pa.array(cells))
        options = {"mode": "key-ordered", "capacity": 10, "max_held": 100, "key": ("key",)}
        work = work_of(fn, DOUBLED, given=("id",), carried=("id",), **options)
        assert rows_of(work, table) == [tuple(row.values()) for row in EXPECTED]


@pytest.mark.parametrize(
    ("given", "key", "named"),
    [
        ("text", ("id",), "row id=7, column text"),
        (("id", "text"), (), "row 7 of partition 0, column text"),
        ("inside", ("text",), r"row text=b'\xff!', column inside"),
    ],
)
def test_a_text_that_is_no_utf_8_is_named_with_its_row_and_column(
    given: Any, key: tuple[str, ...], named: str
) -> None:
    texts = pa.array([b"fine"] * 7 + [b"\xff!"] + [b"fine"] * 2, pa.binary())
    text = pa.Array.from_buffers(pa.string(), len(texts), texts.buffers())
    inside = pa.StructArray.from_arrays([text], ["text"])
    batch = pa.record_batch({"id": range(10), "text": text, "inside": inside})
    rows = FrameRows(Shape(given, (), DOUBLED, key))
    list(
        rows.decode(pa.record_batch({name: batch.column(name)[:0] for name in batch.schema.names}))
    )

    with pytest.raises(UnreadableRow) as caught:
        rows.decode(batch)

    assert str(caught.value).startswith(f"{named}: ")


class Batches(Service):
    async def __call__(self, values: list[int]) -> list[Any]:  # type: ignore[override]
        self.calls += values
        return [LookupError(value) if self.fails(value) else (value,) for value in values]


def run(fn: Any, share: float, of: int, rows: int = 1_000, **options: Any) -> list[Any]:
    asked = {"on_error": "skip", "fail_after": Share(share, of=of), **options}
    work = work_of(fn, {"n": pa.int64()}, **asked)
    return [n for (n,) in rows_of(work, pa.table({"id": range(rows)}), 100)]


def is_tenth(value: int) -> bool:
    return value % 10 == 0


@pytest.mark.parametrize(
    ("service", "options"),
    [
        (Service(is_tenth), {}),
        (Service(is_tenth), {"mode": "unordered"}),
        (Service(is_tenth), {"mode": "key-ordered", "key": ("id",)}),
        (Service(is_tenth), {"on_error": lambda *_: (0,)}),
        (Service(is_tenth), {"cache": Cache(10, ttl=9, key=lambda value: value % 10)}),
        (Batches(is_tenth), {"batch": Batch(max_size=5), "capacity": 10}),
    ],
    ids=["ordered", "unordered", "keys", "handler", "cache", "batches"],
)
@pytest.mark.usefixtures("nothing_kept")
def test_a_task_ends_with_the_failure_that_is_too_much(
    service: Service, options: dict[str, Any]
) -> None:
    with pytest.raises(TooManyFailed) as raised:
        run(service, 0.1, 100, **options)
    assert str(raised.value) == (
        "11 of 101 rows of this task have failed, more than fail_after=Share(share=0.1, of=100) "
        "allows: 11 LookupError"
    )
    assert len(service.calls) <= 102 + options.get("capacity", 0)  # the next may have begun


def test_a_task_with_few_rows_is_never_ended() -> None:
    assert run(Service(bool), 0, 100, rows=99, capacity=20) == [0]


def test_what_failed_before_there_were_enough_is_judged_at_the_end() -> None:
    with pytest.raises(TooManyFailed, match=r"^90 of 1,000 rows"):
        run(Service(lambda value: value < 90), 0.05, 100, rows=1_000, capacity=20)


def test_failures_that_a_journal_keeps_count(journal: Journal) -> None:
    service = Service(lambda value: value % 2 == 0)
    for _ in range(2):
        with pytest.raises(TooManyFailed, match=r"^6 of 11 rows .*: 6 LookupError$"):
            run(service, 0.5, 10, journal=replace(journal, failures=True))
    assert len(service.calls) <= 12


@pytest.mark.parametrize(
    ("share", "of", "named"),
    [
        *((share, 10, "share") for share in (1, -0.1, float("nan"), True, "5%")),
        *((0.1, of, "of") for of in (0, 1.5)),
    ],
)
def test_what_is_no_share_is_refused(share: Any, of: Any, named: str) -> None:
    with pytest.raises(InvalidConfig, match=rf"^{named} must be "):
        Share(share, of=of)
