"""Records of a snapshot as the first rows of a stream."""

import re
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
from pyarrow import types

from asyncwait.backends.spark.carry._records import batch_of, zoned
from asyncwait.backends.spark.frame._values import python_type
from asyncwait.spec import InvalidConfig, Record, Snapshot
from asyncwait.spec.snapshots import SnapshotError, decode_snapshot
from asyncwait.spec.texts import one_line, shown

_Way = tuple[pa.Field, pa.Field, Any]
"""A column, the same column with instants in UTC, and the type of its values in Python."""


def restored(path: str, columns: pa.Schema) -> pa.RecordBatch:
    """Return the records of a snapshot in their order, as rows of some columns.

    Watermarks are left out, because none passes the operator.

    Args:
        path: of the file.
        columns: of the stream. A record is a dict with one value for each, or the plain value if
            there is one column. Values that JSON lacks are text, as msgspec writes them.

    Raises:
        InvalidConfig: there is no such snapshot, or it has an upstream one, or a record does not
            fit.
    """
    held = [each for each in _read(path).in_flight if isinstance(each, Record)]
    kinds = [python_type(field.type) | None for field in columns]
    ways = [*zip(columns, zoned(columns, "UTC"), kinds, strict=True)]
    rows = [_row(f"{place} of {path!r}", each, ways) for place, each in enumerate(held)]
    return batch_of(rows, columns)


def _read(path: str) -> Snapshot:
    try:
        found = decode_snapshot(Path(path).read_bytes())
    except (OSError, ValueError, SnapshotError) as error:
        raise InvalidConfig(f"restore {shown(path)} can't be read: {one_line(error)}") from error
    if found.upstream is not None:
        text = "the snapshot of one operator, and not of a chain, whose others would lose theirs"
        raise InvalidConfig.of("restore", path, text)
    return found


def _row(name: str, record: Record, ways: list[_Way]) -> list[Any]:
    names = [field.name for field, *_ in ways]
    value = record.value if len(names) != 1 else {names[0]: record.value}
    if not isinstance(value, dict) or value.keys() != {*names}:
        expected = f"a value for each of {one_line(', '.join(names))}"
        raise InvalidConfig.of(f"restore: record {name}", record.value, expected)
    return [_cell(name, value[each], way) for each, way in zip(names, ways, strict=True)]


def _cell(name: str, given: Any, way: _Way) -> Any:
    """Return a value in the type of its column.

    It is compared in UTC: in a zone that repeats an hour, Python finds an instant in that hour
    unequal to itself.
    """
    field, plain, kind = way
    what = f"restore: column {one_line(field.name)} of record {name}"
    try:
        cell = msgspec.convert(given, kind)
        (back,) = pa.array([cell], plain.type).to_pylist()
        if field.type != plain.type:  # In its own zone an instant may be before the year 1.
            pa.array([cell], field.type).to_pylist()
        fits = cell == back and _is_whole(given, back, plain)
    except (msgspec.ValidationError, pa.ArrowException, ValueError, OverflowError) as error:
        raise InvalidConfig(f"{what} is {shown(given)}, and {one_line(error)}") from error
    if not fits:
        expected = f"a {one_line(field.type)}; it would become {shown(back)}"
        raise InvalidConfig.of(what, given, expected)
    return cell


def _is_whole(given: Any, cell: Any, field: pa.Field) -> bool:
    """Whether no part of a value was dropped or rounded, and no null is where none may be."""
    kind = field.type
    if cell is None:
        return bool(field.nullable)
    if types.is_struct(kind):
        inner = [kind.field(place) for place in range(kind.num_fields)]
        same = given.keys() == cell.keys()
        return same and all(_is_whole(given[f.name], cell[f.name], f) for f in inner)
    if types.is_map(kind):
        sides = enumerate((kind.key_field, kind.item_field))
        return all(
            _is_whole(pair[side], became[side], each)
            for side, each in sides
            for pair, became in zip(given, cell, strict=True)
        )
    if isinstance(cell, list):
        return all(_is_whole(*pair, kind.value_field) for pair in zip(given, cell, strict=True))
    return _is_exact(given, cell)


def _is_exact(given: Any, cell: Any) -> bool:
    if isinstance(cell, datetime | time | timedelta):
        return _FINER.search(given) is None
    return isinstance(given, str) or bool(given == cell)


_FINER = re.compile(r"[.,]\d{6}\d*[1-9]")
"""Matches a time with less than a microsecond, which msgspec rounds."""
