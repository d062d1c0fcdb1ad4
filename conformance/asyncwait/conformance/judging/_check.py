"""What a check is: a pure function from a history to what held and what did not."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from msgspec import Struct

from asyncwait.conformance.judging._rest import History, LegHistory


class Violation(Struct, frozen=True):
    """One spot where a rule is broken.

    Args:
        text: what was expected, and what was seen.
        at: ms since the leg began.
        leg: 0-based.
    """

    text: str
    at: float
    leg: int = 0


class Judgement(Struct, frozen=True):
    """What a check says of one trace.

    Args:
        applied: how often the rule's premise held.
        violations: where the rule was broken; none means that it held each time.
    """

    applied: int = 0
    violations: tuple[Violation, ...] = ()


Finding: TypeAlias = tuple[str, float] | None
"""One place where a rule applied: None where it held, else what is wrong and when."""

LegCheck: TypeAlias = Callable[[LegHistory], Iterator[Finding]]
Check: TypeAlias = Callable[[History], Judgement]

CHECKS: dict[str, Check] = {}
"""All checks by the id of their rule."""


def leg_check(rule: str) -> Callable[[LegCheck], LegCheck]:
    """Register a check that looks at one leg at a time.

    Args:
        rule: id of the rule that it judges.

    Raises:
        ValueError: the rule has a check already.
    """

    def register(function: LegCheck) -> LegCheck:
        def judge(history: History) -> Judgement:
            applied, violations = 0, []
            for number, leg in enumerate(history.legs):
                for finding in function(leg):
                    applied += 1
                    if finding is not None:
                        violations.append(Violation(*finding, leg=number))
            return Judgement(applied, tuple(violations))

        _register(rule, judge)
        return function

    return register


def check(rule: str) -> Callable[[Check], Check]:
    """Register a check that looks at a whole trace; see `leg_check`."""

    def register(function: Check) -> Check:
        _register(rule, function)
        return function

    return register


def _register(rule: str, judge: Check) -> None:
    if rule in CHECKS:
        raise ValueError(f"{rule} has a check already")
    CHECKS[rule] = judge
