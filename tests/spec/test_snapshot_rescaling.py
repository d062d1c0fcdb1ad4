"""Snapshots are dealt out to several operators, and joined into one."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asyncwait.spec import InvalidConfig, Record, Snapshot, Watermark, WatermarkStatus
from asyncwait.spec.snapshots import Stored, merge_snapshots, split_snapshot

STORED = st.one_of(
    st.builds(Record, st.integers(0, 3)),
    st.builds(Watermark, st.integers(0, 5)),
    st.builds(WatermarkStatus, st.booleans()),
)
IN_FLIGHT = st.lists(STORED, max_size=12).map(tuple)


def records(*values: Any) -> tuple[Record, ...]:
    return tuple(Record(value) for value in values)


def records_of(elements: tuple[Stored, ...]) -> Counter[int]:
    return Counter(element.value for element in elements if isinstance(element, Record))


def test_records_are_dealt_in_turn_and_fences_to_every_part() -> None:
    before, after = Watermark(5), WatermarkStatus(True)
    snapshot = Snapshot(3, (*records("a", "b"), before, *records("c"), after, *records("d")))

    left, right = split_snapshot(snapshot, 2)

    assert left.in_flight == (*records("a"), before, *records("c"), after)
    assert right.in_flight == (*records("b"), before, after, *records("d"))


def test_records_are_dealt_by_the_callers_choice() -> None:
    snapshot = Snapshot(3, tuple(Record(value, key=value) for value in (-1, 0, 1, 2, 3)))

    parts = split_snapshot(snapshot, 2, lambda record: int(record.key))

    assert [[element.key for element in part.in_flight] for part in parts] == [  # type: ignore[union-attr]
        [0, 2],
        [-1, 1, 3],
    ]


@pytest.mark.parametrize("parts", [0, -2, 1.0, True])
def test_a_wrong_number_of_parts_is_refused(parts: Any) -> None:
    with pytest.raises(InvalidConfig, match=f"^parts must be .* got {parts} "):
        split_snapshot(Snapshot(3), parts)


def test_joining_takes_the_minimum_watermark() -> None:
    fast = Snapshot(3, (*records("a"), Watermark(5), *records("b"), Watermark(9), *records("c")))
    slow = Snapshot(3, (*records("d"), Watermark(3), *records("e"), Watermark(7), *records("f")))

    merged = merge_snapshots([fast, slow])

    assert merged.in_flight == (
        *records("a", "d"),
        Watermark(3),
        *records("e"),
        Watermark(5),
        *records("b"),
        Watermark(7),
        *records("f"),
        *records("c"),
    )


def test_what_is_for_no_part_to_say_is_left_out_when_joining() -> None:
    ahead = Snapshot(3, (*records("a"), Watermark(5), *records("b")))
    idle = Snapshot(3, (*records("a"), WatermarkStatus(True), Watermark(5)))

    assert merge_snapshots([ahead, Snapshot(3)]).in_flight == records("a", "b")
    assert merge_snapshots([idle]).in_flight == (*records("a"), Watermark(5))


@pytest.mark.parametrize(
    ("snapshots", "shown"), [([], r"\[\]"), ([Snapshot(3), Snapshot(4)], r"\[3, 4\]")]
)
def test_only_snapshots_of_one_checkpoint_are_joined(snapshots: list[Snapshot], shown: str) -> None:
    with pytest.raises(InvalidConfig, match=f"^snapshots must be .* got {shown} "):
        merge_snapshots(snapshots)


@given(IN_FLIGHT, st.integers(1, 4))
def test_splitting_loses_no_record_and_no_fence(in_flight: tuple[Stored, ...], parts: int) -> None:
    dealt = split_snapshot(Snapshot(1, in_flight), parts)

    assert len(dealt) == parts
    assert sum((records_of(part.in_flight) for part in dealt), Counter()) == records_of(in_flight)
    for part in dealt:
        fences = [element for element in part.in_flight if not isinstance(element, Record)]
        assert fences == [element for element in in_flight if not isinstance(element, Record)]


@given(st.lists(IN_FLIGHT, min_size=1, max_size=4))
def test_joining_loses_no_record_and_lets_none_fall_behind(parts: list[tuple[Stored, ...]]) -> None:
    merged = merge_snapshots([Snapshot(1, part) for part in parts]).in_flight

    assert records_of(merged) == sum((records_of(part) for part in parts), Counter())
    watermarks = [element for element in merged if isinstance(element, Watermark)]
    for part in parts:
        own = [element.timestamp for element in part if isinstance(element, Watermark)]
        assert all(mark.timestamp <= max(own, default=-1) for mark in watermarks)


@given(IN_FLIGHT, st.integers(1, 4))
def test_what_was_split_joins_to_the_same(in_flight: tuple[Stored, ...], parts: int) -> None:
    plain = tuple(e for e in in_flight if not isinstance(e, WatermarkStatus))

    merged = merge_snapshots(split_snapshot(Snapshot(1, in_flight), parts)).in_flight

    assert segments(merged) == segments(plain)


def segments(elements: tuple[Stored, ...]) -> list[tuple[Counter[int], int | None]]:
    found: list[tuple[Counter[int], int | None]] = []
    start = 0
    for place, element in enumerate(elements):
        if isinstance(element, Watermark):
            found.append((records_of(elements[start:place]), element.timestamp))
            start = place + 1
    return [*found, (records_of(elements[start:]), None)]
