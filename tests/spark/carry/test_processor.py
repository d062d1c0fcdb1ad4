"""The visits that Spark asks for, without Spark."""

from collections.abc import Iterator
from math import nan
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from carried import COLUMNS, work
from msgspec.structs import replace
from pyspark import cloudpickle

from asyncwait.backends.spark.carry import _processor
from asyncwait.backends.spark.carry._processor import CarryFailed, CarryProcessor, in_short
from asyncwait.backends.spark.carry._records import packed, unpacked_outcomes
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
        self.gaps: list[tuple[int | None, int]] = []

    def after(self, stamp: int | None, now: int) -> "Host":
        self.gaps.append((stamp, now))
        return self

    def visit(self, visit: Visit) -> dict[Identity, Outcome]:
        self.wanted.append(len(visit.wanted))
        return {item.identity: b"!" for item in visit.wanted} if self.wanted[1:] else {}


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
    processor = CarryProcessor(cloudpickle.dumps(made))
    processor.init(state)
    batch = pa.RecordBatch.from_pylist([{"id": 1, "name": "a"}] * 2, schema=COLUMNS)
    rows = [SimpleNamespace(rows=packed(map(Row, made.records.encode(batch))))]

    assert out(processor.handleInputRows(("0",), iter(rows), at(1_500))) == []
    assert out(processor.handleExpiredTimer(("0",), at(1_500), None)) == []
    assert host.wanted == [2]
    assert out(processor.handleExpiredTimer(("0",), at(2_100), None)) == []
    assert out(processor.handleExpiredTimer(("0",), at(3_200), None)) == [b"!", b"!"]
    assert (host.wanted, state.value, state.timers) == ([2, 2, 0], None, [2_000, 3_000])
    assert host.gaps == [(None, 1_500), (1_500, 2_100), (2_100, 3_200)]


def test_restored_rows_are_in_flight_before_those_of_the_first_batch(host: Host) -> None:
    made, state = work(echo), State()
    processor = CarryProcessor(cloudpickle.dumps(made))
    processor.init(state)
    batch = pa.RecordBatch.from_pylist([{"id": each, "name": "a"} for each in (2, 1, 2)], COLUMNS)
    row = SimpleNamespace(rows=packed(map(Row, made.records.encode(batch))))

    processor.handleInitialState(("0",), row, at(1_500))
    assert state.value is not None
    held = processor._read(processor._lane_of("0"), state.value[0])
    assert [each for each, _ in made.records.decode(each.record for each in held.in_flight)] == [
        2,
        1,
        2,
    ]
    assert [each.identity[1:] for each in held.in_flight] == [(1_499, 0), (1_499, 0), (1_499, 1)]
    assert state.timers == [2_000]
    assert out(processor.handleInputRows(("0",), iter([row]), at(1_500))) == []
    assert (host.wanted, host.gaps) == ([6], [(1_499, 1_500)])


def test_a_state_whose_rows_have_other_columns_is_refused(host: Host) -> None:
    made, state = work(echo), State()
    batch = pa.RecordBatch.from_pylist([{"id": 1, "name": "a"}], schema=COLUMNS)
    rows = [SimpleNamespace(rows=packed(map(Row, made.records.encode(batch))))]
    before = CarryProcessor(cloudpickle.dumps(made))
    before.init(state)
    out(before.handleInputRows(("0",), iter(rows), at(1_500)))
    after = CarryProcessor(cloudpickle.dumps(replace(made, columns="others")))
    after.init(state)

    with pytest.raises(CarryFailed, match="other columns: columns; now they are others"):
        out(after.handleExpiredTimer(("0",), at(2_100), None))


@pytest.mark.parametrize("name", ["lane_by", "key", "mode"])
def test_no_other_version_changes_what_keys_are_ordered_by(host: Host, name: str) -> None:
    made, state = replace(work(echo), about={"version": "1", name: "a"}), State()
    batch = pa.RecordBatch.from_pylist([{"id": 1, "name": "a"}], schema=COLUMNS)
    rows = [SimpleNamespace(rows=packed(map(Row, made.records.encode(batch))))]
    before = CarryProcessor(cloudpickle.dumps(made))
    before.init(state)
    out(before.handleInputRows(("0",), iter(rows), at(1_500)))
    changed = replace(made, about={"version": "2", name: "b"})
    after = CarryProcessor(cloudpickle.dumps(changed))
    after.init(state)

    with pytest.raises(CarryFailed, match=f"came with another {name}: a row would overtake"):
        out(after.handleExpiredTimer(("0",), at(2_100), None))


def test_a_refusal_names_the_values_of_settings_that_are_short(host: Host) -> None:
    about = {"capacity": "50", "cache": "x" * 50, "limits": "()", "version": ""}
    now = {"capacity": "60", "cache": "", "limits": "y" * 50, "version": ""}
    made = replace(work(echo), about={name: in_short(text) for name, text in about.items()})
    state, batch = State(), pa.RecordBatch.from_pylist([{"id": 1, "name": "a"}], schema=COLUMNS)
    rows = [SimpleNamespace(rows=packed(map(Row, made.records.encode(batch))))]
    before = CarryProcessor(cloudpickle.dumps(made))
    before.init(state)
    out(before.handleInputRows(("0",), iter(rows), at(1_500)))
    changed = replace(made, about={name: in_short(text) for name, text in now.items()})
    after = CarryProcessor(cloudpickle.dumps(changed))
    after.init(state)

    with pytest.raises(CarryFailed) as raised:
        out(after.handleExpiredTimer(("0",), at(2_100), None))
    told = "another capacity (50, now 60) and another cache (unknown, now none) and other limits"
    assert told in str(raised.value)


def test_rows_of_a_batch_are_in_order_of_their_values(host: Host) -> None:
    columns = pa.schema([pa.field("x", pa.float64())])
    made = replace(work(echo), travelling=columns, order_by=[0])
    batch = pa.RecordBatch.from_pydict({"x": [3, nan, 0.5, None, nan, 1]}, schema=columns)
    rows = [*map(Row, made.records.encode(batch))]

    ordered = CarryProcessor(cloudpickle.dumps(made))._in_order(rows)

    cells = [cell for (cell,) in made.records.decode(row.record for row in ordered)]
    assert str(cells) == "[None, 0.5, 1.0, 3.0, nan, nan]"
