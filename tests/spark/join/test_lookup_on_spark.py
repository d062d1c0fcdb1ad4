"""Lookup joins of DataFrames of a real Spark."""

import re
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark import cloudpickle
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, Row
from pyspark.sql.types import LongType, StringType, StructField, StructType

from asyncwait.backends.lookup import Full, FunctionTable
from asyncwait.backends.spark import EmbeddedSpark, Progress, lookup_join
from asyncwait.spec import Cache, InvalidConfig, Retry

# A worker can't import the tests, so what they define travels whole.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

USERS: dict[str, Any] = {
    "on": {"user": "id"},
    "columns": "id int, town string, size bigint NOT NULL",
    "cache": Cache(1_000, ttl=600),
}


@pytest.fixture
def orders(spark: EmbeddedSpark) -> DataFrame:
    return spark.session.range(0, 12, 1, 3).selectExpr("id", "nullif(id % 6, 5) AS user")


async def towns(keys: Sequence[int]) -> dict[int, Any]:
    return {
        key: [{"town": f"town {key}", "size": number, "more": None} for number in range(key)]
        for key in keys
        if key != 3
    }


def expected(*, is_left: bool, least: int = 0) -> list[Row]:
    rows = []
    for order in range(12):
        user = order % 6 if order % 6 < 5 else None
        sizes = [] if user in (None, 3) else [size for size in range(user) if size >= least]
        rows += [Row(id=order, user=user, town=f"town {user}", size=size) for size in sizes]
        if not sizes and is_left:
            rows.append(Row(id=order, user=user, town=None, size=None))
    return rows


def test_rows_of_the_table_are_columns(orders: DataFrame) -> None:
    table = FunctionTable(towns)

    left = lookup_join(orders, table, **USERS)
    inner = orders.transform(lookup_join, table, how="inner", **USERS)

    assert left.collect() == expected(is_left=True)
    assert [len(part) for part in left.rdd.glom().collect()] == [5, 7, 8]
    assert inner.collect() == expected(is_left=False)
    assert left.schema.simpleString() == "struct<id:bigint,user:bigint,town:string,size:bigint>"
    assert [field.nullable for field in left.schema] == [False, True, True, True]
    assert [field.nullable for field in inner.schema] == [False, True, True, False]
    assert lookup_join(orders.limit(0), table, **USERS).collect() == []


@pytest.mark.parametrize(("how", "of_users"), [("LEFT semi", (1, 2, 4)), ("anti", (None, 0, 3))])
def test_rows_stay_or_go_by_what_the_table_has(orders: DataFrame, how: str, of_users: Any) -> None:
    out = lookup_join(orders, FunctionTable(towns), how=how, **{**USERS, "columns": "id int"})
    where = lookup_join(orders, FunctionTable(towns), how=how, where="t.size >= 0", **USERS)
    rows = [row for row in orders.collect() if row.user in of_users]
    assert (out.collect(), where.collect()) == (rows, rows)


def test_a_condition_decides_before_nulls_are_given(orders: DataFrame) -> None:
    table = FunctionTable(towns)

    left = lookup_join(orders, table, where="t.size >= 2 AND id >= 0 -- so", **USERS)
    inner = lookup_join(orders, table, where="t.size >= 2", how="inner", **USERS)

    assert left.collect() == expected(is_left=True, least=2)
    assert inner.collect() == expected(is_left=False, least=2)
    assert left.columns == ["id", "user", "town", "size"]


def test_a_key_that_fails_fails_the_job_or_tells_of_it(orders: DataFrame) -> None:
    async def fail(keys: Sequence[int]) -> dict[int, Any]:
        return {key: LookupError("gone") if key == 2 else [(f"town {key}", key)] for key in keys}

    options: dict[str, Any] = {**USERS, "where": "id > 6"}
    table = FunctionTable(fail)
    with pytest.raises(PythonException, match=r"key 2: the call failed: LookupError"):
        lookup_join(orders, table, **options).collect()

    retry = Retry(max_attempts=2, initial=0.001)
    out = lookup_join(orders, table, on_error="column", retry=retry, **options)
    told = out.filter("error IS NOT NULL").collect()
    assert [(row.id, row.town, row.error.type, row.error.attempts) for row in told] == [
        (2, None, "LookupError", 2),
        (8, None, "LookupError", 2),
    ]
    assert told[0].error.message.startswith("key 2: ")
    skipped = lookup_join(orders, table, on_error="skip", **options).collect()
    others = out.filter("error IS NULL").drop("error").collect()
    assert skipped == others
    assert {2, 8}.isdisjoint(row.id for row in skipped)


def test_progress_tells_how_keys_were_found(spark: EmbeddedSpark, orders: DataFrame) -> None:
    with Progress(session=spark.session) as progress:
        lookup_join(orders, FunctionTable(towns), progress=progress, **USERS).collect()

    figures = progress.figures()
    assert (figures.rows_in, figures.rows_done, figures.rows_out) == (12, 12, 20)
    assert (figures.null_keys, figures.stale, figures.errors) == (2, 0, 0)
    assert figures.hits + figures.shared + figures.loads == 10
    assert ", 2 null keys" in progress.summary()


def test_a_stream_is_joined_batch_by_batch(spark: EmbeddedSpark, tmp_path: Path) -> None:
    session, source = spark.session, tmp_path / "in"
    for user in (1, 2):
        session.createDataFrame([(user,)], "user long").write.mode("append").json(str(source))
    stream = session.readStream.schema("user long").option("maxFilesPerTrigger", 1)
    table = FunctionTable(towns)
    out = lookup_join(stream.json(str(source)), table, where="t.size = 0", **USERS)
    query = out.writeStream.format("memory").queryName("joined").trigger(availableNow=True).start()
    query.awaitTermination()
    found = session.table("joined").orderBy("user").collect()
    assert found == [Row(user=1, town="town 1", size=0), Row(user=2, town="town 2", size=0)]


TYPES = """
    SELECT 1Y AS tiny, 4L AS long, CAST(NULL AS int) AS none, 1.5F AS single, 2.5D AS double,
        CAST(1.25 AS decimal(5, 2)) AS price, 'Zoë' AS text, X'00FF' AS raw, true AS yes,
        DATE '2026-02-28' AS day, TIMESTAMP '2026-07-01 12:00:00.000001' AS instant,
        TIMESTAMP_NTZ '2026-07-01 12:00:00' AS clock, INTERVAL '1 02:03:04' DAY TO SECOND AS span,
        array(1, NULL, 3) AS list, map('a', 1.5D, 'b', NULL) AS pairs,
        named_struct('x', 1, 'inner', named_struct('y', DATE '2026-01-01')) AS nested
"""


def test_values_of_all_types_come_out_as_the_table_gives_them(spark: EmbeddedSpark) -> None:
    df = spark.session.sql(TYPES)
    (given,) = df.collect()
    columns = StructType([StructField("id", LongType()), *df.schema.fields])

    async def rows(keys: Sequence[int]) -> dict[int, Any]:
        return {key: [given.asDict()] for key in keys}

    options: dict[str, Any] = {"on": "id", "columns": columns}
    for where in (None, "t.tiny = 1"):
        ids = spark.session.range(2)
        (_, found) = lookup_join(ids, FunctionTable(rows), where=where, **options).collect()
        assert repr(found) == repr(Row(id=1, **given.asDict()))

    async def types(keys: Sequence[Any]) -> dict[Any, Any]:
        return {key: [(" ".join(type(part).__name__ for part in key),)] for key in keys}

    names = ["tiny", "double", "price", "text", "raw", "yes", "day", "instant", "clock", "span"]
    columns = StructType([*(df.schema[name] for name in names), StructField("seen", StringType())])
    on = dict(zip(names, names, strict=True))
    (row,) = lookup_join(df, FunctionTable(types), on=on, columns=columns).collect()
    assert row.seen == "int float Decimal str bytes bool date datetime datetime timedelta"


def test_odd_names_of_columns_are_fine(spark: EmbeddedSpark) -> None:
    df = spark.session.sql("SELECT 1L AS `a.b`, 2L AS `c``d`, 3 AS _rows")
    options: dict[str, Any] = {"on": {"A.B": "k e y"}, "columns": "`k e y` long, `e.f` int"}

    async def one(keys: Sequence[int]) -> dict[int, Any]:
        return {key: [{"e.f": 7}] for key in keys}

    for where in (None, "t.`e.f` = 7 AND `c``d` = 2"):
        out = lookup_join(df, FunctionTable(one), where=where, **options).collect()
        assert [row.asDict() for row in out] == [{"a.b": 1, "c`d": 2, "_rows": 3, "e.f": 7}]


def test_the_table_of_a_condition_is_no_column(spark: EmbeddedSpark) -> None:
    df = spark.session.range(1, 4).selectExpr("id AS user", "named_struct('size', 9) AS t")
    table = FunctionTable(towns)

    out = lookup_join(df, table, where="t.size = 1", **USERS).collect()
    assert [(row.user, row.t.size, row.size) for row in out] == [
        (1, 9, None),
        (2, 9, 1),
        (3, 9, None),
    ]
    with pytest.raises(InvalidConfig, match="where 't IS NULL' can't be read: "):
        lookup_join(df, table, where="t IS NULL", **USERS)

    options: dict[str, Any] = {**USERS, "on_error": "column", "error_column": "t"}
    out = lookup_join(df.drop("t"), table, where="t.size = 1", **options).collect()
    assert [(row.user, row.size) for row in out] == [(1, None), (2, 1), (3, None)]


REFUSED = """
columns="id string, town string" -> user of df is bigint, and column id of the table is string; cast
columns="id array<int>, town string" -> array<int>, which is no key that can be looked up; cast
on="users" -> on must be a column of df, which has id, user, got
on="user" -> on must be a column of the table, which has id, town
on=1 -> on must be names of columns, or a dict from columns of df
columns="id long" -> columns must be of one column at least beside the key
columns=None -> columns must be a DDL string such as
columns="id longer" -> columns 'id longer' can't be read
on={"user": "i"}, columns="i int, ID int" -> rename one of these columns, got 'ID'
on_error="column", error_column="TOWN" -> rename one of these columns, got 'TOWN'
how="full" -> how must be one of 'left', 'leftouter',
where=" " -> where must be a condition in SQL, or None
where="t.no > 1" -> where 't.no > 1' can't be read:
where="t.size > 9) OR (true" -> where 't.size > 9) OR (true' can't be read:
where="true AS x" -> where 'true AS x' can't be read:
on_error="ignore" -> on_error must be "fail", "skip", "column" or
progress=1 -> progress must be a Progress, or None
table=towns -> table must be a table with open()
cache=Full() -> table must be one with load_all(), for the cache is
table=FunctionTable(threading.Lock().acquire) -> can't travel to the workers:
"""
"""Options, in Python, and a part of the message that refuses them."""

NAMES = {each.__name__: each for each in (Full, FunctionTable, threading, towns)}


@pytest.mark.parametrize("line", REFUSED.strip().splitlines())
def test_what_can_not_be_is_refused_before_a_job_runs(orders: DataFrame, line: str) -> None:
    given, _, told = line.partition(" -> ")
    options = {"table": FunctionTable(towns), **USERS, **eval(f"dict({given})", {**NAMES})}  # noqa: S307
    with pytest.raises(InvalidConfig, match=re.escape(told)):
        lookup_join(orders, **options)
