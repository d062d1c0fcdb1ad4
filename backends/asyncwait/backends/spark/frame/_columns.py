"""Columns: declared schemas, their types, and the settings that identify stored results."""

import inspect
import typing
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any, TypeAlias

import pyarrow as pa
from msgspec import inspect as kinds
from pyspark.sql import types as sql

from asyncwait.spec import InvalidConfig
from asyncwait.spec.texts import one_line, shown

_COLUMNS = "a DDL string such as 'id long, city string', or a StructType"
_OR_ANNOTATION = (
    "; or None where the function's own annotation names a dataclass, a msgspec Struct, a "
    "NamedTuple or a TypedDict"
)


def schema_of(schema: Any, fn: Any, *, many: bool) -> sql.StructType:
    """Return the columns of `schema`, or else of the annotation of the return value of `fn`.

    Args:
        schema: DDL, a StructType, or None.
        fn: the user's function.
        many: it returns many results, of which the annotation describes one.

    Raises:
        InvalidConfig: neither describes columns.
    """
    found = _from_annotation(fn, many=many) if schema is None else schema
    return declared("schema", found, f"{_COLUMNS}{_OR_ANNOTATION}")


def declared(what: str, given: Any, expected: str = _COLUMNS) -> sql.StructType:
    """Return the columns of DDL or a StructType.

    Raises:
        InvalidConfig: `schema` describes no columns.
    """
    found = given
    if isinstance(given, str):
        try:
            found = sql.StructType.fromDDL(given)
        except Exception as error:  # errors of the JVM's parser have many classes
            raise unreadable(what, given, error) from error
    if not isinstance(found, sql.StructType) or not found.fields:
        raise InvalidConfig.of(what, given, expected)
    return found


Fold: TypeAlias = Callable[[str], str]
"""Returns the same text for all names that Spark treats as one column; it can be pickled."""


def folding(session: Any) -> Fold:
    """Return the function by which the session compares names of columns."""
    given = session.conf.get("spark.sql.caseSensitive", "false")
    return str if given.strip().lower() == "true" else str.lower  # as Spark reads it


def require_different(names: Iterable[str], what: str, fold: Fold) -> None:
    """Refuse several columns that Spark treats as one."""
    seen: set[str] = set()
    for name in names:
        if fold(name) in seen:
            raise InvalidConfig.of(what, name, "of different names; rename one of these columns")
        seen.add(fold(name))


def unreadable(what: str, text: str, error: Exception) -> InvalidConfig:
    reason = str(error).strip().partition("\n")[0]
    return InvalidConfig(f"{what} {shown(text)} can't be read: {one_line(reason)}")


def _from_annotation(fn: Any, *, many: bool) -> Any:
    """Return the columns of the class that `fn` returns; None if it names none."""
    target = fn if inspect.isroutine(fn) else getattr(fn, "__call__", fn)  # noqa: B004
    if isinstance(fn, type):
        target = fn.__call__
    try:
        returned = typing.get_type_hints(target).get("return")
    except Exception:  # an undefined name
        return None
    if many and typing.get_origin(returned) in _COLLECTIONS:
        returned = typing.get_args(returned)[0]
    if not isinstance(returned, type):
        return None
    try:
        kind = kinds.type_info(returned)
    except Exception:  # not a class with fields
        return None
    found = _sql_type("schema", kind)[0] if isinstance(kind, _WITH_FIELDS) else None
    _forget(kind)
    return found


def _forget(kind: Any) -> None:
    """Remove msgspec's notes from classes: pickles of a script's classes can't hold the notes."""
    cls = getattr(kind, "cls", None)
    if isinstance(cls, type) and "__msgspec_cache__" in vars(cls):
        del cls.__msgspec_cache__  # type: ignore[attr-defined]
    inner = [getattr(kind, name, None) for name in ("item_type", "key_type", "value_type")]
    inner += [each.type for each in getattr(kind, "fields", ())]
    for each in (*inner, *getattr(kind, "types", ())):
        if each is not None:
            _forget(each)


_COLLECTIONS = {list, tuple, set, Iterable, Iterator, Collection, AsyncIterator}
_WITH_FIELDS = (kinds.StructType, kinds.DataclassType, kinds.NamedTupleType, kinds.TypedDictType)
_LEAVES: dict[type[kinds.Type], sql.DataType] = {
    kinds.BoolType: sql.BooleanType(),
    kinds.IntType: sql.LongType(),
    kinds.FloatType: sql.DoubleType(),
    kinds.StrType: sql.StringType(),
    kinds.BytesType: sql.BinaryType(),
    kinds.DateTimeType: sql.TimestampType(),
    kinds.DateType: sql.DateType(),
    kinds.TimeDeltaType: sql.DayTimeIntervalType(),
    kinds.DecimalType: sql.DecimalType(38, 18),
}


def _sql_type(name: str, kind: kinds.Type) -> tuple[sql.DataType, bool]:
    """Return the type of a column, and whether it may be null."""
    match kind:
        case kinds.UnionType(types=some):
            others = [each for each in some if not isinstance(each, kinds.NoneType)]
            if len(others) == 1:
                return _sql_type(name, others[0])[0], len(some) > 1
        case kinds.ListType() | kinds.VarTupleType() | kinds.SetType() | kinds.CollectionType():
            return sql.ArrayType(*_sql_type(name, kind.item_type)), False
        case kinds.DictType():
            key, _ = _sql_type(name, kind.key_type)
            return sql.MapType(key, *_sql_type(name, kind.value_type)), False
        case _ if isinstance(kind, _WITH_FIELDS):
            fields = [
                sql.StructField(each.name, *_sql_type(each.name, each.type)) for each in kind.fields
            ]
            return sql.StructType(fields), False
        case _ if type(kind) in _LEAVES:
            return _LEAVES[type(kind)], False
    said = type(kind).__name__.removesuffix("Type").lower()
    raise InvalidConfig(
        f"the annotation of {name} is of a kind ({said}) that no column has; give a schema"
    )


def arrow_schema(schema: sql.StructType, what: str = "schema") -> pa.Schema:
    fields = ((each.name, each.dataType, each.nullable) for each in schema.fields)
    return pa.schema([pa.field(n, _arrow_type(n, kind, what), null) for n, kind, null in fields])


_ARROW_LEAVES: dict[str, pa.DataType] = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "void": pa.null(),
}


def _arrow_type(name: str, kind: sql.DataType, what: str) -> pa.DataType:
    match kind:
        case sql.StructType():
            return pa.struct(arrow_schema(kind, what))
        case sql.ArrayType():
            item = _arrow_type(name, kind.elementType, what)
            return pa.list_(pa.field("element", item, kind.containsNull))
        case sql.MapType():
            key, item = (_arrow_type(name, each, what) for each in (kind.keyType, kind.valueType))
            return pa.map_(key, pa.field("value", item, kind.valueContainsNull))
        case sql.DecimalType():
            return pa.decimal128(kind.precision, kind.scale)
        case sql.DayTimeIntervalType():
            return pa.duration("us")
        case sql.StringType():
            return pa.string()
        case sql.TimeType():
            return pa.time64("ns")
    if (found := _ARROW_LEAVES.get(said := kind.simpleString())) is None:
        text = f"{what} has a column {name} of type {said}, which Arrow can't carry; cast it before"
        raise InvalidConfig(text)
    return found


ERROR = sql.StructType(
    [
        sql.StructField("type", sql.StringType(), nullable=False),
        sql.StructField("message", sql.StringType(), nullable=False),
        sql.StructField("attempts", sql.IntegerType(), nullable=False),
    ]
)
"""The error column: the class of the call's error, the complete error, and the number of
calls.
"""

ERROR_TYPE = pa.struct(arrow_schema(ERROR))
"""The error column as an Arrow type."""


_LONGEST = 20_000
"""Characters of a setting that are stored; a longer setting ends with a digest of all of it."""


def settings_of(
    given: Sequence[sql.StructField], results: sql.StructType, form: str, *, many: bool, zone: str
) -> tuple[tuple[str, str], ...]:
    """Return all settings that change a call or its result.

    Whether a column of the input may be null does not count, because the function does not see
    it. The time zone counts where instants are read: in the argument, and in results without a
    zone.

    Args:
        given: the columns of the argument.
        results: the columns of the results.
        form: of the argument: "value" of the one column, or "Row".
        many: the function returns a collection of results.
        zone: name of the time zone of the session.
    """
    named = {
        "columns": f"{columns_text(given, nulls=False)} as a {form}",
        "schema": columns_text(results.fields, nulls=True),
        "many": str(many),
    }
    kinds = (kind for field in (*given, *results.fields) for kind in all_types(field.dataType))
    if any(isinstance(kind, sql.TimestampType) for kind in kinds):
        named["zone"] = zone
    for name, text in named.items():
        if len(text) > _LONGEST:
            digest = blake2b(text.encode(), digest_size=16).hexdigest()
            named[name] = f"{text[:_LONGEST]}... {digest}"
    return tuple(named.items())


def columns_text(fields: Iterable[Any], *, nulls: bool) -> str:
    """Return a text that differs for different columns of Spark or Arrow.

    Args:
        fields: the columns.
        nulls: the text also differs for other nullability.
    """
    told = [
        (each.name, getattr(each, "dataType", None) or each.type, each.nullable) for each in fields
    ]
    return ", ".join(f"{_quoted(name)} {_text(kind, null, nulls)}" for name, kind, null in told)


def _text(kind: Any, nullable: bool, nulls: bool) -> str:  # noqa: FBT001 - not two of one kind
    match kind:
        case sql.StructType() | pa.StructType():
            text = f"struct<{columns_text(kind.fields, nulls=nulls)}>"
        case sql.ArrayType():
            text = f"array<{_text(kind.elementType, kind.containsNull, nulls)}>"
        case pa.ListType() | pa.LargeListType():
            text = f"list<{_text(kind.value_type, kind.value_field.nullable, nulls)}>"
        case sql.MapType():
            value = _text(kind.valueType, kind.valueContainsNull, nulls)
            text = f"map<{_text(kind.keyType, True, nulls)}, {value}>"
        case pa.MapType():
            value = _text(kind.item_type, kind.item_field.nullable, nulls)
            text = f"map<{_text(kind.key_type, True, nulls)}, {value}>"
        case sql.UserDefinedType():
            text = _text(kind.sqlType(), True, nulls)
        case sql.DataType():
            text = kind.simpleString()
        case _:
            text = str(kind).removeprefix("large_")  # which is the same to Python
    return f"{text} not null" if nulls and not nullable else text


def _quoted(name: str) -> str:
    return name if name.isidentifier() else "`" + name.replace("`", "``") + "`"


def require_values(fields: Iterable[sql.StructField]) -> None:
    """Refuse columns that have no Python values, before a job fails with them."""
    for field in fields:
        for kind in all_types(field.dataType):
            if (why := _no_value(kind)) is not None:
                raise InvalidConfig(f"columns has a column {field.name} {why}")


def require_keys(fields: Iterable[sql.StructField]) -> None:
    """Refuse columns whose values can't be keys of a cache, before a job fails with them."""
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
