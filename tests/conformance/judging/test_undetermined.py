"""Checks abstain where a run does not determine what happened, or when."""

from collections.abc import Iterator

import pytest

from asyncwait.conformance.evidence import scenario_of
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import Check, Finding, LegHistory, judge, leg_check
from asyncwait.reference import open_operator


def always_broken(leg: LegHistory) -> Iterator[Finding]:
    yield "broken", leg.end_at


CHECKS: dict[str, Check] = {
    "when": leg_check("when")(always_broken),
    "what": leg_check("what", needs_times=False)(always_broken),
}


def judging(text: str) -> set[str]:
    """Return the checks that judge a run of the reference."""
    scenario = scenario_of(text)
    judged = judge(scenario, play(open_operator, scenario, "asyncio"), CHECKS)
    assert not judged.error
    return {name for name, said in judged.by_rule.items() if said.applied}


@pytest.mark.parametrize(
    "text",
    [
        "timeout 80; handled; 0: a; a: 40 gives a1, late gives late",
        "timeout 80; handled; 0: a; a: 80 gives a1, late gives late",
        "timeout 80; 0: a; a: 80 gives a1",
        "retry attempt_timeout=80; 0: a; a: 80 raises, gives a1",
    ],
)
def test_checks_judge_runs_that_determine_everything(text: str) -> None:
    assert judging(text) == {"what", "when"}


@pytest.mark.parametrize(
    "text",
    [
        "0: a; a: 40 gives a1 with blocks=40",
        "timeout 80; handled; 0: a b; a: never, late gives late; b: 40 gives b1 with blocks=120",
    ],
)
def test_checks_that_need_times_abstain_where_the_loop_was_blocked(text: str) -> None:
    assert judging(text) == {"what"}


def test_all_checks_abstain_where_decisions_are_open() -> None:
    assert judging("cache ttl=400; 0: a; a: 40 gives a1 with blocks=40") == set()
