"""Hints at profiles that a backend declares and lacks, or has and does not declare."""

from collections import Counter
from collections.abc import Collection, Iterator

from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.judging import judge
from asyncwait.conformance.running import Broken, Play, adapted
from asyncwait.conformance.verdict import RuleResult, Tally
from asyncwait.spec.rules import rules, rules_for
from asyncwait.spec.scenario import PROFILES, Capability, Scenario, Trace, needs

FEWEST = 3
"""Scenarios that a profile needs before the suite hints at it."""

MODES = frozenset({Capability.ORDERED, Capability.UNORDERED, Capability.KEY_ORDERED})


def seemingly_missing(tally: Tally, failed: Collection[RuleResult]) -> Iterator[Capability]:
    """Yield the profiles with which nine scenarios of ten fail, or more.

    Yield no profile if the core fails as well: the operator is broken then. Yield `one-loop` for a
    program that breaks a rule with it, as few programs have it.
    """
    if tally.self_reported and any(
        Capability.ONE_LOOP in needs(failure.case.scenario)
        for result in failed
        for failure in result.failures[:1]
    ):
        yield Capability.ONE_LOOP
    musts = {result.rule.id for result in failed if result.rule.level == "MUST"}
    broken = {id(case.scenario) for case, found in tally.broken if not musts.isdisjoint(found)}
    played, failing = Counter[Capability](), Counter[Capability]()
    for scenario in tally.scenarios:
        profiles = needs(scenario) & set(PROFILES)
        used = profiles - MODES or profiles or {Capability(scenario.mode)}
        played.update(used)
        failing.update(used if id(scenario) in broken else ())
    if any(played[mode] > 2 * failing[mode] for mode in MODES):
        for name in sorted(set(PROFILES) - MODES, key=PROFILES.index):
            if played[name] >= FEWEST and 10 * failing[name] >= 9 * played[name]:
                yield name


def seemingly_there(play: Play, capabilities: frozenset[Capability]) -> Iterator[Capability]:
    """Yield the profiles that a backend does not declare although it passes examples of them.

    Play an example of each rule that needs the profile, and end at the first failure.
    """
    for profile in PROFILES:
        if profile not in capabilities:
            by = rules_for(capabilities | {profile})
            its_own = by.keys() - rules_for(capabilities)
            fitting = [(e.rules, adapted(e.scenario, capabilities | {profile})) for e in EXAMPLES]
            chosen = {
                rule: scenario
                for about, scenario in reversed(fitting)
                for rule in its_own.intersection(about)
                if profile in needs(scenario)
            }
            scenarios = [*chosen.values()]
            runs = zip(scenarios, play(scenarios), strict=True)
            if scenarios and all(_holds(*run, by) for run in runs):
                yield profile


def _holds(scenario: Scenario, run: Trace | Broken, ids: Collection[str]) -> bool:
    if isinstance(run, Broken):
        return False
    judged = judge(scenario, run, {rule: CHECKS[rule] for rule in ids})
    return not judged.error and all(
        rules()[rule].level != "MUST" for rule, _ in judged.violations()
    )
