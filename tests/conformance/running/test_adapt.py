"""What a backend can't do is taken out of every scenario, and nothing else."""

import pytest
from sample import some

from asyncwait.conformance.areas import EXAMPLES
from asyncwait.conformance.running import adapted
from asyncwait.spec.scenario import (
    ALL_CAPABILITIES,
    PROFILES,
    Capability,
    Scenario,
    declared,
    needs,
    scenarios_from_json,
    scenarios_to_json,
)

PARTIAL = {
    **{f"all-but-{lacked}": declared(lacks=[lacked]) for lacked in Capability},
    **{f"core-{mode}": declared([mode]) for mode in ("ordered", "unordered")},
}


@pytest.fixture(scope="module")
def many(quick_scenarios: tuple[Scenario, ...]) -> tuple[Scenario, ...]:
    every = (*(example.scenario for example in EXAMPLES), *quick_scenarios)
    return tuple(some(every, 4, "adapted"))


def test_an_able_backend_gets_each_scenario_as_it_is(many: tuple[Scenario, ...]) -> None:
    assert all(adapted(scenario, ALL_CAPABILITIES) is scenario for scenario in many)


@pytest.mark.parametrize("capabilities", PARTIAL.values(), ids=PARTIAL)
def test_an_adapted_scenario_needs_nothing_that_is_missing(
    many: tuple[Scenario, ...], capabilities: frozenset[Capability]
) -> None:
    possible = [scenario for scenario in many if needs(scenario) <= capabilities]
    fitting = tuple(adapted(scenario, capabilities) for scenario in many)

    assert [scenario for scenario in fitting if not needs(scenario) <= capabilities] == []
    assert possible
    assert all(adapted(each, capabilities) is each for each in (*possible, *fitting))
    assert scenarios_from_json(scenarios_to_json(fitting)) == fitting


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_is_needed_by_some_examples(profile: Capability) -> None:
    needing = [e.name for e in EXAMPLES if profile in needs(e.scenario)]

    assert len(needing) >= 10
