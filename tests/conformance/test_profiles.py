"""With a capability less, or with the core alone, the suite still says something of every rule."""

from collections.abc import Callable
from functools import cache

import pytest

from asyncwait.backends.reference import Refused, family, refusing
from asyncwait.conformance import StreamBackend, stream_backend
from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.harness import play
from asyncwait.conformance.running import adapted
from asyncwait.conformance.verdict import Case, Tally, Verdict, conclude
from asyncwait.reference import open_operator
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import (
    ALL_CAPABILITIES,
    PROFILES,
    Capability,
    Trace,
    declared,
    key_of,
    needs,
)


def core_with(mode: str) -> StreamBackend:
    lacked = ALL_CAPABILITIES - declared([mode])
    return stream_backend(refusing(*lacked), profiles=[mode])


# On real time a run takes as long as it says. No rule needs that capability, and the verdict on
# threads plays so.
PARTIAL: dict[str, Callable[[], StreamBackend]] = {
    **{name: each for name, each in family().items() if not name.endswith("-virtual-time")},
    "core-ordered": lambda: core_with("ordered"),
    "core-unordered": lambda: core_with("unordered"),
}

each_partial = pytest.mark.parametrize("name", PARTIAL)


@cache
def whole(number: int) -> Trace:
    """What the whole reference does in an example; where nothing is missing, no other does else."""
    return play(open_operator, EXAMPLES[number].scenario)


def tally_of(backend: StreamBackend) -> tuple[Tally, set[str]]:
    """Judge every adapted example; return what rules it shows of those that it is about, too."""
    applicable = [name for name, rule in rules().items() if rule.applies_to(backend.capabilities)]
    tally = Tally({name: CHECKS[name] for name in applicable}, applicable)
    known: dict[bytes, set[str]] = {}
    shown: set[str] = set()
    for number, example in enumerate(EXAMPLES):
        scenario = adapted(example.scenario, backend.capabilities)
        key = key_of(scenario)
        if key not in known:
            is_whole = scenario is example.scenario
            trace = whole(number) if is_whole else next(iter(backend.run([scenario])))
            before = {rule: count.applied for rule, count in tally.counts.items()}
            tally.add(Case(example.name, example.scenario, scenario), trace)
            known[key] = {r for r, count in tally.counts.items() if count.applied > before[r]}
        shown |= known[key] & set(example.rules)
    return tally, shown


@pytest.mark.sampled(12)
@each_partial
def test_an_operator_that_refuses_the_rest_conforms_and_no_rule_is_untested(name: str) -> None:
    """For each rule that applies, an example about it still shows it, and none is broken.

    What does not apply is what needs something that is missing, and nothing else.
    """
    backend = PARTIAL[name]()
    tally, shown = tally_of(backend)

    results = conclude(tally, rules(), backend.capabilities, {}, lacking=backend.lacking)
    verdict = Verdict(
        name, results, tally.judged, tally.judged, tuple(tally.errors),
        capabilities=backend.capabilities,
    )  # fmt: skip
    apart = {result.rule.id for result in results if result.status == "not-applicable"}
    missing = ALL_CAPABILITIES - backend.capabilities
    needing = {
        name for name, rule in rules().items() if any(either <= missing for either in rule.needs)
    }
    assert verdict.word == "conformant", verdict.line
    assert apart == needing
    assert [rule for rule in tally.counts if rule not in shown] == []


def test_every_ability_can_be_switched_off() -> None:
    lacking = {
        name.removeprefix("reference-asyncio-without-"): ALL_CAPABILITIES - each().capabilities
        for name, each in family().items()
    }

    assert list(lacking) == list(Capability)
    assert all(name in missing for name, missing in lacking.items())
    assert all(name in {each, each.part_of} for name in lacking for each in lacking[name])


REFUSED = {
    **dict.fromkeys(PROFILES, Refused.__name__),
    Capability.ATTEMPT_TIMEOUT: Refused.__name__,
    Capability.JITTER: Refused.__name__,
    Capability.RETRY_AFTER: "CallFailed",
    Capability.ON_DEMAND_SNAPSHOT: "AttributeError",
}
"""What an operator can refuse, and how: the rest is a matter of the way in which it is run."""


@pytest.mark.parametrize(("capability", "error"), REFUSED.items())
def test_the_refusing_operator_does_refuse(capability: Capability, error: str) -> None:
    scenario = next(
        each.scenario
        for each in EXAMPLES
        # A request at the start may find no operator yet, and is not made.
        if capability in needs(each.scenario) and all(r.at for r in each.scenario.requests)
    )

    leg = play(refusing(capability), scenario).legs[-1]

    assert (leg.ending.how, leg.ending.error) == ("failed", error)
