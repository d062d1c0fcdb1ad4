"""Rows that share calls by their values, without Spark and on a real one."""

import asyncio
import gc
import os
import sys
import weakref
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from frames import rows_of, work_of
from msgspec.structs import replace
from pyspark import cloudpickle
from pyspark.sql import Row

from asyncwait.backends.spark import (
    EmbeddedSpark,
    Progress,
    key_ordered_wait,
    ordered_wait,
)
from asyncwait.backends.spark.frame._cache import shared
from asyncwait.backends.spark.frame._plan import AsPickled, pickled
from asyncwait.backends.spark.frame._task import Enrichment
from asyncwait.spec import Cache, CallFailed, Mode

# A worker can't import the tests, so what they define travels whole.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

pytestmark = pytest.mark.usefixtures("nothing_kept")

CACHE = Cache(100, ttl=600)

USERS = [1, 2, 1, 1, 2, 3]


class Noted:
    def __init__(self, failures: int = 0) -> None:
        self.asked: list[Any] = []
        self.failures = failures

    async def __call__(self, value: Any) -> tuple[str]:
        """Answer a moment later, so that calls run side by side."""
        self.asked.append(value)
        await asyncio.sleep(0)
        if self.failures:
            self.failures -= 1
            raise LookupError(str(value))
        return (f"{value}",)


def run(fn: Any, columns: dict[str, Any], given: Any = "user", **options: Any) -> list[Any]:
    table = pa.table({"place": [*range(len(next(iter(columns.values()))))], **columns})
    return rows_of(_work(fn, given, **options), table)


def _work(fn: Any, given: Any = "user", **options: Any) -> Enrichment:
    asked = {"cache": CACHE, "capacity": 8, "carried": ("place",), "key": ("user",), **options}
    return work_of(fn, {"said": pa.string()}, given=given, **asked)


@pytest.mark.parametrize("mode", ["ordered", "unordered", "key-ordered"])
def test_equal_rows_share_a_call_and_each_goes_out_with_its_own_columns(mode: Mode) -> None:
    fn = Noted()
    expected = [(place, str(user)) for place, user in enumerate(USERS)]
    for _ in range(2):
        assert sorted(run(fn, {"user": USERS}, mode=mode)) == expected
    assert sorted(fn.asked) == [1, 2, 3]


def test_a_row_of_several_columns_is_one_key() -> None:
    fn = Noted()
    found = run(fn, {"user": [1, 1, 1], "town": ["a", "b", "a"]}, ("user", "town"))
    rows = [Row(user=1, town="a"), Row(user=1, town="b")]
    assert (fn.asked, [said for _, said in found]) == (
        rows,
        [str(rows[0]), str(rows[1]), str(rows[0])],
    )


def test_a_row_with_a_null_has_a_call_of_its_own() -> None:
    fn, names = Noted(), {"user": [1, 1, None, None], "town": [None, None, "a", "a"]}
    run(fn, names, ("user", "town"))
    run(fn, {"user": [float("nan")] * 2})
    assert len(fn.asked) == 6

    fn = Noted()
    run(fn, names, ("user", "town"), cache=replace(CACHE, key=repr))
    assert len(fn.asked) == 2


def test_two_instants_an_hour_apart_are_two() -> None:
    zone = pa.timestamp("us", "Europe/Berlin")
    instants = [datetime(2026, 10, 25, hour, 30, tzinfo=UTC) for hour in (0, 1, 0)]
    fn = Noted()
    found = run(fn, {"user": pa.array(instants, zone)})
    assert len(fn.asked) == 2
    assert [said[-6:] for _, said in found] == ["+02:00", "+01:00", "+02:00"]


def test_what_is_kept_holds_nothing_of_the_input() -> None:
    batches = [pa.record_batch({"place": [0], "user": [7]})]
    gone = weakref.ref(batches[0])
    for _ in _work(Noted()).run(iter([batches.pop()])):
        pass
    gc.collect()
    assert gone() is None
    with shared(CACHE, b"") as sharing:
        assert sharing is not None
        assert len(sharing.store.entries) == 1


def test_a_failure_is_one_of_each_row_that_shares_it_and_is_never_kept() -> None:
    fn = Noted(failures=1)
    with pytest.raises(CallFailed, match="row user=1: the call failed: LookupError"):
        run(fn, {"user": [1, 1]})

    fn = Noted(failures=1)
    assert run(fn, {"user": [1, 1]}, on_error=lambda user, _: (f"no {user}",)) == [
        (0, "no 1"),
        (1, "no 1"),
    ]
    assert run(fn, {"user": [1, 1]}) == [(0, "1"), (1, "1")]
    assert fn.asked == [1, 1]


class Written:
    def __init__(self, folder: Path, number: int = 0) -> None:
        self._log = folder / "log"
        self.number = number

    async def __call__(self, user: int) -> tuple[int]:
        with self._log.open("a") as file:
            file.write(f"{self.number} called for {user} in {os.getpid()}\n")
        return (self.number,)

    def calls(self) -> Counter[str]:
        return Counter(self._log.read_text().splitlines())


def test_a_worker_calls_once_for_what_it_keeps(spark: EmbeddedSpark, tmp_path: Path) -> None:
    df = spark.session.range(0, 60, 1, 2).selectExpr("id", "id % 4 AS user")
    for _ in range(2):
        for number in range(2):
            fn = Written(tmp_path, number)
            out = ordered_wait(df, fn, "number long", columns="user", cache=CACHE)
            assert {row.number for row in out.collect()} == {number}

    calls = Written(tmp_path).calls()
    assert len({line.split(" in ")[0] for line in calls}) == 2 * 4
    assert set(calls.values()) == {1}  # in each worker
    assert calls.total() <= 4 * 2 * 2  # of 32 without anything kept from task to task


def test_a_function_travels_as_it_was_when_it_was_planned() -> None:
    number = [1]

    async def fn() -> int:
        return number[0]

    planned = AsPickled(pickled(fn, "fn"))
    number[0] = 2
    arrived = cloudpickle.loads(cloudpickle.dumps(planned))
    assert asyncio.run(arrived()) == 1


async def twice(value: Any) -> tuple[int]:
    return (2 * len(value) if isinstance(value, list) else 2 * value,)


def test_progress_tells_how_rows_were_served(spark: EmbeddedSpark) -> None:
    df = spark.session.range(0, 40, 1, 1).selectExpr("id", "nullif(id % 4, 3) AS user")
    with Progress(session=spark.session) as progress:
        fn = key_ordered_wait(
            df,
            lately,
            "number long",
            columns="user",
            key="id",
            cache=CACHE,
            on_error="column",
            progress=progress,
        )
        found = fn.orderBy("id").collect()

    assert [row.number for row in found] == [None if n % 4 == 3 else n % 4 for n in range(40)]
    figures = progress.figures()
    assert (figures.rows_done, figures.loads, figures.null_keys, figures.calls) == (40, 3, 10, 13)
    assert figures.hits + figures.shared == 27
    assert "3 loads, 10 null keys" in progress.summary()


async def lately(user: int | None) -> tuple[int | None]:
    await asyncio.sleep(0.01)
    return (user,)


def test_values_that_are_no_keys_may_have_one(spark: EmbeddedSpark) -> None:
    df = spark.session.range(4).selectExpr("array(id % 2, 9) AS pair", "id")
    keyed = replace(CACHE, key=tuple)
    out = ordered_wait(df, twice, "number long", columns="pair", keep=["id"], cache=keyed)
    assert out.collect() == [Row(id=n, number=4) for n in range(4)]
