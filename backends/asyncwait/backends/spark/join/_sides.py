"""Both sides of a join, as the driver sees them: which columns are equal, and of what types."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from pyspark.sql import types as sql

from asyncwait.backends.spark.frame._plan import names_of
from asyncwait.backends.spark.frame._schema import Fold, declared, require_different
from asyncwait.spec import InvalidConfig


class Sides(Struct, frozen=True):
    """The columns of both sides.

    Args:
        on: names of those on the left that are the key.
        keys: those of the table that are.
        rows: all others of the table.
    """

    on: tuple[str, ...]
    keys: sql.StructType
    rows: sql.StructType

    @classmethod
    def of(cls, left: sql.StructType, columns: Any, on: Any, fold: Fold) -> "Sides":
        """Return the sides of a DataFrame and of a table as the user declares it.

        Raises:
            InvalidConfig: there is no such column, or types don't go together.
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
    """Refuse columns of which no values are equal to Python, or others than to Spark."""
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
    """Return what two types have in common whose values are equal; None for types of no keys."""
    for each in (sql.IntegralType, sql.DecimalType, sql.StringType, sql.DayTimeIntervalType):
        if isinstance(kind, each):
            return str(each.__name__)
    name: str = kind.simpleString()
    return name if name in _ALIKE else None


_ALIKE = {"boolean", "double", "binary", "date", "timestamp", "timestamp_ntz"}
"""Types that go together with themselves alone."""
