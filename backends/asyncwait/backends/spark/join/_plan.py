"""What the driver does: it works out the columns, and adds the join to the plan of Spark."""

from typing import Any

import pyarrow as pa
from msgspec import Struct
from pyspark.sql import DataFrame
from pyspark.sql import types as sql
from pyspark.sql.functions import expr

from asyncwait.backends.lookup._open import tabled
from asyncwait.backends.spark._session import require_workers
from asyncwait.backends.spark.frame._plan import (
    identity_of,
    mapped,
    odd_names,
    pickled,
    quoted,
)
from asyncwait.backends.spark.frame._schema import (
    ERROR,
    ERROR_TYPE,
    arrow_schema,
    require_different,
    unreadable,
)
from asyncwait.backends.spark.join._chunks import Shape
from asyncwait.backends.spark.join._sides import Sides
from asyncwait.backends.spark.join._task import Join, Options
from asyncwait.spec import InvalidConfig
from asyncwait.spec.texts import shown


class Asked(Struct, frozen=True):
    """What the user wants; see `asyncwait.backends.spark.lookup_join`."""

    on: Any
    columns: Any
    how: str
    where: str | None
    error_column: str | None


class JoinPlan:
    """Which columns go where.

    Raises:
        InvalidConfig: there is no such column, one is there twice, or types don't go together; the
            table can't be looked up in so, or can't travel to the workers.
    """

    def __init__(self, df: Any, table: Any, asked: Asked, options: Options) -> None:
        if not isinstance(df, DataFrame):
            raise InvalidConfig.of("df", df, "a DataFrame of Spark")
        require_workers(df.sparkSession)
        tabled(table, options.cache, options.policy())
        self._df, self._asked = df, asked
        sides = Sides.of(df.schema, asked.columns, asked.on)
        arrow_schema(df.schema, "df")
        self._is_left = asked.how == "left"
        found = sides.rows
        if self._is_left or asked.error_column is not None:
            found = sql.StructType([sql.StructField(each.name, each.dataType) for each in found])
        added = found.fieldNames()
        if asked.error_column is not None:
            added.append(asked.error_column)
        require_different([*df.columns, *added], "columns")
        self._lists = None
        if asked.where is not None:
            self._lists = _other_than([*df.columns, *added])
        self._found = found
        self._columns = self._columns_out(found)
        errors = self._asked.error_column
        shape = Shape(
            sides.on,
            arrow_schema(found, "columns"),
            self._is_left,
            self._lists,
            None if errors is None else pa.field(errors, ERROR_TYPE),
        )
        zone = df.sparkSession.conf.get("spark.sql.session.timeZone") or "UTC"
        keys, rows = arrow_schema(sides.keys, "columns"), arrow_schema(sides.rows, "columns")
        depends = (table, options.cache, keys, rows, zone)
        self.work = Join(
            table,
            shape,
            keys,
            rows,
            zone,
            options,
            identity_of(depends, f"table {shown(table)}"),
            odd_names(tuple(df.columns)),
        )
        """What each task does."""
        pickled(self.work, f"on_error {shown(options.on_error)}")

    def frame(self) -> DataFrame:
        """Return the DataFrame of the joined rows.

        Raises:
            InvalidConfig: the condition is none.
        """
        df, where = mapped(self._df, self.work, "lookup_join", self._columns), self._asked.where
        if where is None:
            return df
        try:
            self._require_condition(where)
            return self._filtered(df, where)
        except Exception as error:  # of the JVM, in many classes
            raise unreadable("where", where, error) from error

    def _require_condition(self, where: str) -> None:
        """Have Spark read a condition by itself, where `t` is nothing but the table.

        What is a whole condition closes no parenthesis that it has not opened.
        """
        df = self._df.drop("t")  # In the lambda, whose argument is `t`, nobody could name it.
        table = df.sparkSession.createDataFrame([], self._found).alias("t")
        _ = df.crossJoin(table).where(expr(where)).schema

    def _filtered(self, df: DataFrame, where: str) -> DataFrame:
        assert self._lists is not None
        error, lists = self._asked.error_column, quoted(self._lists)
        rows = f"filter({lists}, t -> ({where}\n))"  # whatever comment it ends in
        if error is not None:
            rows = f"if({quoted(error)} IS NULL, {rows}, {lists})"
        columns = [quoted(name) for name in self._df.columns]
        columns.append(f"{'inline_outer' if self._is_left else 'inline'}({rows})")
        return df.selectExpr(*columns, *([] if error is None else [quoted(error)]))

    def _columns_out(self, found: sql.StructType) -> sql.StructType:
        fields = [*self._df.schema.fields, *found.fields]
        if self._lists is not None:
            rows = sql.ArrayType(found, containsNull=False)
            fields = [*self._df.schema.fields, sql.StructField(self._lists, rows, nullable=False)]
        if (error := self._asked.error_column) is not None:
            fields.append(sql.StructField(error, ERROR))
        return sql.StructType(fields)


def _other_than(names: list[str]) -> str:
    name = "_rows"
    while name in map(str.lower, names):
        name += "_"
    return name
