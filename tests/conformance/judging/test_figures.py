"""What figures may be: exact between two instants, and free where the specification is."""

from typing import Any

import pytest
from judged import broken_rules

from asyncwait.conformance.evidence import (
    Events,
    Run,
    answered,
    at,
    called,
    ends,
    figures,
    input_ended,
    leg,
    replies,
    run,
    taken,
    took,
    waits,
)
from asyncwait.conformance.judging import impossible
from asyncwait.spec import Record, Watermark
from asyncwait.spec.scenario import Blocked, Scenario, SinkLeft, SinkStep, SourceClosed

A, B = Record("a"), Record("b")
_PLANS = (replies("a", 40, "a1"), replies("b", 40))


def complaints(played: Run) -> list[str]:
    """What the rules on figures say of a run."""
    return [
        text
        for rule, texts in broken_rules(played).items()
        for text in texts
        if rule.startswith("STAT")
    ]


def read_at(ms: float, **told: Any) -> Run:
    """One record, called at 0 and answered at 40, while the consumer pauses until 80."""
    scenario = Scenario(
        inputs=at(0, A), plans=_PLANS, sink=(SinkStep("pause", 80),), figures_at=(int(ms),)
    )
    events: list[tuple[float, Events]] = [
        (0, (*taken(0, 0), *called(0, "a"))),
        (ms - 0.5, figures(ms, **told)),
        (40, answered(40, 0, "a1")),
        (80, (*waits(80), *took(80, Record("a1")))),
    ]
    parts = (part for _, part in sorted(events, key=lambda event: event[0]))
    return run(scenario, leg(ends("finished", 80), *parts, input_ended(80)))


_THERE = {"in_flight": 1, "calls": 1, "max_in_flight": 1}


@pytest.mark.parametrize("held", [0, 1])
def test_what_happens_in_the_instant_of_a_reading_may_count_or_not(held: int) -> None:
    """The answer stands behind the reading, and may have been known all the same."""
    assert complaints(read_at(40, **_THERE, held=held, max_held=held, oldest=40)) == []


@pytest.mark.parametrize(("ms", "held"), [(20, 1), (60, 0)])
def test_what_happens_in_another_instant_counts_or_does_not(ms: int, held: int) -> None:
    """Before it, it does not; behind it, it does."""
    expected = 1 - held
    found = complaints(read_at(ms, **_THERE, held=held, max_held=held, oldest=ms))

    assert f"held is {held}, expected {expected}" in found


def silent(ms: float, in_flight: int) -> Run:
    """A record without results, decided at 40; the consumer waits from 80 on."""
    scenario = Scenario(
        inputs=at(0, B),
        plans=_PLANS,
        sink=(SinkStep("pause", 80),),
        source_ends_at=160,
        figures_at=(int(ms),),
    )
    held = {"held": in_flight, "oldest": ms * in_flight}
    read = figures(ms, in_flight=in_flight, calls=1, max_in_flight=1, max_held=in_flight, **held)
    begun = (*taken(0, 0), *called(0, "b"), *answered(40, 0))
    parts = (begun, read, waits(80)) if ms < 80 else (begun, waits(80), read)
    return run(scenario, leg(ends("finished", 160), *parts, input_ended(160)))


def test_a_record_without_results_may_leave_until_the_consumer_waits() -> None:
    """From its decision on it may be there or not; when the consumer has waited, it is gone."""
    assert complaints(silent(60, 1)) == []
    assert complaints(silent(60, 0)) == []
    assert complaints(silent(120, 0)) == []
    assert complaints(silent(120, 1)) == [
        "in_flight is 1, expected 0",
        "held is 1, expected 0",
        "oldest is 120 ms, expected 0: nothing is in flight",
    ]


@pytest.mark.parametrize(("in_flight", "waiting"), [(1, 0), (0, 1), (0, 0), (1, 1)])
def test_a_blocked_loop_admits_a_record_before_its_call_begins(
    in_flight: int, waiting: int
) -> None:
    """In the instant in which the loop is free again it is not known which of the two it did."""
    scenario = Scenario(inputs=at(0, A), plans=_PLANS, figures_at=(40,))
    read = figures(40, in_flight=in_flight, waiting=waiting, max_in_flight=in_flight)
    begun = (*waits(0), *taken(0, 0), Blocked(0, 40), *read, *called(40, "a"))
    ended = (*answered(80, 0, "a1"), *took(80, Record("a1")))

    assert complaints(run(scenario, leg(ends("finished", 80), begun, ended, input_ended(80)))) == []


@pytest.mark.parametrize(("blocked", "found"), [(40, []), (20, ["in_flight is 1, expected 0"])])
def test_a_record_is_admitted_whose_call_had_no_turn_before_all_was_over(
    blocked: int, found: list[str]
) -> None:
    """If the loop was blocked all the time; else the call would have begun."""
    scenario = Scenario(
        inputs=at(0, A),
        plans=_PLANS,
        sink=(SinkStep("block", blocked), SinkStep("leave")),
        figures_at=(0,),
    )
    read = figures(0, in_flight=1, max_in_flight=1)
    events = (*taken(0, 0), *read, Blocked(0, blocked), SinkLeft(40))

    assert complaints(run(scenario, leg(ends("left", 40), events)))[:1] == found


@pytest.mark.parametrize("waiting", [0, 1])
def test_a_watermark_may_wait_for_room(waiting: int) -> None:
    """That it takes a slot is no must."""
    scenario = Scenario(capacity=1, inputs=at(0, A, Watermark(1)), plans=_PLANS, figures_at=(20,))
    read = figures(20, in_flight=1, waiting=waiting, calls=1, max_in_flight=1, oldest=20)
    begun = (*waits(0), *taken(0, 0, 1), *called(0, "a"), *read)
    ended = (*answered(40, 0, "a1"), *took(40, Record("a1"), Watermark(1)))

    assert complaints(run(scenario, leg(ends("finished", 40), begun, ended, input_ended(40)))) == []


def test_figures_are_read_when_that_is_planned() -> None:
    """At each of the times, and once when the operator was left."""
    late = read_at(60, **_THERE)
    assert impossible(late.scenario, late.trace) is None

    early = run(
        Scenario(figures_at=(60,)),
        leg(ends("finished", 60), figures(40), (SourceClosed(60),)),
    )
    unplanned = run(Scenario(), leg(ends("finished", 60), figures(60)))
    expected = "leg 0: figures were read at {}, that is not planned, or not yet"

    assert impossible(early.scenario, early.trace) == expected.format(40)
    assert impossible(unplanned.scenario, unplanned.trace) == expected.format(60)
