"""Of records that are not called, some wait for room and some for their key."""

from typing import Any

import pytest

from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import Rest, explain, has_plain_key, judge, key_of
from asyncwait.reference import open_operator
from asyncwait.spec import Barrier, Record, Watermark
from asyncwait.spec.scenario import Plan, Scenario, SinkStep, Step, Timed

SLOW = tuple(Plan(value, (Step(after=100),)) for value in "abcdef")


def rest_at(at: float, *elements: Any, **fields: Any) -> Rest:
    """Return what the reference has at a time."""
    timed = tuple(Timed(0, element) for element in elements)
    scenario = Scenario("key-ordered", inputs=timed, plans=SLOW, **fields)
    trace = play(open_operator, scenario, "asyncio")
    assert not any(judge(scenario, trace, CHECKS).violations())
    (leg,) = explain(scenario, trace).history.legs
    return next(rest for rest in leg.rests if rest.at == at)


def keyed(values: str, key: Any) -> list[Record]:
    """Return records with a key."""
    return [Record(value, key=key) for value in values]


def value_of(item: Any) -> Any:
    """Return the value of an item, if there is one."""
    return None if item is None else item.element.value


def test_those_within_capacity_wait_for_their_key() -> None:
    """And the one behind them for room."""
    rest = rest_at(0, *keyed("abcd", "x"), capacity=3)

    assert (rest.uncalled, rest.undecided, rest.has_room) == (3, 1, False)
    assert (value_of(rest.first_uncalled), value_of(rest.first_for_room)) == (None, "d")


def test_a_record_of_another_key_may_wait_for_room_behind_them() -> None:
    """Its key is free, and there is none."""
    rest = rest_at(0, *keyed("abc", "x"), *keyed("d", "y"), capacity=3)

    assert value_of(rest.first_uncalled) == value_of(rest.first_for_room) == "d"
    assert not rest.has_room


def test_with_room_nobody_waits_for_it() -> None:
    """All who are not called wait for their key."""
    rest = rest_at(0, *keyed("abc", "x"), capacity=4)

    assert (rest.has_room, rest.first_uncalled, rest.first_for_room) == (True, None, None)


def test_a_barrier_behind_those_that_wait_for_their_key_is_owed() -> None:
    """One behind a record that waits for room is not: it waits with that."""
    waiting = {"capacity": 3, "sink": (SinkStep("pause", 40),)}

    within = rest_at(0, *keyed("abc", "x"), Barrier(1), **waiting)
    behind = rest_at(0, *keyed("abcd", "x"), Barrier(1), **waiting)

    assert (within.snapshot_owed is None, behind.snapshot_owed is None) == (False, True)


def test_a_watermark_may_take_room_or_not() -> None:
    """So whoever waits behind it may wait for room, and for sure does not."""
    rest = rest_at(0, *keyed("a", "x"), Watermark(1), *keyed("b", "x"), capacity=2)

    assert (rest.first_for_room, rest.has_room) == (None, False)


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
    """As in a dict; and which of them say so in the same words."""
    timed = tuple(Timed(0, Record(value, key=key)) for value, key in [("a", one), ("b", other)])
    scenario = Scenario(inputs=timed)
    (leg,) = explain(scenario, play(open_operator, scenario, "asyncio")).history.legs
    before, item = leg.records

    assert (key_of(before) == key_of(item)) is same
    assert has_plain_key(before, item) is plain
