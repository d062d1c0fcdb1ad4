"""Profiles that a backend declares, and seems to lack: next to no scenario with one of them holds.

Who declares no profiles claims them all. The first watermark then breaks an operator that has never
heard of any, and the rule that it breaks says nothing of what is to be declared.
"""

from collections import Counter
from collections.abc import Collection, Iterable

import msgspec

from asyncwait.conformance.verdict import RuleResult, Tally, Verdict
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import PROFILES, Capability, Scenario, needs

FEWEST = 3
"""Scenarios with a profile that tell enough of it."""

MODES = frozenset({Capability.ORDERED, Capability.UNORDERED, Capability.KEY_ORDERED})


def seemingly_missing(tally: Tally, expected: Collection[str] = ()) -> tuple[Capability, ...]:
    """Return the profiles with which nine scenarios of ten break a MUST, or more.

    There are none where the core breaks as well, in every mode: then that is to be mended first.

    Args:
        tally: what was judged, and what is broken.
        expected: ids of rules that may be broken.
    """
    musts = {rule.id for rule in rules().values() if rule.level == "MUST"}.difference(expected)
    broken = {id(case.scenario) for case, found in tally.broken if not musts.isdisjoint(found)}
    played, failed = Counter[Capability](), Counter[Capability]()
    for scenario in tally.scenarios:
        used = [*_used(scenario)]
        played.update(used)
        failed.update(used if id(scenario) in broken else ())
    if not any(played[mode] > 2 * failed[mode] for mode in MODES):
        return ()
    return tuple(
        profile
        for profile in PROFILES
        if profile not in MODES
        and played[profile] >= FEWEST
        and 10 * failed[profile] >= 9 * played[profile]
    )


def _used(scenario: Scenario) -> Iterable[Capability]:
    """Return the profiles that a scenario uses beside a mode, or its mode if that is all."""
    used = needs(scenario) & set(PROFILES)
    return used - MODES or used or {Capability(scenario.mode)}


def with_advice(verdict: Verdict, missing: Collection[Capability]) -> Verdict:
    """Return `verdict` with a note on each failing rule whose smallest failure uses those.

    So have those of a program that was asked for `one-loop`, which few programs have.
    """
    results = tuple(
        msgspec.structs.replace(result, note="; ".join(filter(None, [result.note, advice])))
        if (advice := _advice(verdict, result, missing))
        else result
        for result in verdict.results
    )
    return msgspec.structs.replace(verdict, results=results, lacks=tuple(missing))


def _advice(verdict: Verdict, result: RuleResult, missing: Collection[Capability]) -> str:
    """Return what is to be declared where this failure comes of a profile; empty if none does."""
    if result.status != "fail" or not result.failures:
        return ""
    used = needs(result.failures[0].case.scenario)
    if verdict.self_reported and Capability.ONE_LOOP in used & verdict.capabilities:
        return _NO_ONE_LOOP
    if not (names := [profile for profile in missing if profile in used]):
        return ""
    them, is_all = ", ".join(names), verdict.capabilities.issuperset(PROFILES)
    why = "; without `profiles` a backend is held to all of them" if is_all else ""
    return (
        f"next to no scenario with {them} holds{why}: if the operator does not have that, "
        f"declare the profiles that it has, and leave out {them}{_refused(names)}"
    )


_NO_ONE_LOOP = (
    "asked only of a program whose function and source share objects with its operator: any other "
    'declares `"lacks": ["one-loop"]` in its first line'
)


def _refused(names: Collection[Capability]) -> str:
    """Return where an operator that has a profile may refuse it by the toolkit's hand."""
    settings = [_SETTINGS[name] for name in names if name in _SETTINGS]
    if not settings:
        return ""
    named = ", ".join(f'"{setting}"' for setting in settings)
    return f"; if it has, `check_arguments(..., {named})` lets it be asked for"


_SETTINGS = {
    Capability.RETRY: "retry",
    Capability.MAX_HELD: "max_held",
    Capability.BATCHES: "batch",
    Capability.CACHE: "cache",
    Capability.LIMITS: "limits",
}
"""Settings that `check_arguments` refuses unless it is told of them, by profile."""
