"""Declared failures of a backend: the rule, why, and where; and which violations count then.

An expected failure names its scenarios, or their needs and contents (`TRAITS`).

A known failure hides its consequences. An operator that emits a status too early goes on from there
as no conforming operator does. So the first instant with any violation in a trace decides. If a
rule that is broken in that instant is declared as broken in such a scenario, the trace shows that
failure, and no violation that comes with it or after it counts. Otherwise all violations count.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import force_setattr

from asyncwait.conformance.judging import Violation
from asyncwait.spec import Barrier, Element, InvalidConfig, Snapshot, WatermarkStatus
from asyncwait.spec.scenario import Capability, Handler, Scenario, Step, needs


def _has(*kinds: type[Element]) -> Callable[[Scenario], bool]:
    return lambda scenario: any(isinstance(each, kinds) for each in scenario.elements)


def _calls(does: Callable[[Step], object]) -> Callable[[Scenario], bool]:
    return lambda scenario: any(does(step) for plan in scenario.plans for step in plan.steps)


def _handles(does: Callable[[Handler], object]) -> Callable[[Scenario], bool]:
    """Test the timeout handler of each value that a record may have."""

    def handles(scenario: Scenario) -> bool:
        values = [plan.value for plan in scenario.plans]
        values += [getattr(each, "value", None) for each in scenario.elements]
        handlers = map(scenario.handler, values)
        return any(handler is not None and does(handler) for handler in handlers)

    return handles


def _has_a_predicate_that_raises(scenario: Scenario) -> bool:
    retry = scenario.retry
    return retry is not None and "breaks" in {retry.on_error, retry.on_result}


TRAITS: Mapping[str, Callable[[Scenario], bool]] = {
    "a status": _has(WatermarkStatus),
    "a barrier": _has(Barrier, Snapshot),
    "a call that raises": _calls(lambda step: step.does == "raise"),
    "a call that raises a cancellation": _calls(lambda step: step.error == "CancelledError"),
    "a call that gives no results": _calls(lambda step: step.does == "misreturn"),
    "a supplier": _calls(lambda step: step.supplied),
    "a handler that gives none": _handles(lambda handler: handler.does == "none"),
    "a predicate that raises": _has_a_predicate_that_raises,
    "a slow consumer": lambda scenario: any(
        step.does in {"pause", "block"} for step in scenario.sink
    ),
    "a handler that fails": _handles(lambda handler: handler.does in {"raise", "misreturn"}),
}
"""Tests of a scenario's contents, by their names."""

TRAIT_NAMES = (*Capability, *TRAITS)


def has(scenario: Scenario, names: frozenset[str]) -> bool:
    """Whether a scenario needs, or contains, each of `names`: capabilities and traits."""
    capabilities = names - TRAITS.keys()
    return all(TRAITS[name](scenario) for name in names & TRAITS.keys()) and (
        not capabilities or needs(scenario).issuperset(map(Capability, capabilities))
    )


class ExpectedFailure(Struct, frozen=True, omit_defaults=True):
    """An expected failure: why a rule is known to be broken, and where.

    Args:
        reason: why it is broken.
        needs: names of capabilities that a scenario needs, and of traits that it has, wherever the
            rule is broken: in any other scenario the rule holds.
        strict: a rule that no scenario breaks counts against the backend, because the expected
            failure is out of date. False if a verification may have no such scenario.
        scenarios: the names and ids of the scenarios that may break the rule; empty for any.

    Raises:
        InvalidConfig: a name in `needs` is unknown, or `scenarios` is a text.
    """

    reason: str
    needs: Collection[str] = frozenset()
    strict: bool = True
    scenarios: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        force_setattr(self, "needs", frozenset(self.needs))
        if not set(self.needs) <= set(TRAIT_NAMES):
            expected = f"names of {', '.join(TRAIT_NAMES)}"
            raise InvalidConfig.of("needs", sorted(self.needs), expected)
        if isinstance(self.scenarios, str):
            expected = "names and ids, like ('the-last-finishes-first',)"
            raise InvalidConfig.of("scenarios", self.scenarios, expected)

    def covers(self, scenario: Scenario, called: Collection[str] = ()) -> bool:
        """Whether the rule may be broken in a scenario.

        Args:
            scenario: the scenario that was played.
            called: its name and its id.
        """
        if self.scenarios and not set(self.scenarios).intersection(called):
            return False
        return has(scenario, frozenset(self.needs))


ExpectedFailures: TypeAlias = Mapping[str, tuple[ExpectedFailure, ...]]
"""Expected failures by the id of the rule."""

GivenFailures: TypeAlias = Mapping[str, str | ExpectedFailure | Sequence[ExpectedFailure]]
"""By the id of the rule, in the author's form: a text is the reason in any scenario."""


def expected_failures_of(expected_failures: Any) -> dict[str, tuple[ExpectedFailure, ...]]:
    """Return the expected failures of a backend in one form.

    Raises:
        InvalidConfig: they have an unknown form.
    """
    if not isinstance(expected_failures, Mapping):
        raise _wrong(expected_failures)
    found: dict[str, tuple[ExpectedFailure, ...]] = {}
    for rule, said in expected_failures.items():
        each = (ExpectedFailure(said),) if isinstance(said, str) else said
        each = (each,) if isinstance(each, ExpectedFailure) else each
        fits = isinstance(each, Sequence) and all(isinstance(one, ExpectedFailure) for one in each)
        if not isinstance(rule, str) or not fits or not each:
            raise _wrong(expected_failures)
        found[str(rule)] = tuple(each)
    return found


def _wrong(expected_failures: object) -> InvalidConfig:
    expected = "a mapping of ids of rules to reasons, like {'END-4': 'the reason'}"
    return InvalidConfig.of("expected_failures", expected_failures, expected)


class Sorted(Struct, frozen=True):
    """The rules broken in a trace: findings against the operator, and known failures."""

    findings: frozenset[str] = frozenset()
    known: Mapping[str, tuple[str, ...]] = {}


def sort_out(
    scenario: Scenario,
    broken: Mapping[str, Violation],
    expected_failures: Mapping[str, tuple[ExpectedFailure, ...]],
    called: Collection[str] = (),
) -> Sorted:
    """Sort the broken rules of a trace; `called` has the name and the id of its scenario."""
    reasons = {rule: _reasons(expected_failures.get(rule, ()), scenario, called) for rule in broken}
    expected = {rule: why for rule, why in reasons.items() if why}
    first = min(map(moment_of, broken.values()), default=None)
    at_first = {rule: why for rule, why in expected.items() if moment_of(broken[rule]) == first}
    if at_first:
        return Sorted(known=at_first)
    return Sorted(frozenset(broken.keys() - expected), expected)


def moment_of(violation: Violation) -> tuple[int, float]:
    """Return the leg of a violation, and its ms in that leg."""
    return violation.leg, violation.at


def _reasons(
    expected_failures: tuple[ExpectedFailure, ...], scenario: Scenario, called: Collection[str]
) -> tuple[str, ...]:
    covering = (each.reason for each in expected_failures if each.covers(scenario, called))
    return tuple(dict.fromkeys(covering))
