"""Shapes of DataFrames: what comes out is what Spark's own SQL makes of the same columns."""

import sys
from collections.abc import Sequence
from typing import Any

import pytest
from pyspark import cloudpickle
from pyspark.ml.linalg import Vectors
from pyspark.sql import DataFrame

from asyncwait.backends.lookup import FunctionTable
from asyncwait.backends.spark import EmbeddedSpark, key_ordered_wait, lookup_join, ordered_wait

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # Workers can't import it.


async def tell(value: Any) -> dict[str, str]:
    return {"r": str(value)}


async def found(keys: Sequence[Any]) -> dict[Any, Any]:
    return {key: [{"R": str(key)}] for key in keys}


def content(frame: DataFrame) -> Any:
    """Return the names, the types and all values of a DataFrame, also of types without a class."""
    named = frame.toDF(*(f"c{place}" for place in range(len(frame.columns))))
    texts = [
        name if kind.startswith("geo") else f"cast({name} as string)" for name, kind in named.dtypes
    ]
    return frame.dtypes, sorted(map(str, named.selectExpr(*texts).collect()))


KEPT = [
    *("true", "1Y", "1S", "1L", "1.5F", "double('NaN')", "1.50BD", "X'00ff'", "'ä\U0001f600'"),
    *("date'0001-01-01'", "timestamp'2026-01-02 03:04:05'", "timestamp_ntz'2026-01-02 03:04:05'"),
    *("TIME'12:34:56.123456'", "parse_json('{\"a\": [1, null]}')", "'x' COLLATE UTF8_LCASE"),
    *("INTERVAL '3-4' YEAR TO MONTH", "INTERVAL '-3' MONTH", "make_interval(1, -2, 3, 4, 5, 6, 7)"),
    *("INTERVAL '3 04:05:06.7' DAY TO SECOND", "null", "array()", "map(struct(1), array(2))"),
    *("st_geogfromwkb(X'0101000000000000000000F03F0000000000000040')",),
]


def nested(number: int, value: str) -> list[str]:
    if value.startswith("TIME'"):  # It has no nulls in SQL yet.
        each, texts = value, [f"{value} c", f"struct({value}) s", f"map(k, {value}) m"]
    else:
        each = f"if(k < 3, {value}, null)"
        more = [f"struct({each}) s", f"array({value}, null) a", f"map(k, {each}) m"]
        texts = [f"{each} c", *(() if "wkb" in value else more)]
    return [f"{text}{number}" for text in texts]


ROW = "SELECT '<Row()>' r FROM df"
ODD = "SELECT 1 `a.b`, 2 `c``d`, 3 `e f`, 4 `größe`, 5 `_0`"
ID = "SELECT id FROM range(0, 5, 1, 2)"
ID_TOLD = "SELECT *, nvl(string(id), 'None') r FROM df"
CASES = "SELECT 1 Id, 2 k"
SHAPES: dict[str, tuple[Any, dict[str, Any], str]] = {
    "no column needed": (ID, {"columns": [], "keep": []}, ROW),
    "one replaced": ("SELECT id r FROM range(5)", {"columns": []}, ROW),
    "no columns": (lambda s: s.range(5).select(), {}, "SELECT '<Row()>' r FROM range(5)"),
    "by key": (ID, {"columns": [], "keep": [], "key": "ID"}, ROW),
    "only kept": (ID, {"columns": []}, "SELECT *, '<Row()>' r FROM df"),
    "no rows": (ID + " WHERE id > 9", {}, "SELECT *, '' r FROM df"),
    "many partitions": ("SELECT id FROM range(0, 9, 1, 20)", {"columns": "id"}, ID_TOLD),
    "nulls": ("SELECT nullif(id, 2) id FROM range(4)", {"columns": "id"}, ID_TOLD),
    "a dot": (ODD, {"columns": "a.b"}, "SELECT *, '1' r FROM df"),
    "a backtick": (ODD, {"columns": "c`d", "keep": ["a.b"]}, "SELECT 1 `a.b`, '2' r"),
    "a space": (ODD, {"columns": "e f", "keep": ["c`d"]}, "SELECT 2 `c``d`, '3' r"),
    "more than ASCII": (ODD, {"columns": "größe", "keep": ["größe"]}, "SELECT 4 `größe`, '4' r"),
    "a made up name": (ODD, {"columns": "_0", "key": "a.b"}, "SELECT *, '5' r FROM df"),
    "a case": (CASES, {"columns": ["id"]}, "SELECT *, 'Row(id=1)' r FROM df"),
    "a kept case": (CASES, {"columns": "K", "keep": ["iD"]}, "SELECT 1 iD, '2' r"),
    "a replaced case": ("SELECT 1 R, 2 k", {"columns": "k"}, "SELECT 2 k, '2' r"),
    "two cases": ("SELECT 1 Id, 2 ID", {"columns": ["ID"]}, "SELECT *, 'Row(ID=2)' r FROM df"),
    "a case beside": ("SELECT 1 R, 2 k", {"columns": "R"}, "SELECT *, '1' r FROM df"),
    "duplicates dropped": ("SELECT 1 i, 2 i, 3 k", {"columns": "k", "keep": []}, "SELECT '3' r"),
    "duplicates replaced": ("SELECT 1 r, 2 r, 3 k", {"columns": "k"}, "SELECT 3 k, '3' r"),
    "a vector": (
        lambda s: s.createDataFrame([(1, Vectors.sparse(9, [2], [3.0]))], ["k", "v"]),
        {"columns": "k"},
        "SELECT *, '1' r FROM df",
    ),
}  # fmt: skip
SENSITIVE = ("two cases", "a case beside")


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_goes_through(spark: EmbeddedSpark, name: str) -> None:
    source, options, expected = SHAPES[name]
    session, wait = spark.session, key_ordered_wait if "key" in options else ordered_wait
    session.conf.set("spark.sql.caseSensitive", "TRUE" if name in SENSITIVE else "false")
    try:
        df = session.sql(source) if isinstance(source, str) else source(session)
        if " df" in expected:
            df.createOrReplaceTempView("df")
        out = wait(df, tell, "r string", **options)
        assert content(out) == content(session.sql(expected))
    finally:
        session.conf.unset("spark.sql.caseSensitive")


def test_names_in_results_follow_the_session(spark: EmbeddedSpark) -> None:
    async def fn(number: int) -> dict[str, Any]:
        return {"MADE": {"X": number}}

    df = spark.session.range(1)
    (row,) = ordered_wait(df, fn, "made struct<x: long>", columns="id").collect()
    assert row.asDict(recursive=True) == {"id": 0, "made": {"x": 0}}


@pytest.mark.parametrize("odd", [False, True])
def test_columns_of_any_type_are_kept(spark: EmbeddedSpark, *, odd: bool) -> None:
    values = [each for each in KEPT if odd or not each.startswith(("INTERVAL", "make_", "null"))]
    columns = [text for number, value in enumerate(values) for text in nested(number, value)]
    df = spark.session.range(1, 4).selectExpr("int(id) k").selectExpr(*columns, "k")
    right = content(df.selectExpr("*", "string(k) r"))
    assert content(ordered_wait(df, tell, "r string", columns="k")) == right
    joined = lookup_join(df, FunctionTable(found), on=["K"], columns="K int, r string")
    assert content(joined) == right
