"""Columns, each of which accepts values of its exact type."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from math import isinf
from typing import Any, TypeAlias

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
    if types.is_integer(kind):
        return _whole(kind.bit_width)
    if types.is_floating(kind):
        return _floating(kind)
    if types.is_timestamp(kind):
        return _instant(kind, zone)
    if types.is_list(kind) or types.is_large_list(kind):
        return _list(kind, zone, fold)
    if types.is_map(kind):
        return _map(kind, zone, fold)
    if types.is_struct(kind):
        return _struct(kind, zone, fold)
    for is_kind, accepted, convert in _SIMPLE:
        if is_kind(kind):
            return _simple(accepted, convert, kind)
    return lambda value: pa.scalar(value, kind).as_py()


def _whole(bits: int) -> Taker:
    least, most = _bounds(bits)

    def take(value: Any) -> int:
        _require(value, (int,))
        if not least <= value <= most:
            raise ValueError(f"it is not between {least} and {most}")
        return int(value)

    return take


def _floating(kind: pa.DataType) -> Taker:
    """Take numbers. A fraction may be rounded, a whole number not, and none becomes infinite."""
    is_narrow = kind.bit_width == pa.float32().bit_width

    def take(value: Any) -> float:
        _require(value, (float, int))
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
    def take(value: Any) -> datetime:
        _require(value, (datetime,))
        if value != value:  # noqa: PLR0124 - pandas' NaT passes for a datetime, and is none
            raise ValueError("it is no instant; None is null")
        if kind.tz is None:
            if value.tzinfo is not None:
                raise ValueError("it has a time zone, and timestamp_ntz has none")
        elif value.tzinfo is None:
            if zone is None:
                raise ValueError("it has no time zone; give it one")
            return value.replace(tzinfo=zone)  # type: ignore[no-any-return]
        return value  # type: ignore[no-any-return]

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


def _simple(accepted: tuple[type, ...], convert: Callable[[Any, Any], Any], kind: Any) -> Taker:
    def take(value: Any) -> Any:
        _require(value, accepted)
        return convert(value, kind)

    return take


def _require(value: Any, accepted: tuple[type, ...]) -> None:
    """Refuse a value of another class; a bool is no number, and a datetime no date."""
    is_odd = isinstance(value, bool) and bool not in accepted
    is_odd = is_odd or (isinstance(value, datetime) and datetime not in accepted)
    if is_odd or not isinstance(value, accepted):
        raise TypeError(f"expected {' or '.join(each.__name__ for each in accepted)}")


def _as_it_is(value: Any, _kind: pa.DataType) -> Any:
    return value


def _encodable(value: str, _kind: pa.DataType) -> str:
    if not value.isascii():
        value.encode()  # UnicodeEncodeError is a ValueError.
    return value


def _as_decimal(value: Decimal | int, kind: pa.DataType) -> Any:
    return pa.scalar(Decimal(value), kind).as_py()


def _as_bytes(value: Any, _kind: pa.DataType) -> bytes:
    return bytes(value)


_SIMPLE: tuple[tuple[Callable[[Any], bool], tuple[type, ...], Callable[[Any, Any], Any]], ...] = (
    (types.is_boolean, (bool,), _as_it_is),
    (types.is_string, (str,), _encodable),
    (types.is_large_string, (str,), _encodable),
    (types.is_binary, (bytes, bytearray, memoryview), _as_bytes),
    (types.is_large_binary, (bytes, bytearray, memoryview), _as_bytes),
    (types.is_date, (date,), _as_it_is),
    (types.is_decimal, (Decimal, int), _as_decimal),
    (types.is_duration, (timedelta,), _as_it_is),
    (types.is_time, (time,), _as_it_is),
    (types.is_null, (), _as_it_is),
)
"""A test of the type, the accepted classes, and the conversion of a value."""
