"""What a stored result depends on beside the function: by name, for whoever comes with others."""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

import pyarrow as pa
from msgspec import Struct
from pyarrow import types
from pyspark.sql import types as sql

from asyncwait.spec import InvalidConfig

_LONGEST = 20_000
"""Characters of a setting that are kept; of a longer one a digest of all stands behind them."""


class Call(Struct, frozen=True):
    """What is given to the function, and what is made of what it gives.

    Args:
        given: the columns that the function is given.
        is_value: it is given the one column as it is, not a Row.
        results: the columns of what it gives.
        many: it gives a collection of them.
        zone: name of the time zone of the session.
    """

    given: Sequence[sql.StructField]
    is_value: bool
    results: sql.StructType
    many: bool
    zone: str

    def settings(self) -> tuple[tuple[str, str], ...]:
        """Return all by which another call would be made, or its result be another one.

        Whether a column of the input may be null is nothing that the function is given. The time
        zone counts where instants are read: as they are given, and in results that say none.
        """
        given = _spark_columns(self.given, nulls=False)
        named = {
            "columns": f"{given} as a {'value' if self.is_value else 'Row'}",
            "schema": _spark_columns(self.results.fields, nulls=True),
            "many": str(self.many),
        }
        fields = (*self.given, *self.results.fields)
        kinds = (kind for field in fields for kind in all_types(field.dataType))
        if any(isinstance(kind, sql.TimestampType) for kind in kinds):
            named["zone"] = self.zone
        return tuple((name, _bounded(text)) for name, text in named.items())


def _bounded(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]}... {blake2b(text.encode(), digest_size=16).hexdigest()}"


def _spark_columns(fields: Iterable[sql.StructField], *, nulls: bool) -> str:
    columns = [
        f"{_quoted(field.name)} {_or_null(_spark(field.dataType, nulls), field.nullable, nulls)}"
        for field in fields
    ]
    return ", ".join(columns)


def _spark(kind: sql.DataType, nulls: bool) -> str:  # noqa: FBT001 - as in `_arrow`
    """Return a text that is another one for another type; with `nulls` also for other nulls."""
    match kind:
        case sql.StructType():
            return f"struct<{_spark_columns(kind.fields, nulls=nulls)}>"
        case sql.ArrayType():
            return f"array<{_or_null(_spark(kind.elementType, nulls), kind.containsNull, nulls)}>"
        case sql.MapType():
            value = _or_null(_spark(kind.valueType, nulls), kind.valueContainsNull, nulls)
            return f"map<{_spark(kind.keyType, nulls)}, {value}>"
        case sql.UserDefinedType():
            return _spark(kind.sqlType(), nulls)
    text: str = kind.simpleString()
    return text


def arrow_columns(fields: Iterable[pa.Field], *, nulls: bool) -> str:
    """Return a text that is another one for other columns, as Arrow has them."""
    columns = [
        f"{_quoted(field.name)} {_or_null(_arrow(field.type, nulls), field.nullable, nulls)}"
        for field in fields
    ]
    return ", ".join(columns)


def _arrow(kind: pa.DataType, nulls: bool) -> str:  # noqa: FBT001 - the second of two
    if types.is_struct(kind):
        fields = [kind.field(number) for number in range(kind.num_fields)]
        return f"struct<{arrow_columns(fields, nulls=nulls)}>"
    if types.is_list(kind) or types.is_large_list(kind):
        item = kind.value_field
        return f"list<{_or_null(_arrow(item.type, nulls), item.nullable, nulls)}>"
    if types.is_map(kind):
        item = kind.item_field
        value = _or_null(_arrow(item.type, nulls), item.nullable, nulls)
        return f"map<{_arrow(kind.key_type, nulls)}, {value}>"
    text: str = str(kind)
    return text.removeprefix("large_")  # which is the same to Python


def _or_null(text: str, nullable: bool, nulls: bool) -> str:  # noqa: FBT001 - as above
    return f"{text} not null" if nulls and not nullable else text


def _quoted(name: str) -> str:
    return name if name.isidentifier() else "`" + name.replace("`", "``") + "`"


def require_values(fields: Iterable[sql.StructField]) -> None:
    """Refuse columns of which Python has no values, before a job fails with them."""
    for field in fields:
        for kind in all_types(field.dataType):
            if (why := _no_value(kind)) is not None:
                raise InvalidConfig(f"columns has a column {field.name} {why}")


def require_keys(fields: Iterable[sql.StructField]) -> None:
    """Refuse columns whose values are no keys of a cache, before a job fails with them."""
    for field in fields:
        if not isinstance(field.dataType, _COMPARABLE):
            kind = field.dataType.simpleString()
            raise InvalidConfig(
                f"cache: column {field.name} is {kind}, whose values are no keys; name others in "
                "`columns`, or give Cache(key=...) a function of what `fn` is given"
            )


_COMPARABLE = (
    sql.BooleanType,
    sql.NumericType,
    sql.StringType,
    sql.BinaryType,
    sql.DateType,
    sql.TimestampType,
    sql.TimestampNTZType,
    sql.TimeType,
    sql.DayTimeIntervalType,
    sql.NullType,
)


def _no_value(kind: sql.DataType) -> str | None:
    if isinstance(kind, sql.YearMonthIntervalType | sql.CalendarIntervalType):
        return f"of type {kind.simpleString()}, of which Python has no values; cast it before"
    if isinstance(kind, sql.MapType) and isinstance(kind.keyType, _NO_KEYS):
        key = kind.keyType.simpleString()
        return f"with a map of {key}, which is no key of a dict; use map_entries"
    return None


_NO_KEYS = (sql.StructType, sql.ArrayType, sql.VariantType)


def all_types(kind: Any) -> Iterable[sql.DataType]:
    """Yield a type and all types in it."""
    yield kind
    match kind:
        case sql.StructType():
            inner = [field.dataType for field in kind.fields]
        case sql.ArrayType():
            inner = [kind.elementType]
        case sql.MapType():
            inner = [kind.keyType, kind.valueType]
        case sql.UserDefinedType():
            inner = [kind.sqlType()]
        case _:
            return
    for each in inner:
        yield from all_types(each)
