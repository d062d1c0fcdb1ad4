"""A scenario is played leg by leg: what each leg is given.

What is written down of a leg is held against its plan with every trace, and against the rules.
"""

from msgspec.structs import replace

from asyncwait.conformance.evidence import scenario_of, told
from asyncwait.conformance.harness import play_leg
from asyncwait.reference import open_operator
from asyncwait.spec import Record, Snapshot
from asyncwait.spec.scenario import (
    Ending,
    Leg,
    LegStart,
    Timed,
    last_snapshot,
    next_leg,
)

A = Record("a")


CRASHING = scenario_of(
    "0: a ^1; 60: b; 200: c; a: 100 gives x; crashes 80 capacity=2, 50 mode=unordered"
)


def test_a_leg_begins_with_the_last_snapshot_and_the_input_behind_it() -> None:
    first = LegStart.first(CRASHING)
    second = next_leg(first, play_leg(open_operator, first))

    assert second is not None
    assert second.restored == Snapshot(1, (A,))
    assert (second.first_index, second.began_at) == (2, 80)
    assert second.inputs == (Timed(0, Record("b")), Timed(120, Record("c")))
    assert (second.config.capacity, second.config.mode) == (2, "ordered")


def test_without_a_snapshot_a_leg_begins_anew() -> None:
    first = LegStart.first(replace(CRASHING, inputs=(Timed(0, A),)))
    second = next_leg(first, play_leg(open_operator, first))

    assert second is not None
    assert (second.first_index, second.restored, second.inputs) == (0, None, first.inputs)


def test_a_snapshot_on_request_says_itself_where_the_input_goes_on() -> None:
    plan = LegStart(CRASHING, first_index=1)
    leg = Leg(Ending("crashed"), told("0: gets |1, gets |7=2"))

    assert last_snapshot(plan, leg) == (Snapshot(7, read=2), 3)
