"""With a profile less, or with the core alone, the suite still says something of every rule."""

import pytest
from refusing import Refused, refusing

from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import Judged, judge
from asyncwait.conformance.running import adapted
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import (
    ALL_CAPABILITIES,
    PROFILES,
    Capability,
    declared,
    key_of,
    needs,
)

PARTIAL = {
    **{f"all-but-{lacked}": declared(lacks=[lacked]) for lacked in PROFILES},
    "all-but-on-demand-snapshot": declared(lacks=["on-demand-snapshot"]),
    "core-ordered": declared(["ordered"]),
    "core-unordered": declared(["unordered"]),
}

each_partial = pytest.mark.parametrize("capabilities", PARTIAL.values(), ids=PARTIAL)


def played(capabilities: frozenset[Capability]) -> dict[bytes, Judged]:
    """Play every adapted example once, on an operator that refuses all that is missing."""
    operator = refusing(*(ALL_CAPABILITIES - capabilities))
    checks = {name: CHECKS[name] for name in applicable(capabilities)}
    scenarios = {key_of(s): s for s in (adapted(e.scenario, capabilities) for e in EXAMPLES)}
    return {key: judge(s, play(operator, s), checks) for key, s in scenarios.items()}


def applicable(capabilities: frozenset[Capability]) -> list[str]:
    """The ids of the rules that apply."""
    return [name for name, rule in rules().items() if rule.applies_to(capabilities)]


@each_partial
def test_an_operator_that_refuses_the_rest_conforms_and_no_rule_is_untested(
    capabilities: frozenset[Capability],
) -> None:
    """For each rule that applies, an example about it still shows it, and none is broken."""
    judged = played(capabilities)
    shown = {
        rule
        for example in EXAMPLES
        for rule in example.rules
        if (said := judged[key_of(adapted(example.scenario, capabilities))].by_rule.get(rule))
        if said.applied
    }

    assert {key: list(j.violations()) for key, j in judged.items() if any(j.violations())} == {}
    assert [j.error for j in judged.values() if j.error] == []
    assert [rule for rule in applicable(capabilities) if rule not in shown] == []


@pytest.mark.parametrize("profile", PROFILES)
def test_the_refusing_operator_does_refuse(profile: Capability) -> None:
    """What the test above plays would not get through if it had been left in a scenario."""
    scenario = next(e.scenario for e in EXAMPLES if profile in needs(e.scenario))

    leg = play(refusing(profile), scenario).legs[-1]

    assert (leg.ending.how, leg.ending.error) == ("failed", Refused.__name__)
