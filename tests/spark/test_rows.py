"""Elements as rows: each kind comes back as it was, and what can't is refused by name."""

import pyarrow as pa
import pytest

from asyncwait.backends.spark._rows import ELEMENT_SCHEMA, ElementRows
from asyncwait.spec import (
    Barrier,
    Element,
    LatencyMarker,
    Record,
    Snapshot,
    Watermark,
    WatermarkStatus,
)
from asyncwait.spec.snapshots import NotPortable

ROWS = ElementRows()

ELEMENTS: list[Element] = [
    Record("a"),
    Record(None, 0, 0),
    Record("", -5, ""),
    Record([1, 2.5, {"b": None}], 2**62, ["k", 1]),
    Record(False, key=False),
    Watermark(-(2**63)),
    WatermarkStatus(idle=True),
    LatencyMarker(3),
    LatencyMarker(0, "upstream"),
    Barrier(0),
    Snapshot(9, (Record("a", 1, "k"), Watermark(1)), 3, Snapshot(9, (WatermarkStatus(idle=True),))),
]


@pytest.mark.parametrize("elements", [ELEMENTS, []])
def test_every_element_comes_back_as_it_was(elements: list[Element]) -> None:
    batch = ROWS.encode(elements)
    assert batch.schema == ELEMENT_SCHEMA
    assert batch.num_rows == len(elements)
    names = [*reversed(ELEMENT_SCHEMA.names), "more"]
    arrays = [*reversed(batch.columns), pa.nulls(batch.num_rows)]
    for columns in (batch, pa.RecordBatch.from_arrays(arrays, names)):
        assert list(ROWS.decode(columns)) == elements


@pytest.mark.parametrize(
    ("record", "what"),
    [
        (Record({1, 2}, 5), r"^Record \{1, 2\} @ 5: value "),
        (Record("a", key=float("nan")), "key "),
    ],
)
def test_what_json_cannot_carry_is_refused_by_name(record: Record, what: str) -> None:
    with pytest.raises(NotPortable, match=what):
        ROWS.encode([Record("a"), record])
