"""Which values and elements are the same: never by `==`, and never by how they are written."""

from collections import Counter
from typing import Any

import pytest

from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import (
    has_plain_key,
    history_of,
    identity_of,
    is_same,
    is_same_element,
    key_of,
)
from asyncwait.reference import open_operator
from asyncwait.spec import Barrier, LatencyMarker, Record, Snapshot, Watermark, WatermarkStatus
from asyncwait.spec.scenario import Scenario, Timed

SAME = [
    ({"a": 1, "b": [2]}, {"b": [2], "a": 1}),
    ([1, (2, 3)], [1, [2, 3]]),  # a trace that travels as JSON has lists alone
    (float("nan"), float("nan")),
    ("", ""),
]
OTHERS = [
    (1, True),
    (1, 1.0),
    (0, False),
    (None, "null"),
    ("1", 1),
    ([1], [True]),
    ({"a": 1}, {"a": 1.0}),
    ([], {}),
    ("a @ 5", "a"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_equal_values_of_one_type_are_the_same(one: Any, other: Any) -> None:
    assert is_same(one, other)
    assert is_same_element(Record(one, key=one), Record(other, key=other))


@pytest.mark.parametrize(("one", "other"), OTHERS)
def test_values_that_only_look_alike_are_not(one: Any, other: Any) -> None:
    assert not is_same(one, other)
    assert not is_same_element(Record(one), Record(other))
    assert not is_same_element(Record("a", key=one), Record("a", key=other))


def test_elements_of_another_kind_are_others() -> None:
    elements = [
        Watermark(1),
        LatencyMarker(1),
        Barrier(1),
        Snapshot(1),
        WatermarkStatus(idle=True),
        Record(1),
        Record("a", 5),
        Record("a @ 5"),
        Record("a", key=5),
        Snapshot(1, (Record("a"),)),
        Snapshot(1, upstream=Snapshot(1)),
        Snapshot(1, read=0),
    ]

    assert len({identity_of(element) for element in elements}) == len(elements)


def test_a_timestamp_has_a_type_too() -> None:
    assert not is_same_element(Watermark(5), Watermark(5.0))  # type: ignore[arg-type]
    assert not is_same_element(Record("a", 1), Record("a", True))


def test_what_can_not_be_hashed_can_be_counted() -> None:
    records = [Record({"a": []}, key=[]), Record({"a": []}, key=[]), Record({"a": [0]})]

    assert sorted(Counter(map(identity_of, records)).values()) == [1, 2]


def test_what_is_no_element_has_an_identity() -> None:
    assert identity_of("a") == identity_of("a") != identity_of(Record("a"))
    assert identity_of(object()) != identity_of(object())


@pytest.mark.parametrize(
    ("one", "other", "same", "plain"),
    [
        ("x", "x", True, True),
        (7, 7, True, True),
        (1, 1.0, True, False),
        (1, True, True, False),
        (None, None, True, False),
        (["x", 1], ["x", 1.0], True, False),
        ({"a": [1], "b": 2}, {"b": 2.0, "a": [True]}, True, False),
        ("1", 1, False, False),
        ([], {}, False, False),
        (["x"], "x", False, False),
    ],
)
def test_which_keys_are_the_same(one: Any, other: Any, *, same: bool, plain: bool) -> None:
    scenario = Scenario(inputs=(Timed(0, Record("a", key=one)), Timed(0, Record("b", key=other))))
    (leg,) = history_of(scenario, play(open_operator, scenario, "asyncio")).legs
    before, item = leg.records

    assert (key_of(before) == key_of(item)) is same
    assert has_plain_key(before, item) is plain
