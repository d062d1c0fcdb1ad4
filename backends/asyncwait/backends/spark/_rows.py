"""Elements as rows of a DataFrame, and back."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import pyarrow as pa

from asyncwait.spec import (
    Barrier,
    Element,
    LatencyMarker,
    Record,
    Snapshot,
    Watermark,
    WatermarkStatus,
)
from asyncwait.spec.snapshots import NotPortable, decode_snapshot, encode_snapshot
from asyncwait.spec.texts import one_line, shown


class RowCodec(Protocol):
    """Codec between rows of a partition and the values of an operator."""

    def decode(self, batch: pa.RecordBatch, /) -> Iterable[Any]:
        """Return the values of the rows of `batch`, in order."""
        ...

    def encode(self, elements: Sequence[Any], /) -> pa.RecordBatch:
        """Return `elements` as rows; always with the same schema."""
        ...


ELEMENT_SCHEMA = pa.schema(
    [
        pa.field("kind", pa.string(), nullable=False),
        pa.field("value", pa.string()),
        pa.field("timestamp", pa.int64()),
        pa.field("key", pa.string()),
        pa.field("payload", pa.binary()),
    ]
)
"""One row for each element.

`kind` is its type, `value` and `key` are JSON, `timestamp` is in milliseconds; `payload` holds a
snapshot. Elements with neither value nor payload use other columns: the number of a barrier and the
clock of a latency marker are in `timestamp`, the marker's source in `key`, and the idleness of the
stream in `value`.
"""


class ElementRows:
    """The codec for streams of elements of every kind; values and keys must be JSON."""

    schema = ELEMENT_SCHEMA
    _columns = tuple(ELEMENT_SCHEMA.names)

    def decode(self, batch: pa.RecordBatch) -> Iterable[Element]:
        """Return the elements in `batch`; columns outside the schema are ignored."""
        columns = (batch.column(name).to_pylist() for name in self._columns)
        return map(_element, *columns)

    def encode(self, elements: Sequence[Element]) -> pa.RecordBatch:
        """Return `elements` as rows.

        Raises:
            NotPortable: a value or a key has no JSON; the error names the record.
        """
        rows = [_row(element) for element in elements]
        columns = zip(*rows, strict=True) if rows else [()] * len(self._columns)
        arrays = [
            pa.array(column, field.type) for column, field in zip(columns, self.schema, strict=True)
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


_Row = tuple[str, str | None, int | None, str | None, bytes | None]


def _row(element: Element) -> _Row:
    match element:
        case Record():
            value, key = _json(element, "value"), _json(element, "key")
            return "record", value, element.timestamp, None if element.key is None else key, None
        case Watermark():
            return "watermark", None, element.timestamp, None, None
        case WatermarkStatus():
            return "status", json.dumps(element.idle), None, None, None
        case LatencyMarker():
            return "latency", None, element.marked_at, element.source, None
        case Barrier():
            return "barrier", None, element.checkpoint_id, None, None
        case Snapshot():
            return "snapshot", None, element.checkpoint_id, None, encode_snapshot(element)


def _json(record: Record, name: str) -> str:
    try:
        return json.dumps(getattr(record, name), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise NotPortable(f"{record}: {name} does not fit into a row: {one_line(error)}") from error


def _element(
    kind: str, value: str | None, timestamp: Any, key: str | None, payload: bytes | None
) -> Element:
    match kind:
        case "record":
            return Record(json.loads(value or "null"), timestamp, key and json.loads(key))
        case "watermark":
            return Watermark(timestamp)
        case "status":
            return WatermarkStatus(json.loads(value or "false"))
        case "latency":
            return LatencyMarker(timestamp, key or "")
        case "barrier":
            return Barrier(timestamp)
        case "snapshot":
            return decode_snapshot(payload or b"")
        case _:
            raise ValueError(f"expected the kind of an element, got {shown(kind)}; wrong rows?")
