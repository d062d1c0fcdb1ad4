"""Elements as rows of a DataFrame, and back."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import msgspec
import pyarrow as pa
from msgspec.structs import replace

from asyncwait.spec import Element, Record
from asyncwait.spec.snapshots import NotPortable
from asyncwait.spec.texts import one_line


class RowCodec(Protocol):
    """Codec between rows of a partition and the values of an operator."""

    def decode(self, batch: pa.RecordBatch, /) -> Iterable[Any]:
        """Return the values of the rows of `batch`, in order."""
        ...

    def encode(self, elements: Sequence[Any], /) -> pa.RecordBatch:
        """Return `elements` as rows; always with the same schema."""
        ...


ELEMENT_SCHEMA = pa.schema(
    [pa.field("value", pa.string()), pa.field("element", pa.binary(), nullable=False)]
)
"""One row for each element: the value of a record as JSON, and the element without it, encoded."""


class ElementRows:
    """The codec for streams of elements of every kind; values must be JSON."""

    schema = ELEMENT_SCHEMA

    def decode(self, batch: pa.RecordBatch) -> Iterable[Element]:
        """Return the elements in `batch`; columns outside the schema are ignored."""
        return map(element_of, *(batch.column(name).to_pylist() for name in self.schema.names))

    def encode(self, elements: Sequence[Element]) -> pa.RecordBatch:
        """Return `elements` as rows.

        Raises:
            NotPortable: a value has no JSON; the error names the record.
        """
        rows = [*map(_row, elements)]
        arrays = [
            pa.array([row[n] for row in rows], kind) for n, kind in enumerate(self.schema.types)
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Element).decode


def _row(element: Element) -> tuple[str | None, bytes]:
    if not isinstance(element, Record):
        return None, _encode(element)
    try:
        value = json.dumps(element.value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise NotPortable(f"{element}: value does not fit into a row: {one_line(error)}") from error
    return value, _encode(replace(element, value=None))


def element_of(value: str | None, encoded: bytes) -> Element:
    """Return the element of a row."""
    element: Element = _decode(encoded)
    return element if value is None else replace(element, value=json.loads(value))
