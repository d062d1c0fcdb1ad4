"""Where equal records leave it open what became of which, no explanation may be overlooked."""

from collections.abc import Iterator

import pytest
from judged import broken_rules
from msgspec.structs import replace

from asyncwait.conformance.evidence import Run, scenario_of
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import NEVER, Finding, LegHistory, judge, leg_check
from asyncwait.reference import open_operator
from asyncwait.spec import Record
from asyncwait.spec.scenario import (
    HandlerAsked,
    SinkTook,
    Trace,
    scenarios_from_json,
)

A = Record("a")
ANSWERED_AND_LATE = scenario_of(
    "unordered; timeout 40; handled; 0: a a a; a: 40 gives a1, late gives late"
)
"""Three equal records, whose calls all answer at their deadlines."""


def one_timed_out() -> Trace:
    """Return a run in which one of the three was timed out; which, nobody can see."""
    trace = play(open_operator, ANSWERED_AND_LATE, "asyncio")
    (leg,) = trace.legs
    asked = [event for event in leg.events if isinstance(event, HandlerAsked)]
    took = [event for event in leg.events if isinstance(event, SinkTook)]
    answered = [replace(event, element=Record("a1")) for event in took[:2]]
    changed = {id(old): new for old, new in zip(took, answered, strict=False)}
    events = (changed.get(id(e), e) for e in leg.events if not any(e is a for a in asked[1:]))
    return replace(trace, legs=(replace(leg, events=tuple(events)),))


@pytest.mark.parametrize("which", [0, 1, 2])
def test_each_of_them_may_be_the_one_that_was_timed_out(which: int) -> None:
    @leg_check("TEST-1")
    def it_was_this_one(leg: LegHistory) -> Iterator[Finding]:
        late = leg.records[which].asked_at < NEVER
        yield None if late else (f"record {which} was not timed out", 40)

    judged = judge(ANSWERED_AND_LATE, one_timed_out(), {"TEST-1": it_was_this_one})

    assert dict(judged.violations()) == {}


def test_what_no_explanation_keeps_is_broken() -> None:
    @leg_check("TEST-1")
    def two_of_them(leg: LegHistory) -> Iterator[Finding]:
        late = [item.pos for item in leg.records if item.asked_at < NEVER]
        yield None if len(late) == 2 else (f"expected two, and {len(late)} was timed out", 40)

    judged = judge(ANSWERED_AND_LATE, one_timed_out(), {"TEST-1": two_of_them})

    assert [violation.text for _, violation in judged.violations()] == [
        "expected two, and 1 was timed out"
    ]


def test_an_error_may_be_of_one_that_answered_at_its_deadline_before_another_was_late() -> None:
    (scenario,) = scenarios_from_json(ANSWERED_THEN_LATE)

    trace = play(open_operator, scenario, "asyncio")

    assert trace.legs[0].ending.error == "CallTimedOut"
    assert broken_rules(Run(scenario, trace)) == {}


ANSWERED_THEN_LATE = b"""[{"timeout": 80, "form": "callback", "sink": [{"does": "pause", "n": 120}],
    "inputs": [
        {"at": 0, "element": {"type": "record", "value": "b"}},
        {"at": 0, "element": {"type": "latency", "marked_at": 0}, "blocks": 40},
        {"at": 0, "element": {"type": "record", "value": "b"}}],
    "plans": [{"value": "b", "steps": [{"does": "raise", "after": 80}, {"after": 120}]}]}]"""
"""Two equal records: the call of one raises at its deadline, that of the other one is late."""
