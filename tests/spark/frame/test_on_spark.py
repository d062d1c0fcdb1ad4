"""The operator on DataFrames of a real Spark."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, TypedDict

import msgspec
import pytest
from forging import assert_is_ours
from pyspark import cloudpickle
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, Row

from asyncwait.backends.journal import Journal, JournalMismatch
from asyncwait.backends.services import Budget, Cost, Limit
from asyncwait.backends.spark import (
    EmbeddedSpark,
    Progress,
    ordered_wait,
    unordered_wait,
)
from asyncwait.backends.spark.frame._task import Enrichment
from asyncwait.spec import Cache, Retry

# A worker can't import the tests, so what they define travels whole.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


@pytest.fixture
def cities(spark: EmbeddedSpark) -> DataFrame:
    return spark.session.range(0, 100, 1, 3).selectExpr("id", "concat('c', id) AS city")


async def twice(row: Row) -> dict[str, int]:
    return {"twice": 2 * row.id}


def block(value: int) -> tuple[int]:
    return (2 * value,)


TWICE = [Row(id=n, city=f"c{n}", twice=2 * n) for n in range(100)]


def test_results_are_columns_of_their_rows(
    cities: DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    out = unordered_wait(cities, twice, "twice long")
    parts = [sorted(part) for part in out.rdd.glom().collect()]
    assert parts == [TWICE[:33], TWICE[33:66], TWICE[66:]]
    out.explain()
    assert "twice(" in capsys.readouterr().out  # Spark shows the name in its pages
    out = cities.transform(ordered_wait, block, "twice long", columns="id", capacity=7)
    assert out.collect() == TWICE


@dataclass
class Place:
    lat: float | None
    names: dict[str, int]


class Spot(msgspec.Struct):
    """Where it is, too; a class that can't travel with a script, but be imported."""

    lat: float
    tags: list[str]


class Both(TypedDict):
    place: Place | None
    seen: datetime


def test_the_schema_may_be_what_the_function_says_that_it_returns(cities: DataFrame) -> None:
    async def place(row: Row) -> Place:
        return Place(None, {row.city: row.id})

    async def spot(row: Row) -> Spot:
        return Spot(row.id, [])

    async def both(row: Row) -> list[Both]:
        return [{"place": Place(1.5, {"x": row.id}), "seen": datetime(2026, 1, 1, tzinfo=UTC)}]

    of_a_place = "lat:double,names:map<string,bigint>"
    first = cities.limit(1)
    out = ordered_wait(first, place)
    assert out.schema.simpleString() == f"struct<id:bigint,city:string,{of_a_place}>"
    assert out.collect() == [Row(id=0, city="c0", lat=None, names={"c0": 0})]
    out = ordered_wait(first, spot, keep=[])
    assert out.schema.simpleString() == "struct<lat:double,tags:array<string>>"
    out = ordered_wait(first, both, many=True, keep=[])
    assert out.schema.simpleString() == f"struct<place:struct<{of_a_place}>,seen:timestamp>"
    assert out.collect()[0].place == Row(lat=1.5, names={"x": 0})


TYPES = """
    SELECT 1Y AS tiny, 2S AS small, 3 AS whole, 4L AS long, CAST(NULL AS int) AS none,
        1.5F AS single, CAST('NaN' AS double) AS nan, CAST(NULL AS double) AS no_number,
        CAST(1.25 AS decimal(5, 2)) AS price, 'Zoë' AS text, X'00FF' AS raw, true AS yes,
        DATE '2026-02-28' AS day, TIMESTAMP '2026-07-01 12:00:00.000001' AS instant,
        TIMESTAMP_NTZ '2026-07-01 12:00:00' AS clock, INTERVAL '1 02:03:04' DAY TO SECOND AS span,
        array(1, NULL, 3) AS list, map('a', 1.5D, 'b', NULL) AS pairs,
        named_struct('x', 1, 'inner', named_struct('y', DATE '2026-01-01')) AS nested,
        array(map('k', named_struct('z', TIMESTAMP '2026-01-01 00:00:00'))) AS deep
"""


def test_values_of_all_types_go_in_and_come_out_again(spark: EmbeddedSpark) -> None:
    with in_zone(spark.session, "Europe/Berlin"):
        df = spark.session.sql(TYPES)

        async def same(row: Row) -> Row:
            assert row.instant.tzinfo is not None
            assert row.price == Decimal("1.25")
            assert row.day == date(2026, 2, 28)
            return row

        through = ordered_wait(df, same, df.schema, keep=[]).collect()
        expected = df.collect()
    assert repr(through) == repr(expected)


def test_a_row_that_fails_fails_the_job_or_tells_of_it(cities: DataFrame) -> None:
    async def fail(row: Row) -> tuple[int]:
        if row.id == 41:
            raise LookupError("no such city")
        return (row.id,)

    with pytest.raises(PythonException) as raised:
        ordered_wait(cities, fail, "n long", key="city").collect()
    text = str(raised.value)
    assert "row city='c41': the call failed: LookupError(" in text
    assert 'raise LookupError("no such city")' in text
    assert text.splitlines()[-1] == (
        "row city='c41', Row(id=41, city='c41'): the call failed: LookupError('no such city'), "
        "after 1 attempt"
    )
    assert len([line for line in text.splitlines() if "/asyncwait/" in line]) == 1
    retry = Retry(max_attempts=2, initial=0.001)
    out = ordered_wait(cities, fail, "n long NOT NULL", on_error="column", key="city", retry=retry)
    rows = out.filter("error IS NOT NULL").collect()
    error = rows[0].error
    assert rows == [Row(id=41, city="c41", n=None, error=error)]
    assert (error.type, error.attempts) == ("LookupError", 2)
    assert error.message.startswith("row city='c41': ")


def test_help_tells_of_every_argument() -> None:
    for wait, name in ((ordered_wait, "ordered_wait"), (unordered_wait, "unordered_wait")):
        assert (wait.__name__, wait.__module__) == (name, "asyncwait.backends.spark")  # type: ignore[attr-defined]
        assert "max_held: finished rows of a task" in (wait.__doc__ or "")
        unknown: Any = {"jounral": "path"}
        with pytest.raises(TypeError, match=rf"{name}.* 'jounral'; did you mean 'journal'"):
            wait(None, None, **unknown)  # type: ignore[arg-type]


def note(calls: Path) -> None:
    with calls.open("ab", 0) as file:
        file.write(b"1")


def test_progress_tells_what_calls_cost_and_who_keeps_the_limits(spark: EmbeddedSpark) -> None:
    async def fn(row: Row) -> Cost[tuple[int]]:
        return Cost((row.id,), {"tokens": row.id, "USD": 0.5, "pages": 2})

    limits = [Limit(cost=lambda _: 99, up_to=10_000, per=1, unit="tokens"), Budget(99, "USD")]
    with Progress(session=spark.session) as progress:
        df = spark.session.range(0, 100, 1, 2)
        assert ordered_wait(df, fn, "n long", limits=limits, progress=progress).count() == 100
    done = progress.figures()
    assert done.costs == {"tokens": sum(range(100)), "USD": 50, "pages": 200}
    assert "4,950 tokens, 50 USD" in progress.summary()
    assert "limits  kept by the driver" in progress.summary()


def test_a_spent_budget_ends_the_job_and_the_journal_goes_on_from_there(
    spark: EmbeddedSpark, tmp_path: Path
) -> None:
    calls = tmp_path / "calls"

    async def fn(row: Row) -> tuple[int]:
        note(calls)
        return (row.id,)

    df = spark.session.range(0, 60, 1, 2)
    options: dict[str, Any] = {"journal": Journal(str(tmp_path / "journal"), "job", "1")}
    path = str(tmp_path / "budget")
    with pytest.raises(Exception, match="20 of a budget of 20 calls are spent"):
        ordered_wait(df, fn, "out long", limits=[Budget(20, path=path)], **options).collect()
    assert calls.stat().st_size <= 20
    df = spark.session.range(0, 60, 1, 3)
    with Progress(show=False) as progress:
        options |= {"limits": [Budget(99, path=path)], "progress": progress}
        assert ordered_wait(df, fn, "out long", **options).count() == 60
    told = progress.figures()
    assert (told.calls + told.found, told.rows_out) == (60, 60)
    assert told.found > 0


def test_an_action_goes_on_where_a_killed_worker_left_off(
    spark: EmbeddedSpark, tmp_path: Path
) -> None:
    calls, capacity = tmp_path / "calls", 5

    async def fn(value: int) -> tuple[int]:
        note(calls)
        if value == 30 and calls.stat().st_size < 60:
            os.kill(os.getpid(), signal.SIGKILL)
        return (2 * value,)

    df = spark.session.range(0, 60, 1, 1)
    with Progress(60, show=False) as progress:
        options = {"journal": Journal(str(tmp_path / "journal"), "job", "1"), "progress": progress}
        out = ordered_wait(df, fn, "twice long", columns="id", capacity=capacity, **options)
        with pytest.raises(Exception, match="Python worker exited unexpectedly"):
            out.collect()
        calls.write_bytes(bytes(60))
        assert out.collect() == [Row(id=n, twice=2 * n) for n in range(60)]
    told = progress.figures()
    assert (told.attempts_failed, told.rows_done, told.total) == (1, 60, 60)
    assert 60 <= calls.stat().st_size - 60 + 30 <= 60 + capacity


def test_no_more_is_called_for_than_somebody_wants(spark: EmbeddedSpark, tmp_path: Path) -> None:
    calls = tmp_path / "calls"

    async def fn(value: int) -> tuple[int]:
        note(calls)
        await asyncio.sleep(0.05)
        return (value,)

    df = spark.session.range(0, 20_000, 1, 1)
    out = ordered_wait(df, fn, "n long", columns="id", capacity=10)
    assert [row.n for row in out.limit(3).collect()] == [0, 1, 2]
    ended = spark.session.sparkContext.statusTracker().getActiveStageIds
    while ended():
        time.sleep(0.05)  # of the task, which Spark does not wait for
    assert calls.stat().st_size < 500


def test_an_error_with_half_a_character_and_lines_that_are_forged_fails_the_job(
    spark: EmbeddedSpark,
) -> None:
    async def fn(value: int) -> tuple[int]:
        raise LookupError("half \ud800 of it\x1b[2J\n::error::CANARY\nCANARY: conformant")

    df = spark.session.range(1)
    with pytest.raises(PythonException, match=r"half \\ud800 of it") as raised:
        ordered_wait(df, fn, "n long", columns="id", key="id").collect()
    assert "row id=0: the call failed" in str(raised.value)
    assert_is_ours(str(raised.value).expandtabs())


SETTINGS: list[tuple[str, dict[str, Any]]] = [
    ("columns", {"columns": ["c"]}),
    ("columns zone", {"columns": "d"}),
    ("schema", {"schema": "s string"}),
    ("many", {"many": True}),
    ("zone", {}),
    ("", {"retry": Retry()}),
    ("", {"on_error": "column"}),
]
"""Changes, and the settings of a journal that they change."""


def test_settings_that_differ_share_no_result(spark: EmbeddedSpark, tmp_path: Path) -> None:
    df = spark.session.sql("SELECT timestamp'2026-01-02' AS c, 1 AS d")
    kept = {"journal": Journal(str(tmp_path / "journal"), "job", "1")}

    async def fn(value: Any) -> tuple[str]:
        return (repr(value),)

    def planned(**options: Any) -> Enrichment:
        asked = {"schema": "r string", "columns": "c", "keep": [], **options}
        return ordered_wait.plan(df, fn, **asked).work

    planned(**kept)
    cached = [planned(cache=Cache(9, ttl=9)).identity]
    for name, options in SETTINGS:
        with in_zone(spark.session, "Asia/Tokyo" if name == "zone" else None):
            cached.append(planned(cache=Cache(9, ttl=9), **options).identity)
            with pytest.raises(JournalMismatch) if name else nullcontext() as refused:
                planned(**kept, **options)
            assert refused is None or refused.value.differs.keys() == {*name.split()}
    assert len({*cached}) == 1 + len(SETTINGS)
    with Progress(session=spark.session) as progress:
        assert planned(cache=Cache(9, ttl=9), progress=progress).identity == cached[0]


@contextmanager
def in_zone(session: Any, name: str | None) -> Iterator[None]:
    before = session.conf.get("spark.sql.session.timeZone")
    session.conf.set("spark.sql.session.timeZone", name or before)
    try:
        yield
    finally:
        session.conf.set("spark.sql.session.timeZone", before)


def test_a_micro_batch_that_is_replayed_is_not_called_twice(
    spark: EmbeddedSpark, tmp_path: Path
) -> None:
    calls = tmp_path / "calls"

    async def fn(value: int) -> tuple[int]:
        note(calls)
        return (value,)

    source = tmp_path / "in"
    session = spark.session
    for _ in range(2):
        session.range(0, 5, 1, 1).write.mode("append").json(str(source))
    stream = session.readStream.schema("id long").option("maxFilesPerTrigger", 1).json(str(source))
    out = ordered_wait(stream, fn, "n long", columns="id", journal=str(tmp_path / "journal"))

    def run() -> None:
        writer = out.writeStream.format("parquet").trigger(availableNow=True)
        writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
        assert writer.start(str(tmp_path / "out")).awaitTermination(60)

    run()
    assert calls.stat().st_size == 10
    # As if the query had died before it could say that its last batch was done.
    for folder in (tmp_path / "checkpoint" / "commits", tmp_path / "out" / "_spark_metadata"):
        for file in folder.glob("*1*"):
            file.unlink()
    run()
    assert calls.stat().st_size == 10
    rows = session.read.parquet(str(tmp_path / "out")).collect()
    assert sorted(row.n for row in rows) == sorted([*range(5), *range(5)])
