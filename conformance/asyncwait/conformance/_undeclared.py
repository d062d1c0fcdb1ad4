"""Tries what a backend does not declare: its author may have forgotten it."""

from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.judging import judge
from asyncwait.conformance.running import Broken, Play, adapted
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import PROFILES, Capability, Scenario, needs

TRIES = 12
"""Examples that are played for each profile: enough for one of each of its rules."""


def seemingly_there(play: Play, capabilities: frozenset[Capability]) -> tuple[Capability, ...]:
    """Return the profiles that a backend does not declare, and of which a few examples pass."""
    missing = [profile for profile in PROFILES if profile not in capabilities]
    return tuple(profile for profile in missing if _passes(play, profile, capabilities))


def _passes(play: Play, profile: Capability, capabilities: frozenset[Capability]) -> bool:
    """Whether the first examples that need `profile` break no MUST, and its rules apply."""
    with_it = capabilities | {profile}
    by = {name: rule for name, rule in rules().items() if rule.applies_to(with_it)}
    its_own = {name for name, rule in by.items() if not rule.applies_to(capabilities)}
    applied = 0
    for scenario in _examples(profile, with_it, its_own)[:TRIES]:
        (run,) = play([scenario])
        if isinstance(run, Broken):
            return False
        judged = judge(scenario, run, {name: CHECKS[name] for name in by})
        if judged.error or any(by[name].level == "MUST" for name, _ in judged.violations()):
            return False
        applied += sum(judged.by_rule[name].applied for name in its_own)
    return applied > 0


def _examples(
    profile: Capability, with_it: frozenset[Capability], its_own: set[str]
) -> list[Scenario]:
    """Return the examples that need `profile`, one about each of its own rules first."""
    fitting = [(e.rules, adapted(e.scenario, with_it)) for e in EXAMPLES]
    using = [(about, scenario) for about, scenario in fitting if profile in needs(scenario)]
    first = {
        rule: number
        for number, (about, _) in reversed(list(enumerate(using)))
        for rule in about
        if rule in its_own
    }
    return [using[n][1] for n in sorted(range(len(using)), key=lambda n: n not in first.values())]
