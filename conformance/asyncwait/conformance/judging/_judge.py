"""The one place where a trace is judged: whatever a check does, it is reported from here."""

from collections.abc import Collection, Iterator, Mapping

from msgspec import Struct

from asyncwait.conformance.judging._check import Check, Judgement, Violation
from asyncwait.conformance.judging._explain import explain
from asyncwait.conformance.judging._leg import History
from asyncwait.conformance.judging._search import LEGAL, Moment, search
from asyncwait.spec.scenario import Scenario, Trace

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


def judge(
    scenario: Scenario, trace: Trace, checks: Checks, only: Collection[str] | None = None
) -> Judged:
    """Judge `trace` by all `checks`; never raise, whatever is in it.

    Where records can't be told apart a trace may have several explanations. An operator is wrong
    only if each of them, as far as they are tried, breaks a rule; then the likeliest counts.

    Args:
        scenario: what was planned.
        trace: what was observed.
        checks: what to judge by, by the id of the rule. The explanation is chosen by the same.
        only: ids of those that matter; None for all. If the likeliest explanation breaks none of
            them, nobody asks what the others say: any other that would count breaks no rule at all.
    """
    try:
        way = explain(scenario, trace)
        if only is not None:
            judged = _judge(way.history, {rule: checks[rule] for rule in only})
            if not any(judged.violations()):
                return judged
        judged = _judge(way.history, checks)
        if any(judged.violations()):
            until = min(at for said in judged.by_rule.values() for at in _broken_at(said))
            legal = search(way, until, _Trial(checks))
            judged = judged if legal is None else _judge(legal, checks)
    except Exception as error:
        return Judged(error=f"reading the trace failed: {_described(error)}")
    return judged


class _Trial:
    """Says until when a history goes well; whatever was wrong with the last one is asked first."""

    def __init__(self, checks: Checks) -> None:
        self._checks = list(checks.values())

    def __call__(self, history: History, until: Moment) -> Moment:
        """Return when the first rule is broken, or just that one is broken until then."""
        first = LEGAL
        for number, check in enumerate(self._checks):
            first = min([first, *_broken_at(_judgement(check, history))])
            if first <= until:
                self._checks.insert(0, self._checks.pop(number))
                break
        return first


def _broken_at(judgement: Judgement) -> Iterator[Moment]:
    return ((violation.leg, violation.at) for violation in judgement.violations)


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
