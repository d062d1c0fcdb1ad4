"""Records of a snapshot as rows of a stream that begins with them."""

from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from asyncwait.backends.spark.frame._paid import python_type
from asyncwait.spec import InvalidConfig, Record, Snapshot
from asyncwait.spec.snapshots import SnapshotError, decode_snapshot
from asyncwait.spec.texts import one_line, shown


def restored(path: str, columns: pa.Schema) -> pa.RecordBatch:
    """Return the records of a snapshot in their order, as rows of some columns.

    Its watermarks are left out: none passes the operator.

    Args:
        path: of the file.
        columns: of the stream. A record is a dict with one value for each, or the plain value if
            there is one column. What JSON has no values for is text, as msgspec writes it.

    Raises:
        InvalidConfig: there is no such snapshot, or it is one of a chain, or a record does not fit.
    """
    held = [each for each in _read(path).in_flight if isinstance(each, Record)]
    kinds = [python_type(field.type) | None for field in columns]
    rows = [_row(f"{place} of {path!r}", each, columns, kinds) for place, each in enumerate(held)]
    cells = zip(*rows, strict=True) if rows else [()] * len(columns)
    arrays = [pa.array(each, field.type) for each, field in zip(cells, columns, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=columns)


def _read(path: str) -> Snapshot:
    try:
        found = decode_snapshot(Path(path).read_bytes())
    except (OSError, SnapshotError) as error:
        raise InvalidConfig(f"restore {shown(path)} can't be read: {one_line(error)}") from error
    if found.upstream is not None:
        text = "the snapshot of one operator, and not of a chain, whose others would lose theirs"
        raise InvalidConfig.of("restore", path, text)
    return found


def _row(name: str, record: Record, columns: pa.Schema, kinds: list[Any]) -> list[Any]:
    value = record.value if len(columns) != 1 else {columns.names[0]: record.value}
    if not isinstance(value, dict) or value.keys() != {*columns.names}:
        expected = f"a value for each of {', '.join(columns.names)}"
        raise InvalidConfig.of(f"restore: record {name}", record.value, expected)
    pairs = zip(columns, kinds, strict=True)
    return [_cell(name, value[field.name], field, kind) for field, kind in pairs]


def _cell(name: str, given: Any, field: pa.Field, kind: Any) -> Any:
    """Return a value as its column has it."""
    what = f"restore: column {field.name} of record {name}"
    try:
        cell = msgspec.convert(given, kind)
        (back,) = pa.array([cell], field.type).to_pylist()
    except (msgspec.ValidationError, pa.ArrowException, ValueError, OverflowError) as error:
        raise InvalidConfig(f"{what} is {shown(given)}, and {one_line(error)}") from error
    if cell != back or not _is_whole(given, cell) or (cell is None and not field.nullable):
        raise InvalidConfig.of(what, given, f"a {field.type}; it would become {shown(back)}")
    return cell


def _is_whole(given: Any, cell: Any) -> bool:
    """Whether nothing is left out, or rounded, of what was given."""
    match given:
        case dict():
            return given.keys() == cell.keys() and all(_is_whole(given[k], cell[k]) for k in given)
        case list():
            return all(map(_is_whole, given, cell))
        case int() | float():
            return bool(given == cell)
    return True
