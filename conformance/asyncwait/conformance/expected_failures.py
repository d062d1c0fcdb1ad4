"""Declared failures of a backend: the rule, why, and where.

A known failure hides its consequences. An operator that emits a status too early goes on from there
as no conforming operator does. So the first instant with any violation in a trace decides. If a
rule that is broken in that instant is declared as broken in such a scenario, the trace shows that
failure, and no violation that comes with it or after it counts. Otherwise all violations count.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct

from asyncwait.conformance.judging import Violation
from asyncwait.spec import InvalidConfig
from asyncwait.spec.exports import claim_exports


class ExpectedFailure(Struct, frozen=True, omit_defaults=True):
    """An expected failure: why a rule is known to be broken, and where.

    Args:
        reason: why it is broken.
        strict: a rule that no scenario breaks counts against the backend, because the expected
            failure is out of date. False if a verification may have no such scenario.
        scenarios: the names and ids of the scenarios that may break the rule; empty for any.

    Raises:
        InvalidConfig: `scenarios` is a text.
    """

    reason: str
    strict: bool = True
    scenarios: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.scenarios, str):
            expected = "names and ids, like ('the-last-finishes-first',)"
            raise InvalidConfig.of("scenarios", self.scenarios, expected)

    def covers(self, called: Collection[str]) -> bool:
        """Whether the rule may be broken in the scenario with this name and this id."""
        return not (self.scenarios and set(self.scenarios).isdisjoint(called))


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
    broken: Mapping[str, Violation], expected_failures: ExpectedFailures, called: Collection[str]
) -> Sorted:
    """Sort the broken rules of a trace; `called` has the name and the id of its scenario."""
    expected = {}
    for rule in broken:
        covering = [each for each in expected_failures.get(rule, ()) if each.covers(called)]
        if covering:
            expected[rule] = tuple(dict.fromkeys(each.reason for each in covering))
    first = min(map(moment_of, broken.values()), default=None)
    at_first = {rule: why for rule, why in expected.items() if moment_of(broken[rule]) == first}
    if at_first:
        return Sorted(known=at_first)
    return Sorted(frozenset(broken.keys() - expected), expected)


def moment_of(violation: Violation) -> tuple[int, float]:
    """Return the leg of a violation, and its ms in that leg."""
    return violation.leg, violation.at


__all__ = [
    "ExpectedFailure",
    "ExpectedFailures",
    "GivenFailures",
    "Sorted",
    "expected_failures_of",
    "moment_of",
    "sort_out",
]

claim_exports(__name__)
