"""Arguments that are refused before a job runs."""

import threading
from typing import Any

import pandas as pd
import pytest
from pyspark.sql.types import LongType, StructField, StructType

from asyncwait.backends.journal import Journal
from asyncwait.backends.lookup import FunctionTable
from asyncwait.backends.services import Budget, InFlight, Limit, Limits
from asyncwait.backends.spark import (
    EmbeddedSpark,
    Share,
    key_ordered_wait,
    lookup_join,
    ordered_wait,
)
from asyncwait.spec import Batch, Cache, InvalidConfig, Retry


async def echo(row: Any) -> Any:
    return row


class Needy:
    def __init__(self, what: str) -> None:
        raise NotImplementedError(what)

    async def __call__(self, row: Any) -> Any:
        return row


class Callback:
    def async_invoke(self, value: Any, result: Any) -> None:
        """Answer."""


class Blocking:
    def __call__(self, row: Any) -> Any:
        return row


FIELD = StructField("n", LongType())
CACHE, BATCH, SHARED = Cache(9, ttl=9), Batch(max_size=4), Limits([InFlight(3)])
CITY = "SELECT 1L id, 'c' city"
NESTED = "SELECT array(1L) pair, map('a', 1L) m, 1L id"
REFUSED: list[tuple[str, dict[str, Any], Any]] = [
    ("fn: 'x' (str)", {"fn": "x"}, CITY),
    ("fn: callback form", {"fn": Callback()}, CITY),
    ("fn: <class 'int'> (type)", {"fn": int}, CITY),
    ("fn: can't travel to the workers", {"fn": threading.Lock().acquire}, CITY),
    ("fn: with one argument", {"fn": lambda a, b: (a, b)}, CITY),
    ("fn: without arguments", {"fn": Needy}, CITY),
    ("schema: DDL", {"schema": None}, CITY),
    ("schema: 5 (int)", {"schema": 5}, CITY),
    ("schema: 'n lonk'", {"schema": "n lonk"}, CITY),
    ("schema: StructType", {"schema": StructType([])}, CITY),
    ("schema: 'n' (str)", {"schema": StructType([FIELD, FIELD])}, CITY),
    ("schema: interval year", {"schema": "n interval year"}, CITY),
    ("schema: varchar(3)", {"schema": "n varchar(3)"}, CITY),
    ("columns: id, city, got 'x' (str)", {"columns": ["x"]}, CITY),
    ("columns has a column x: use map_entries", {}, "SELECT map(array(1L), 1L) x"),
    ("columns has a column x: use map_entries", {}, "SELECT array(map(struct(1L), 1L)) x"),
    ("columns has a column x: cast it before", {}, "SELECT INTERVAL '1' YEAR x"),
    ("keep: 'id' (str)", {"keep": "id"}, CITY),
    ("keep: 'id' (str)", {"schema": "id long", "keep": ["id"]}, CITY),
    ("key: id, city, got 'x' (str)", {"key": "x"}, CITY),
    ("key: a column", {"wait": key_ordered_wait}, CITY),
    ("capacity: 0 (int)", {"capacity": 0}, CITY),
    ("on_error: 'ignore' (str)", {"on_error": "ignore"}, CITY),
    ("error_column: names", {"on_error": "column", "error_column": "ID"}, CITY),
    ("progress: True", {"progress": True}, CITY),
    ("batch: must be a Batch", {"batch": 4}, CITY),
    ("batch.max_size: must be", {"batch": BATCH, "capacity": 3}, CITY),
    ("batch.max_size: must be", {"batch": BATCH, "max_in_flight": 6, "max_tasks": 2}, CITY),
    (
        "batch.split: must be False with a journal or `once`",
        {"batch": Batch(split=True), "retry": Retry(), "journal": Journal("here", "job", "1")},
        CITY,
    ),
    (
        "batch: failures=True",
        {"batch": BATCH, "journal": Journal("here", "job", "1", failures=True)},
        CITY,
    ),
    ("fail_after: got 0.5", {"fail_after": 0.5, "on_error": "skip"}, CITY),
    ("fail_after: None", {"fail_after": Share(0.5), "on_error": "fail"}, CITY),
    ('fail_after: where `on_error` is "fail"', {"fail_after": Share(0.5)}, CITY),
    ("cache: must be a Cache or None, got 7", {"cache": 7}, CITY),
    ("cache: None with a `batch`", {"cache": CACHE, "batch": BATCH}, CITY),
    ("journal: distinct rows", {"cache": CACHE, "journal": "/nowhere"}, CITY),
    ("fn: a coroutine function with `cache`; await asy", {"fn": len, "cache": CACHE}, CITY),
    ("fn: a coroutine function with `cache`", {"fn": Blocking, "cache": CACHE}, CITY),
    ("cache: pair is array<bigint>", {"cache": CACHE, "columns": "pair"}, NESTED),
    ("cache: m is map<string,bigint>, whose", {"cache": CACHE, "columns": ["id", "m"]}, NESTED),
    ("once: False with a journal", {"once": True, "journal": "journal"}, CITY),
    ("once: False with `cache`", {"once": True, "cache": CACHE}, CITY),
    ("once: True or False, got 'yes'", {"once": "yes"}, CITY),
    ("max_in_flight: at least one call for each of 4", {"max_in_flight": 3, "max_tasks": 4}, CITY),
    ("max_in_flight: 0", {"max_in_flight": 0}, CITY),
    ("max_in_flight: True", {"max_in_flight": True}, CITY),
    ("calls_per_second: 0", {"calls_per_second": 0}, CITY),
    ("max_tasks: 0", {"calls_per_second": 5, "max_tasks": 0}, CITY),
    ("adaptive: 1", {"adaptive": 1}, CITY),
    ("limits: at least one", {"limits": [Limit(calls=3, per=1)], "max_tasks": 4}, CITY),
    ("limits: no Budget with max_tasks", {"limits": [Budget(3)], "max_tasks": 4}, CITY),
    ("limits: no Budget that stops", {"limits": [Budget(3, then="stop")]}, CITY),
    ("limits: a list", {"limits": InFlight(3)}, CITY),
    ("limits: put InFlight", {"limits": SHARED, "max_in_flight": 3}, CITY),
    ("limits: a list of limits", {"limits": SHARED, "max_tasks": 2}, CITY),
    ("df: got [1, 2] (list)", {}, [1, 2]),
    ("df: a pandas DataFrame; give spark.createDataFrame(df)", {}, pd.DataFrame({"k": [1]})),
    *(
        ("df: has two columns named 'id'", options, f"SELECT 1 id, 2 {name}, 3 k")
        for name in ("id", "ID")
        for options in ({"columns": "k"}, {"keep": ["k"]}, {"columns": "k", "key": "id"})
    ),
]
"""The argument at fault and what the error says, the arguments, and the input."""


@pytest.mark.parametrize(
    ("told", "options", "source"),
    REFUSED,
    ids=[f"{number} {row[0]}" for number, row in enumerate(REFUSED)],
)
def test_what_is_wrong_is_told_before_a_job_runs(
    spark: EmbeddedSpark, told: str, options: dict[str, Any], source: Any
) -> None:
    df: Any = spark.session.sql(source) if isinstance(source, str) else source
    asked = {"wait": ordered_wait, "fn": echo, "schema": "n long", **options}
    wait, fn, schema = (asked.pop(name) for name in ("wait", "fn", "schema"))
    name, _, shows = told.partition(": ")
    with pytest.raises(InvalidConfig) as raised:
        wait(df, fn, schema, **asked)
    assert str(raised.value).startswith((f"{name} ", f"{name}: "))
    assert shows in str(raised.value)
    if name == "df":
        with pytest.raises(InvalidConfig) as raised:
            lookup_join(df, FunctionTable(echo), on="k", columns="k int, r string")
        assert shows in str(raised.value)
