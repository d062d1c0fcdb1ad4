"""Chains of each pair of shipped operators are judged as one: a part of the quick suite each."""

from collections.abc import Callable, Iterator

import pytest

from asyncwait.backends import pool
from asyncwait.backends.chain import chain
from asyncwait.backends.chain.conformance import behind_one, family
from asyncwait.backends.threads.conformance._loops import PatientLoop
from asyncwait.backends.threads.conformance._server import open_served
from asyncwait.conformance import StreamBackend
from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.generation import generate
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import judge
from asyncwait.conformance.running import adapted
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import Capability, Scenario, Trace

NTH = 9
"""Of so many examples a chain is asked for one; each is asked of chains of all operators."""

GENERATED = 15


def broken(
    can: frozenset[Capability], number: int, play_one: Callable[[Scenario], Trace]
) -> Iterator[set[str]]:
    checks = {
        name: CHECKS[name]
        for name, rule in rules().items()
        if all(some & can for some in rule.needs)
    }
    examples = [each.scenario for each in EXAMPLES[number % NTH :: NTH]]
    for planned in (*examples, *generate(GENERATED, seed=number)):
        scenario = adapted(planned, can)
        yield set(dict(judge(scenario, play_one(scenario), checks).violations()))


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("number", "name"), list(enumerate(family())), ids=list(family()))
def test_each_pair_keeps_all_rules_that_hold_of_it(number: int, name: str) -> None:
    backend: StreamBackend = family()[name]()

    def play_one(scenario: Scenario) -> Trace:
        return play(backend.open_operator, scenario, backend.loop)

    found = list(broken(backend.capabilities, number, play_one))
    assert [each for each in found if each and not each & set(backend.expected_failures)] == []


@pytest.mark.parametrize("place", ["first", "second"])
def test_threads_are_chained_as_others_are(place: str) -> None:
    both = [open_served, pool.open_operator]
    joined = chain(*(both if place == "first" else reversed(both)))
    can = family()["chain-pool-pool-asyncio"]().capabilities
    if place == "second":
        can -= {Capability.CANCEL_CALLS}

    def play_one(scenario: Scenario) -> Trace:
        opens = lambda *given: behind_one(joined, *given)  # noqa: E731 - in a line
        return play(opens, scenario, loop_factory=PatientLoop)

    assert not any(broken(can, 0, play_one))
