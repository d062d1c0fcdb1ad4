"""Adds up the judgements of many traces, rule by rule."""

from collections.abc import Iterable

import msgspec
from msgspec import Struct

from asyncwait.conformance.checks import CHECKS
from asyncwait.conformance.judging import History, Violation, explain
from asyncwait.spec.scenario import Scenario, Trace

KEPT = 3
"""Failures that are kept for each rule: the smallest ones say most."""


class Failure(Struct, frozen=True):
    """One scenario in which a rule was broken.

    Args:
        name: of the example, or the number of the generated scenario.
        scenario: what was played.
        trace: what was observed.
        violation: the first spot where the rule was broken.
        generated: it can be shrunk.
    """

    name: str
    scenario: Scenario
    trace: Trace
    violation: Violation
    generated: bool = False

    @property
    def size(self) -> tuple[bool, int]:
        """Examples first, then by length: what is easiest to read."""
        return self.generated, len(msgspec.json.encode(self.scenario))


class Count:
    """What is known of one rule so far."""

    def __init__(self) -> None:
        self.applied = 0
        self.broken = 0
        self.failures: list[Failure] = []
        self.error = ""
        """Why its check broke on some trace, so that it has not judged them all."""

    def add(self, applied: int, failure: Failure | None) -> None:
        """Add the judgement of one trace."""
        self.applied += applied
        if failure is not None:
            self.broken += 1
            self.failures = sorted([*self.failures, failure], key=lambda f: f.size)[:KEPT]


class Tally:
    """The judgements so far.

    Args:
        rules: ids of the rules to judge by.
    """

    def __init__(self, rules: Iterable[str]) -> None:
        self.counts = {rule: Count() for rule in rules}
        self.errors: list[str] = []
        self.judged = 0
        self.self_reported = False
        self.broken_by: dict[bytes, frozenset[str]] = {}
        """Which rules a generated scenario breaks, by its key: what shrinking repeats first."""

    def add(self, name: str, scenario: Scenario, trace: Trace, *, key: bytes = b"") -> None:
        """Judge one trace by every rule; `key` is that of a generated scenario."""
        self.judged += 1
        self.self_reported |= trace.self_reported
        try:
            history = explain(scenario, trace)
        except Exception as error:
            self.errors.append(f"{name}: reading its trace failed: {_described(error)}")
            return
        broken = {rule for rule in self.counts if self._judge(rule, name, history, bool(key))}
        if key:
            self.broken_by[key] = frozenset(broken)

    def _judge(self, rule: str, name: str, history: History, generated: bool) -> bool:  # noqa: FBT001
        """Judge one trace by one rule; return whether it is broken."""
        count = self.counts[rule]
        try:
            judgement = CHECKS[rule](history)
        except Exception as error:  # a broken check must not pass for a pass
            count.error = count.error or f"{name}: its check failed: {_described(error)}"
            return False
        first = next(iter(judgement.violations), None)
        failure = None
        if first is not None:
            failure = Failure(name, history.scenario, history.trace, first, generated)
        count.add(judgement.applied, failure)
        return failure is not None


def _described(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def breaks(rule: str, scenario: Scenario, trace: Trace) -> Violation | None:
    """Return the first violation of `rule` in one trace, or None."""
    return next(iter(CHECKS[rule](explain(scenario, trace)).violations), None)
