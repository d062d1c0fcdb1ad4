"""The work of the driver: the columns of a join, and its operator in the plan of Spark."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace
from pyspark.sql import DataFrame
from pyspark.sql import types as sql
from pyspark.sql.functions import expr

from asyncwait.backends.lookup._lookup import tabled
from asyncwait.backends.spark._session import require_workers
from asyncwait.backends.spark.frame._columns import (
    ERROR,
    ERROR_TYPE,
    Fold,
    arrow_schema,
    declared,
    folding,
    require_different,
    unreadable,
)
from asyncwait.backends.spark.frame._plan import (
    identity_of,
    mapped,
    names_of,
    odd_names,
    pickled,
    quoted,
    require_frame,
    warn_of_missing,
)
from asyncwait.backends.spark.join._lookup import Shape
from asyncwait.backends.spark.join._task import Join, Options
from asyncwait.spec import InvalidConfig
from asyncwait.spec.texts import shown


class Sides(Struct, frozen=True):
    """The columns of both sides.

    Args:
        on: names of the columns on the left that form the key.
        keys: names of the key's columns in the table.
    """

    on: tuple[str, ...]
    keys: sql.StructType
    rows: sql.StructType

    @classmethod
    def of(cls, left: sql.StructType, columns: Any, on: Any, fold: Fold) -> "Sides":
        """Return the sides of a DataFrame and of a table as the user declares it.

        Raises:
            InvalidConfig: a column does not exist, or types don't match.
        """
        names = names_of("columns", None, left.fieldNames(), fold=fold)
        right = declared("columns", columns)
        require_different(right.fieldNames(), "columns", fold)
        asked = [on] if isinstance(on, str) else on
        if not isinstance(asked, Mapping | Sequence) or not asked:
            expected = "names of columns, or a dict from columns of df to those of the table"
            raise InvalidConfig.of("on", on, expected)
        ours = names_of("on", [*asked], names, fold=fold)
        others = [*asked.values()] if isinstance(asked, Mapping) else asked
        theirs = names_of("on", others, right.fieldNames(), "the table", fold=fold)
        require_different(theirs, "on", fold)
        keys = [right[name] for name in theirs]
        for name, key in zip(ours, keys, strict=True):
            _require_same(left[name], key)
        rows = [field for field in right.fields if field.name not in theirs]
        return cls(ours, sql.StructType(keys), sql.StructType(rows))


def _require_same(left: sql.StructField, right: sql.StructField) -> None:
    """Refuse columns without equal values in Python, or with other equal values than in Spark."""
    kinds = [_kind(field.dataType) for field in (left, right)]
    said = [
        f"column {field.name} of {side} is {field.dataType.simpleString()}"
        for side, field in (("df", left), ("the table", right))
    ]
    if None in kinds:
        what = said[kinds.index(None)]
        raise InvalidConfig(f"on: {what}, which is no key that can be looked up; cast it before")
    if kinds[0] != kinds[1]:
        raise InvalidConfig(f"on: {said[0]}, and {said[1]}; cast one of them")


def _kind(kind: sql.DataType) -> str | None:
    """Return the kind of a type: types of one kind have equal values; None if it can't be a key."""
    for each in (sql.IntegralType, sql.DecimalType, sql.StringType, sql.DayTimeIntervalType):
        if isinstance(kind, each):
            return str(each.__name__)
    name: str = kind.simpleString()
    return name if name in _ALIKE else None


_ALIKE = {"boolean", "double", "binary", "date", "timestamp", "timestamp_ntz"}
"""Types that match only themselves."""


class Asked(Struct, frozen=True):
    """Options of a join; see `asyncwait.backends.spark.lookup_join`."""

    on: Any
    columns: Any
    how: str
    where: str | None
    error_column: str | None


class JoinPlan:
    """The plan of a join: its columns and its work.

    Raises:
        InvalidConfig: a column does not exist, or occurs twice, or types don't match; the
            table does not support these lookups, or can't travel to the workers.
    """

    def __init__(self, df: Any, table: Any, asked: Asked, options: Options) -> None:
        require_frame(df)
        require_workers(df.sparkSession)
        tabled(table, options.cache, options.policy)
        self._df, self._asked = df, asked
        fold = folding(df.sparkSession)
        self._wanted = {"semi": True, "anti": False}.get(asked.how)
        only_keys = self._wanted is not None and asked.where is None
        sides = Sides.of(df.schema, asked.columns, asked.on, fold)
        if only_keys:
            sides = replace(sides, rows=sql.StructType([]))
        elif not sides.rows.fields:
            expected = "of one column at least beside the key's"
            raise InvalidConfig.of("columns", asked.columns, expected)
        if isinstance(names := getattr(table, "columns", None), list | tuple):
            names_of("columns", sides.rows.fieldNames(), names, "the table", fold=fold)
        self._is_left = asked.how == "left"
        found = sides.rows
        if self._is_left or asked.error_column is not None:
            found = sql.StructType([sql.StructField(each.name, each.dataType) for each in found])
        added = found.fieldNames() if self._wanted is None else []
        if asked.error_column is not None:
            added.append(asked.error_column)
        require_different([*df.columns, *added], "columns", fold)
        self._lists = None
        if asked.where is not None:
            self._lists = _other_than([*df.columns, *added])
        self._found = found
        self._columns = self._columns_out(found)
        errors = self._asked.error_column
        shape = Shape(
            sides.on,
            arrow_schema(found, "columns"),
            self._is_left or (self._wanted is not None and not only_keys),
            self._lists,
            None if errors is None else pa.field(errors, ERROR_TYPE),
            self._wanted if only_keys else None,
        )
        zone = df.sparkSession.conf.get("spark.sql.session.timeZone") or "UTC"
        keys, rows = arrow_schema(sides.keys, "columns"), arrow_schema(sides.rows, "columns")
        depends = (table, options.cache, keys, rows, zone, fold)
        self.work = Join(
            table,
            shape,
            keys,
            rows,
            zone,
            options,
            identity_of(depends, f"table {shown(table)}"),
            odd_names(tuple(df.columns)),
            fold,
        )
        """The work of each task."""
        pickled(self.work, f"on_error {shown(options.on_error)}")
        warn_of_missing(df.sparkSession, self.work)

    def frame(self) -> DataFrame:
        """Return the DataFrame of the joined rows.

        Raises:
            InvalidConfig: the condition is invalid.
        """
        df, where = mapped(self._df, self.work, "lookup_join", self._columns), self._asked.where
        if where is None:
            return df
        try:
            self._require_condition(where)
            return self._filtered(df, where)
        except Exception as error:  # errors of the JVM have many classes
            raise unreadable("where", where, error) from error

    def _require_condition(self, where: str) -> None:
        """Let Spark parse a condition by itself, with `t` as the table.

        A complete condition closes no parenthesis that it has not opened.
        """
        df = self._df.drop("t")  # The argument `t` of the lambda hides it.
        table = df.sparkSession.createDataFrame([], self._found).alias("t")
        _ = df.crossJoin(table).where(expr(where)).schema

    def _filtered(self, df: DataFrame, where: str) -> DataFrame:
        assert self._lists is not None
        error, lists = self._asked.error_column, quoted(self._lists)
        rows = f"filter({lists}, t -> ({where}\n))"  # even if it ends in a comment
        if error is not None:
            rows = f"if({quoted(error)} IS NULL, {rows}, {lists})"
        columns = [quoted(name) for name in self._df.columns]
        if self._wanted is not None:
            matches = f"size({rows}) {'> 0' if self._wanted else '= 0'}"
            if error is not None:
                matches += f" OR {quoted(error)} IS NOT NULL"
            return df.where(matches).drop(self._lists)
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
