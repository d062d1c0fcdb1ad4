"""Profiles that a backend does not declare, and seems to have: a few examples of each are tried."""

from itertools import chain, islice

from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.judging import judge
from asyncwait.conformance.running import Broken, Play, adapted
from asyncwait.spec.rules import rules_for
from asyncwait.spec.scenario import PROFILES, Capability, Scenario, Trace, needs

TRIES = 12
"""Examples that are played for each profile: enough for one of each of its rules."""


def seemingly_there(
    play: Play, capabilities: frozenset[Capability], *, batch: bool = False
) -> tuple[Capability, ...]:
    """Return the profiles that a backend does not declare, and of which a few examples pass.

    Of a profile no more is asked for once one fails.

    Args:
        play: plays some.
        capabilities: what the backend declares.
        batch: it is as slow for one as for many, and is asked for all at once.
    """
    left = {
        profile: iter(_examples(profile, capabilities))
        for profile in PROFILES
        if profile not in capabilities
    }
    applied = dict.fromkeys(left, 0)
    for size in [TRIES] if batch else [1] * TRIES:
        asked = {profile: [*islice(examples, size)] for profile, examples in left.items()}
        runs = iter([*play([*chain(*asked.values())])])
        for profile, scenarios in asked.items():
            # Those of a profile come one after the other.
            of_it = [*zip(scenarios, runs, strict=False)]
            counts = [_applied(*each, profile, capabilities) for each in of_it]
            applied[profile] += sum(count or 0 for count in counts)
            if None in counts:
                del left[profile]
    return tuple(profile for profile in left if applied[profile])


def _applied(
    scenario: Scenario,
    run: Trace | Broken,
    profile: Capability,
    capabilities: frozenset[Capability],
) -> int | None:
    """Return how often the rules that need `profile` apply to a run; None if it breaks a MUST."""
    by = rules_for(capabilities | {profile})
    if isinstance(run, Broken):
        return None
    judged = judge(scenario, run, {name: CHECKS[name] for name in by})
    if judged.error or any(by[name].level == "MUST" for name, _ in judged.violations()):
        return None
    its_own = by.keys() - rules_for(capabilities)
    return sum(judged.by_rule[name].applied for name in its_own)


def _examples(profile: Capability, capabilities: frozenset[Capability]) -> list[Scenario]:
    """Return the examples that need `profile`, one about each of its own rules first."""
    with_it = capabilities | {profile}
    its_own = rules_for(with_it).keys() - rules_for(capabilities)
    fitting = [(e.rules, adapted(e.scenario, with_it)) for e in EXAMPLES]
    using = [(about, scenario) for about, scenario in fitting if profile in needs(scenario)]
    first = {
        rule: number
        for number, (about, _) in reversed(list(enumerate(using)))
        for rule in about
        if rule in its_own
    }
    return [using[n][1] for n in sorted(range(len(using)), key=lambda n: n not in first.values())]
