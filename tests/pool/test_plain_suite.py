"""The suite judges the pool's way for plain values: generated scenarios, with records as values."""

from collections.abc import Iterator

import pytest
from judged import broken_rules
from msgspec.structs import replace
from plain_elements import PROFILES, opener

from asyncwait.conformance.evidence import Run
from asyncwait.conformance.generation import generate
from asyncwait.conformance.harness import LoopName, play
from asyncwait.conformance.running import adapted
from asyncwait.spec.scenario import Handler, Scenario, Step, declared

COUNT = 250
SEED = 1


def scenarios(seed: int) -> Iterator[Scenario]:
    """What plain values can be played with, as the generator has it."""
    for scenario in generate(COUNT, seed):
        fitting = adapted(scenario, declared(PROFILES, ()))
        asks_results = fitting.retry is not None and fitting.retry.on_result
        if not (fitting.wrong_argument or fitting.source_error == "not-iterable" or asks_results):
            yield fitting


def of_one_result(scenario: Scenario) -> Scenario:
    """The same, in which whatever answers gives one result."""
    plans = tuple(
        replace(
            plan,
            steps=tuple(map(_one, plan.steps)),
            handler=_one(plan.handler),
            failure=_one(plan.failure),
        )
        for plan in scenario.plans
    )
    return replace(scenario, plans=plans)


def _one(given: Step | Handler) -> Step | Handler:
    if given.does == "misreturn":
        return replace(given, does="reply", error="", results=("one",))
    return (
        replace(given, results=(given.results or ("one",))[:1]) if given.does == "reply" else given
    )


@pytest.mark.parametrize("loop", ["asyncio", "trio"])
@pytest.mark.parametrize("gives", ["many", "one"])
def test_plain_values_keep_every_rule_that_they_can_have(gives: str, loop: LoopName) -> None:
    """Whether a call gives many results or the one."""
    is_single = gives == "one"
    played = [of_one_result(each) if is_single else each for each in scenarios(SEED)]
    found = [broken_rules(Run(each, play(opener(single=is_single), each, loop))) for each in played]

    assert [each for each in found if each] == []
    assert len(played) > COUNT / 2
