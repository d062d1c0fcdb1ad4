"""A scenario is played leg by leg: what each leg is given.

What is written down of a leg is held against its plan with every trace, and against the rules.
"""

from typing import Any

from msgspec.structs import replace

from asyncwait.conformance.evidence import scenario_of, told
from asyncwait.conformance.harness import play, play_leg
from asyncwait.reference import open_operator
from asyncwait.spec import OperatorConfig, Record, Snapshot
from asyncwait.spec.scenario import (
    CallEnded,
    Ending,
    Leg,
    LegStart,
    Scenario,
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


def test_changes_of_the_configuration_stay_until_the_next_ones() -> None:
    trace = play(open_operator, CRASHING)

    assert [(leg.mode, leg.capacity, leg.ending.how) for leg in trace.legs] == [
        ("ordered", 4, "crashed"),
        ("ordered", 2, "crashed"),
        ("unordered", 2, "finished"),
    ]


def test_without_a_snapshot_a_leg_begins_anew() -> None:
    first = LegStart.first(replace(CRASHING, inputs=(Timed(0, A),)))
    second = next_leg(first, play_leg(open_operator, first))

    assert second is not None
    assert (second.first_index, second.restored, second.inputs) == (0, None, first.inputs)


def test_a_snapshot_on_request_says_itself_where_the_input_goes_on() -> None:
    plan = LegStart(CRASHING, first_index=1)
    leg = Leg(Ending("crashed"), told("0: gets |1, gets |7=2"))

    assert last_snapshot(plan, leg) == (Snapshot(7, read=2), 3)


def test_an_answer_that_is_left_out_makes_a_list_too_short() -> None:
    scenario = scenario_of(
        "failures_handled; batch max_size=3; 0: a b c; a c: 40 gives *1; b: 40 gives with whole"
    )

    assert given_for_three(scenario) == [["a1"], ["c1"]]


def given_for_three(scenario: Scenario) -> Any:
    given = []

    def watched(config: OperatorConfig, fn: Any, *others: Any, **named: Any) -> Any:
        async def call(values: list[Any]) -> Any:
            given.append(await fn(values))
            return given[-1]

        call.failure = fn.failure  # type: ignore[attr-defined]
        return open_operator(config, call, *others, **named)

    play(watched, scenario)
    return given[0]


def test_a_batch_that_goes_on_when_it_is_cancelled_answers_then() -> None:
    scenario = scenario_of(
        "timeout 80; handled; batch max_size=2; 0: a b; source_ends_at 200;"
        "a: never with swallow whole, late gives a?; b: 40 gives b1, late gives b?"
    )

    (leg,) = play(open_operator, scenario).legs

    ended = [event for event in leg.events if isinstance(event, CallEnded)]
    assert [(event.call, event.how) for event in ended] == [(0, "returned"), (1, "returned")]
