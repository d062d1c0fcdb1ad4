"""The one place where a trace is judged: whatever a check does, it is reported from here."""

from collections.abc import Iterator, Mapping
from itertools import islice

from msgspec import Struct

from asyncwait.conformance.judging._check import Check, Judgement, Violation
from asyncwait.conformance.judging._explain import histories
from asyncwait.conformance.judging._leg import History
from asyncwait.spec.scenario import Scenario, Trace

MOST_WAYS = 1_000
"""Explanations that are tried: half of twelve records that are alike and tie have fewer."""

Checks = Mapping[str, Check]
"""Checks by the id of their rule."""


class Judged(Struct, frozen=True):
    """What all checks say of one trace.

    Args:
        by_rule: a judgement for each check, none if there is an error.
        error: why the trace can't be judged: reading it failed.
    """

    by_rule: Mapping[str, Judgement] = {}
    error: str = ""

    def violations(self) -> Iterator[tuple[str, Violation]]:
        """Yield the first violation of each rule that is broken, in the order of the checks."""
        for rule, judgement in self.by_rule.items():
            for violation in judgement.violations[:1]:
                yield rule, violation


def judge(scenario: Scenario, trace: Trace, checks: Checks) -> Judged:
    """Judge `trace` by all `checks`; never raise, whatever is in it.

    Where records can't be told apart a trace may have several explanations. An operator is wrong
    only if each of them, up to `MOST_WAYS`, breaks a rule; then it is the likeliest that counts.

    Args:
        scenario: what was planned.
        trace: what was observed.
        checks: what to judge by, by the id of the rule. The explanation is chosen by the same.
    """
    try:
        ways = (_judge(way, checks) for way in islice(histories(scenario, trace), MOST_WAYS))
        likeliest = next(ways)
        if not any(likeliest.violations()):
            return likeliest
        return next((judged for judged in ways if not any(judged.violations())), likeliest)
    except Exception as error:
        return Judged(error=f"reading the trace failed: {_described(error)}")


def _judge(history: History, checks: Checks) -> Judged:
    return Judged({rule: _judgement(check, history) for rule, check in checks.items()})


def _judgement(check: Check, history: History) -> Judgement:
    """Judge by one rule; a broken check must not pass for a pass."""
    try:
        return check(history)
    except Exception as error:
        return Judgement(error=f"its check failed: {_described(error)}")


def _described(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
