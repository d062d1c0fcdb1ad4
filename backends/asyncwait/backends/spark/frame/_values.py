"""Columns, each of which accepts values of its exact type."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from math import isinf
from typing import Any, TypeAlias, TypedDict

import msgspec
import pyarrow as pa
from pyarrow import types

from asyncwait.backends.spark.frame._columns import Fold
from asyncwait.backends.spark.frame._errors import SchemaMismatch
from asyncwait.spec.texts import one_line, shown

Taker: TypeAlias = Callable[[Any], Any]
"""Returns a value for Arrow; raises ValueError or TypeError if it does not fit."""


class Column:
    """One column of the output.

    Args:
        field: its name, type, and whether it may be null.
        zone: for timestamps without a zone; None to refuse them.
        fold: how names of fields are compared.
    """

    def __init__(self, field: pa.Field, zone: tzinfo | None, fold: Fold = str.lower) -> None:
        self.name: str = field.name
        self.field = field
        self.fits = _fitting(field.type)
        """Returns True for most values that fit, without further checks; False for others."""
        self._take = _nullable(field, zone, fold)

    def take(self, value: Any) -> Any:
        try:
            return self._take(value)
        except (ValueError, TypeError, OverflowError, ArithmeticError) as error:
            wanted = f"column {self.name} takes {_in_spark(self.field.type)}"
            if not self.field.nullable:
                wanted += " and no null"
            text = f"{wanted}, got {shown(value)} ({type(value).__name__}): {one_line(error)}"
            raise SchemaMismatch(text) from None


def _in_spark(kind: pa.DataType) -> str:
    """Return a type in the spelling of Spark's schemas, which users know."""
    from pyspark.errors import PySparkException
    from pyspark.sql.pandas.types import from_arrow_type

    try:
        return str(from_arrow_type(kind).simpleString())
    except PySparkException:  # Spark has no such type.
        return str(kind)


def _fitting(kind: pa.DataType) -> Callable[[Any], bool]:
    if types.is_integer(kind):
        least, most = _bounds(kind.bit_width)
        return lambda value: type(value) is int and least <= value <= most
    if types.is_string(kind) or types.is_large_string(kind):
        return lambda value: type(value) is str and value.isascii()
    cls = _EXACT.get(kind)
    return lambda value: type(value) is cls


_EXACT = {pa.bool_(): bool, pa.float64(): float, pa.binary(): bytes}
"""Types that accept each value of one class."""


def _nullable(field: pa.Field, zone: tzinfo | None, fold: Fold) -> Taker:
    take = _taker(field.type, zone, fold)

    def take_or_null(value: Any) -> Any:
        if value is None:
            if not field.nullable:
                raise ValueError("it is never null")
            return None
        return take(_python_of(value))

    return take_or_null


def _python_of(value: Any) -> Any:
    if type(value).__module__ != "numpy":
        return value
    return value.tolist() if getattr(value, "ndim", 0) else value.item()


def _taker(kind: pa.DataType, zone: tzinfo | None, fold: Fold) -> Taker:
    if types.is_list(kind) or types.is_large_list(kind):
        return _list(kind, zone, fold)
    if types.is_map(kind):
        return _map(kind, zone, fold)
    if types.is_struct(kind):
        return _struct(kind, zone, fold)
    accepted, converting = next((given, to) for is_kind, given, to in _PLAIN if is_kind(kind))
    convert = converting(kind, zone)

    def take(value: Any) -> Any:
        """Convert a value of an accepted class; a bool is no number, and a datetime no date."""
        is_odd = isinstance(value, bool) and bool not in accepted
        is_odd = is_odd or (isinstance(value, datetime) and datetime not in accepted)
        if is_odd or not isinstance(value, accepted):
            raise TypeError(f"expected {' or '.join(each.__name__ for each in accepted)}")
        return convert(value)

    return take


def python_type(kind: pa.DataType) -> Any:
    """Return the type of the values that a column of this kind takes; see `Column.take`."""
    if types.is_list(kind) or types.is_large_list(kind):
        return list[python_type(kind.value_type) | None]  # type: ignore[misc]
    if types.is_map(kind):
        return list[tuple[python_type(kind.key_type), python_type(kind.item_type) | None]]  # type: ignore[misc]
    if types.is_struct(kind):
        fields = [kind.field(number) for number in range(kind.num_fields)]
        named = {field.name: python_type(field.type) | None for field in fields}
        # Else msgspec finds none of these whose name is not ASCII: it looks for bytes that a text
        # has only once they were asked for.
        msgspec.msgpack.encode([*named])
        return TypedDict("Fields", named)  # type: ignore[operator]
    return next(accepted[0] for is_kind, accepted, _ in _PLAIN if is_kind(kind))


def _whole(kind: pa.DataType, _: Any) -> Taker:
    least, most = _bounds(kind.bit_width)

    def take(value: Any) -> int:
        if not least <= value <= most:
            raise ValueError(f"it is not between {least} and {most}")
        return int(value)

    return take


def _floating(kind: pa.DataType, _: Any) -> Taker:
    """Take numbers. A fraction may be rounded, a whole number not, and none becomes infinite."""
    is_narrow = kind.bit_width == pa.float32().bit_width

    def take(value: Any) -> float:
        kept = float(value)
        stored = pa.scalar(kept, kind).as_py() if is_narrow else kept
        if isinf(stored) and not isinf(kept):
            raise ValueError("it is too large")
        if isinstance(value, int) and stored != value:
            raise ValueError(f"it would become {stored:.0f}")
        return kept

    return take


def _bounds(bits: int) -> tuple[int, int]:
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1


def _instant(kind: pa.TimestampType, zone: tzinfo | None) -> Taker:
    def take(value: datetime) -> datetime:
        if value != value:  # noqa: PLR0124 - pandas' NaT passes for a datetime, and is none
            raise ValueError("it is no instant; None is null")
        if kind.tz is None:
            if value.tzinfo is not None:
                raise ValueError("it has a time zone, and timestamp_ntz has none")
        elif value.tzinfo is None:
            if zone is None:
                raise ValueError("it has no time zone; give it one")
            return value.replace(tzinfo=zone)
        return value

    return take


def _text(_: pa.DataType, __: Any) -> Taker:
    def take(value: str) -> str:
        if not value.isascii():
            value.encode()  # UnicodeEncodeError is a ValueError.
        return value

    return take


def _list(kind: pa.ListType, zone: tzinfo | None, fold: Fold) -> Taker:
    take_item = _nullable(kind.value_field, zone, fold)

    def take(value: Any) -> list[Any]:
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
            raise TypeError("it is no list")
        return [take_item(each) for each in value]

    return take


def _map(kind: pa.MapType, zone: tzinfo | None, fold: Fold) -> Taker:
    take_key = _nullable(kind.key_field.with_nullable(False), zone, fold)
    take_item = _nullable(kind.item_field, zone, fold)

    def take(value: Any) -> list[tuple[Any, Any]]:
        if not isinstance(value, Mapping):
            raise TypeError("it is no dict")
        return [(take_key(key), take_item(item)) for key, item in value.items()]

    return take


def _struct(kind: pa.StructType, zone: tzinfo | None, fold: Fold) -> Taker:
    fields = [kind.field(number) for number in range(kind.num_fields)]
    takers = {field.name: _nullable(field, zone, fold) for field in fields}

    def take(value: Any) -> dict[str, Any]:
        given = fields_of(value, tuple(takers), fold)
        return {
            name: take_field(each)
            for (name, take_field), each in zip(takers.items(), given, strict=True)
        }

    return take


def fields_of(value: Any, names: tuple[str, ...], fold: Fold = str.lower) -> tuple[Any, ...]:
    """Return the values of a dict, tuple, Row, dataclass or Struct for `names`.

    Fields missing in a dict are null. `fold` says how names are compared.

    Raises:
        ValueError: it has other fields, or another number of them.
        TypeError: it has no fields.
    """
    own = getattr(value, "__fields__", None) or getattr(value, "_fields", None)
    if isinstance(value, Mapping):
        given: Mapping[str, Any] = value
    elif isinstance(value, tuple) and not own:
        if len(value) != len(names):
            raise ValueError(f"it has {len(value)} values, for {', '.join(names)}")
        return value
    elif isinstance(value, tuple):
        given = dict(zip(own or (), value, strict=True))
    elif isinstance(value, msgspec.Struct):
        given = {name: getattr(value, name) for name in value.__struct_fields__}
    elif is_dataclass(value) and not isinstance(value, type):
        given = {name: getattr(value, name) for name in value.__dataclass_fields__}
    else:
        raise TypeError("expected a dict, tuple, Row, dataclass or msgspec Struct")
    if any(name not in names for name in given):
        given = _respelled(given, names, fold)
    return tuple([given.get(name) for name in names])


def _respelled(given: Mapping[Any, Any], names: tuple[str, ...], fold: Fold) -> dict[str, Any]:
    """Return fields by the names of the schema."""
    known = {fold(name): name for name in names} | {name: name for name in names}
    found: dict[str, Any] = {}
    for name, value in given.items():
        own = known.get(name) or (known.get(fold(name)) if isinstance(name, str) else None)
        if own is None:
            raise ValueError(f"there is no field {name!r}, only {', '.join(names)}")
        if own in found:
            raise ValueError(f"field {own!r} is there twice")
        found[own] = value
    return found


def _as_it_is(_: pa.DataType, __: Any) -> Taker:
    return lambda value: value


_PLAIN: tuple[tuple[Callable[[Any], bool], tuple[type, ...], Callable[[Any, Any], Taker]], ...] = (
    (types.is_boolean, (bool,), _as_it_is),
    (types.is_integer, (int,), _whole),
    (types.is_floating, (float, int), _floating),
    (types.is_timestamp, (datetime,), _instant),
    (types.is_string, (str,), _text),
    (types.is_large_string, (str,), _text),
    (types.is_binary, (bytes, bytearray, memoryview), lambda *_: bytes),
    (types.is_large_binary, (bytes, bytearray, memoryview), lambda *_: bytes),
    (types.is_date, (date,), _as_it_is),
    (
        types.is_decimal,
        (Decimal, int),
        lambda kind, _: lambda value: pa.scalar(Decimal(value), kind).as_py(),
    ),
    (types.is_duration, (timedelta,), _as_it_is),
    (types.is_time, (time,), _as_it_is),
    (types.is_null, (type(None),), _as_it_is),
)
"""Types without inner types: a test of the type, the accepted classes, the class of stored values
first, and a function that returns the conversion of a value for a type and a time zone.
"""
