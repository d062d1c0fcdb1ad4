"""The visits that Spark requests, and the rows on their way, without Spark."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from math import nan
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from carried import COLUMNS, KINDS, work
from msgspec.structs import replace
from pyspark import cloudpickle

from asyncwait.backends.spark.carry import _processor
from asyncwait.backends.spark.carry._host import CarryWork
from asyncwait.backends.spark.carry._processor import CarryFailed, CarryProcessor, in_short
from asyncwait.backends.spark.carry._records import (
    OutcomeCodec,
    Packing,
    RowCodec,
    key_bytes,
    packed,
    unpacked,
    unpacked_outcomes,
    zoned,
)
from asyncwait.spec.carry import Identity, Outcome, Row, Visit


async def echo(row: Any) -> dict[str, str]:
    return {"told": row.name}


class State:
    def __init__(self) -> None:
        self.value: tuple[Any, ...] | None = None
        self.timers: list[int] = []
        self.registerTimer = self.timers.append

    def getValueState(self, name: str, schema: str) -> "State":  # noqa: N802 - Spark's name
        return self

    def get(self) -> Any:
        return self.value

    def update(self, value: tuple[Any, ...]) -> None:
        self.value = value

    def clear(self) -> None:
        self.value = None


class Host:
    figures = (2, 0.5, 3, 1, 0, 0)

    def __init__(self) -> None:
        self.wanted: list[int] = []
        self.gaps: list[int] = []

    def after(self, gap: int) -> "Host":
        self.gaps.append(gap)
        return self

    def visit(self, visit: Visit) -> dict[Identity, Outcome]:
        self.wanted.append(len(visit.wanted))
        return {item.identity: b"!" for item in visit.wanted} if self.wanted[1:] else {}


def opened(made: CarryWork, state: State) -> CarryProcessor:
    processor = CarryProcessor(cloudpickle.dumps(made))
    processor.init(state)
    return processor


def came(made: CarryWork, *ids: int) -> Any:
    batch = pa.RecordBatch.from_pylist([{"id": each, "name": "a"} for each in ids], schema=COLUMNS)
    return SimpleNamespace(rows=packed(map(Row, made.records.encode(batch))))


def at(stamp: int) -> Any:
    return SimpleNamespace(getCurrentProcessingTimeInMs=lambda: stamp)


def out(rows: Iterator[Any]) -> list[bytes]:
    return [each for row in rows if row.rows for each in unpacked_outcomes(row.rows)]


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    found = Host()
    monkeypatch.setattr(_processor, "client", lambda *_: found)
    return found


def test_a_timer_of_a_batch_that_has_brought_rows_is_no_second_visit(host: Host) -> None:
    made, state = work(echo), State()
    processor, rows = opened(made, state), iter([came(made, 1, 1)])

    assert out(processor.handleInputRows(("0",), rows, at(1_500))) == []
    assert out(processor.handleExpiredTimer(("0",), at(1_500), None)) == []
    assert host.wanted == [2]
    assert out(processor.handleExpiredTimer(("0",), at(2_100), None)) == []
    assert out(processor.handleExpiredTimer(("0",), at(3_200), None)) == [b"!", b"!"]
    assert (host.wanted, state.value, state.timers) == ([2, 2, 0], None, [2_000, 3_000])
    assert host.gaps == [0, 600, 1_100]


def test_restored_rows_are_in_flight_before_those_of_the_first_batch(host: Host) -> None:
    made, state = work(echo), State()
    processor, row = opened(made, state), came(made, 2, 1, 2)

    processor.handleInitialState(("0",), row, at(1_500))
    assert state.value is not None
    held = processor._read(processor._lane_of("0"), state.value[0])
    rows = made.records.decode(each.record for each in held.in_flight)
    assert rows == [(2, "a"), (1, "a"), (2, "a")]
    assert [each.identity[1:] for each in held.in_flight] == [(1_499, 0), (1_499, 0), (1_499, 1)]
    assert state.timers == [2_000]
    assert out(processor.handleInputRows(("0",), iter([row]), at(1_500))) == []
    assert (host.wanted, host.gaps) == ([6], [1])


ABOUT = {"version": "1", "fn": "a", "capacity": "50", "cache": "x" * 50, "limits": "()"}
VERSION = {"version": "2"}
REFUSED: list[tuple[dict[str, Any], dict[str, str], str]] = [
    ({"columns": "others"}, {}, "other columns: columns; now they are others"),
    ({"lanes": 1}, VERSION, "records are in flight in 2 lanes, and now there are 1"),
    ({}, {"fn": "b"}, r"another fn \(a, now b\)"),
    (
        {},
        {"capacity": "60", "cache": "", "limits": "y" * 50},
        r"another capacity \(50, now 60\) and another cache \(unknown, now none\) and other limits",
    ),
    *(
        ({}, VERSION | {name: "b"}, f"came with another {name}: a row would overtake")
        for name in ("lane_by", "key", "mode")
    ),
]


def restarted(changed: dict[str, Any], about: dict[str, str]) -> list[bytes]:
    """Return what comes out of a lane in flight whose query starts again with changes."""
    before = dict.fromkeys(("lane_by", "key", "mode"), "a") | ABOUT
    made, state = replace(work(echo), about=shortened(before)), State()
    out(opened(made, state).handleInputRows(("0",), iter([came(made, 1)]), at(1_500)))
    now = replace(made, about=shortened(before | about), **changed)
    return out(opened(now, state).handleExpiredTimer(("0",), at(2_100), None))


def shortened(about: dict[str, str]) -> dict[str, str]:
    return {name: in_short(text) for name, text in about.items()}


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_a_changed_restart_is_refused_by_name_while_rows_are_in_flight(
    host: Host, case: int
) -> None:
    changed, about, says = REFUSED[case]
    with pytest.raises(CarryFailed, match=says):
        restarted(changed, about)
    assert host.wanted == [1]


@pytest.mark.parametrize("about", [{}, VERSION, VERSION | {"fn": "b", "capacity": "60"}])
def test_another_version_visits_again(host: Host, about: dict[str, str]) -> None:
    restarted({"pause": 10, "order_by": (1,)}, about)
    assert host.wanted == [1, 1]


def test_rows_of_a_batch_are_in_order_of_their_values(host: Host) -> None:
    columns = pa.schema([pa.field("x", pa.float64())])
    made = replace(work(echo), travelling=columns, order_by=[0])
    batch = pa.RecordBatch.from_pydict({"x": [3, nan, 0.5, None, nan, 1]}, schema=columns)
    rows = [*map(Row, made.records.encode(batch))]

    ordered = CarryProcessor(cloudpickle.dumps(made))._in_order(rows)

    cells = [cell for (cell,) in made.records.decode(row.record for row in ordered)]
    assert str(cells) == "[None, 0.5, 1.0, 3.0, nan, nan]"


@pytest.mark.parametrize(("kind", "value"), KINDS, ids=lambda given: str(given)[:20])
def test_a_row_comes_back_as_it_was(kind: pa.DataType, value: Any) -> None:
    schema = pa.schema([pa.field("a", kind), pa.field("b", kind)])
    batch = pa.RecordBatch.from_arrays(
        [pa.array([value, None], kind), pa.array([None, value], kind)], schema=schema
    )
    codec = RowCodec(schema)

    assert codec.batch(codec.decode(codec.encode(batch))).equals(batch)


def test_an_outcome_has_what_is_kept_of_the_row_in_front_of_each_result() -> None:
    rows = RowCodec(pa.schema([pa.field("a", pa.int64()), pa.field("b", pa.string())]))
    codec = OutcomeCodec(rows, [1], pa.schema([pa.field("c", pa.float64())]))
    batch = pa.RecordBatch.from_pylist([{"a": 1, "b": "x"}], schema=rows.columns)
    (record,) = rows.encode(batch)
    outcomes = [codec.encode(record, results) for results in ([(0.5,), (1.5,)], [])]

    (out,) = codec.batches(outcomes)

    assert out.to_pylist() == [{"b": "x", "c": 0.5}, {"b": "x", "c": 1.5}]


@pytest.mark.parametrize(
    ("one", "other"), [((nan,), (-nan,)), ((0.0,), (-0.0,)), (([0.0],), ([-0.0],))], ids=str
)
def test_keys_are_equal_where_spark_takes_them_for_equal(one: Any, other: Any) -> None:
    assert key_bytes(one) == key_bytes(other)
    assert key_bytes((1,)) != key_bytes((2,))


def test_event_times_are_those_of_a_watermark() -> None:
    schema = pa.schema([pa.field("t", pa.timestamp("us", tz="UTC"))])
    times = pa.array([1_999, -1, None], schema.field("t").type)
    batch = pa.RecordBatch.from_arrays([times, pa.array([0, 0, 0])], names=["t", "hash"])

    out = Packing(schema, time=0).packed(batch, [3])

    assert [row.time for row in unpacked(out.column("rows")[0].as_py())] == [1, -1, None]


def test_instants_are_given_in_the_zone_of_the_session() -> None:
    instant = pa.timestamp("us", tz="UTC")
    inner = pa.struct([("a", pa.list_(instant)), ("b", pa.map_(pa.string(), instant))])
    schema = pa.schema([pa.field("t", instant), pa.field("s", inner)])
    at = datetime(2026, 1, 1, 3, tzinfo=UTC)
    rows = [{"t": at, "s": {"a": [at], "b": [("k", at)]}}]
    codec = RowCodec(zoned(schema, "America/New_York"))

    batch = codec.batch(codec.decode(codec.encode(pa.RecordBatch.from_pylist(rows, schema))))

    (row,) = batch.to_pylist()
    assert row == rows[0]
    for found in (row["t"], row["s"]["a"][0], row["s"]["b"][0][1]):
        assert found.utcoffset() == timedelta(hours=-5)


def test_rows_are_packed_by_their_lanes() -> None:
    schema = pa.schema([pa.field("a", pa.int64())])
    batch = pa.RecordBatch.from_pydict({"_0": [1, 2, 3, 4], "_1": [6, 9, 6, -9]})

    out = Packing(schema, key=[0]).packed(batch, [7, 9])

    codec = RowCodec(schema)
    rows = {lane: [*unpacked(data)] for lane, data in zip(*out.to_pydict().values(), strict=True)}
    records = {lane: codec.decode(row.record for row in found) for lane, found in rows.items()}
    assert records == {7: [(1,), (3,)], 9: [(2,), (4,)]}
    assert rows[7][0].key == key_bytes((1,))
