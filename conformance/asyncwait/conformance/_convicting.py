"""Selection of the scenarios that can convict by a rule; a run for the rule skips the others.

A rule can be seen to break where a scenario plans the subject of its chapter: a rule about
deadlines, where a deadline is planned. Its other needs may be missing: an operator that counts
retries wrongly may count some where none is planned. A few rules need more of a scenario, and their
checks test it first. In doubt a scenario stays: a rule without a premise can break anywhere.
"""

from collections.abc import Callable, Iterable, Mapping

from asyncwait.spec.rules import Rule
from asyncwait.spec.scenario import Capability, Scenario

Premise = Callable[[Scenario], bool]


def _sink_does(what: str) -> Premise:
    return lambda scenario: any(step.does == what for step in scenario.sink)


def _is_tracked(scenario: Scenario) -> bool:
    return scenario.tracked


def _is_unshielded(scenario: Scenario) -> bool:
    return scenario.unshielded and scenario.form == "coroutine"


PREMISES: Mapping[str, Premise] = {
    "ELEM-8": _is_tracked,
    "CAP-7": _is_tracked,
    "FAIL-7": lambda scenario: bool(scenario.source_error),
    "END-6": lambda scenario: scenario.hooks != "none",
    "END-9": _sink_does("give_up"),
    "END-12": lambda scenario: scenario.hook_error == "open",
    "END-13": lambda scenario: scenario.hook_error == "close" or scenario.close_error,
    "END-14": _sink_does("intrude"),
    "END-15": lambda scenario: scenario.company != "none",
    "END-16": lambda scenario: scenario.source == "scope",
    "END-18": _sink_does("raise"),
    "END-22": lambda scenario: scenario.shields,
    "CANCEL-1": _is_unshielded,
    "CANCEL-2": _is_unshielded,
    "CANCEL-3": _is_unshielded,
}
"""The first condition in the checks of some rules, by the id of the rule."""

ANYWHERE = frozenset({"ELEM-7", "WM-3", "WM-6", "TIME-5", "TIME-8", "TIME-9", "SNAP-1", "SNAP-3"})
"""Rules that may break where their subject is not planned, too: by outputs that never went in, or
by calls that are cancelled, and abandoned, without a deadline."""


def can_convict(rule: Rule, scenario: Scenario) -> bool:
    """Whether a run of `scenario` may break `rule`."""
    if rule.id in ANYWHERE:
        return True
    premise = PREMISES.get(rule.id)
    if premise is not None and not premise(scenario):
        return False
    return all(_is_planned(either, scenario) for either in rule.needs[:1])


def _is_planned(either: Iterable[Capability], scenario: Scenario) -> bool:
    """Whether a scenario contains a part of the specification that a rule is about.

    A capability that is no profile says how a backend is run, which is in no scenario.
    """
    if not all(each.is_profile for each in either):
        return True
    return any(part.without(scenario) is not scenario for part in either)
