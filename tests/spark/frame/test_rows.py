"""How rows become what the function is given, and what goes out for them, without Spark."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from math import nan
from typing import Any
from urllib.error import HTTPError

import pyarrow as pa
import pytest
from pyspark.errors import PySparkAttributeError, PySparkRuntimeError
from pyspark.sql import Row

from asyncwait.backends.spark import SchemaMismatch
from asyncwait.backends.spark.frame._errors import FailedRows
from asyncwait.backends.spark.frame._opening import Options
from asyncwait.backends.spark.frame._rows import FrameRows, Shape, UnreadableRow, row_class
from asyncwait.backends.spark.frame._task import Enrichment
from asyncwait.spec import CallFailed, CallTimedOut, OperatorError, Retry

TABLE = pa.table(
    {
        "id": pa.array(range(10), pa.int64()),
        "city": [f"c{number}" for number in range(10)],
        "load": [b"x" * number for number in range(10)],
    }
)
DOUBLED = pa.schema([("twice", pa.int64())])


def enriched(
    fn: Any,
    *,
    batch_size: int = 4,
    mode: Any = "ordered",
    results: pa.Schema = DOUBLED,
    given: Any = "id",
    carried: Sequence[str] = ("id",),
    key: Sequence[str] = (),
    failed: FailedRows | None = None,
    **options: Any,
) -> list[dict[str, Any]]:
    batches: Iterator[pa.RecordBatch] = iter(TABLE.to_batches(batch_size))
    shape = Shape(given, tuple(carried), results, tuple(key))
    defaults: dict[str, Any] = {
        "timeout": None,
        "capacity": 3,
        "max_held": 100,
        "retry": None,
        "on_error": None,
        "many": False,
        "error_column": None,
    }
    work = Enrichment(fn, shape, "UTC", Options(mode, **{**defaults, **options}))
    with work.partition(batches, 7, failed=failed) as partition:
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


def failing(*numbers: int) -> Callable[[int], Any]:
    async def fn(value: int) -> tuple[int]:
        if value in numbers:
            raise LookupError(f"no {value}")
        return (2 * value,)

    return fn


@pytest.mark.parametrize(
    ("key", "name"), [((), "row 3 of partition 7: "), (("city", "id"), "row city='c3', id=3: ")]
)
def test_an_error_names_the_row(key: Any, name: str) -> None:
    with pytest.raises(CallFailed) as raised:
        enriched(failing(3), key=key)
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
    rows = enriched(failing(3), on_error=on_error, error_column=told, retry=retry)
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
        failed, told = FailedRows(), "error" if on_error == "column" else None
        options = {"on_error": on_error, "error_column": told, "retry": retry, "timeout": 0.2}
        enriched(fn, failed=failed, **options)
        assert failed.causes == {"HTTPError 400": 3, "CallTimedOut": 1}
    failed = FailedRows()
    with pytest.raises(CallFailed):
        enriched(fn, failed=failed, capacity=1)
    assert failed.causes == {"HTTPError 400": 1}


def test_a_deadline_names_its_row_and_asks_its_handler() -> None:
    async def hang(value: int) -> tuple[int]:
        await asyncio.sleep(9 if value == 3 else 0)
        return (2 * value,)

    with pytest.raises(CallTimedOut, match=r"^row 3 of partition 7: "):
        enriched(hang, timeout=0.2)
    with_handler: Any = hang
    with_handler.timeout = lambda value: (-value,)
    assert enriched(with_handler, timeout=0.2)[3] == {"id": 3, "twice": -3}


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
        shape = Shape(("id",), ("id",), DOUBLED, ("key",))
        options = Options("key-ordered", None, 10, 100, None, None, False, None)
        work = Enrichment(fn, shape, "UTC", options)
        rows = [row for batch in work.run(iter(table.to_batches())) for row in batch.to_pylist()]
        assert rows == EXPECTED


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
