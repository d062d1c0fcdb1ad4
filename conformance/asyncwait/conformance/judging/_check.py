"""What a check is: a pure function from a history to what held and what did not."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import force_setattr

from asyncwait.conformance.judging._leg import History, LegHistory

LONGEST = 1_000
"""Characters of what is said of a violation."""


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

    def __post_init__(self) -> None:
        # It may quote what a foreign program has told, of any length.
        if len(self.text) > LONGEST:
            force_setattr(self, "text", f"{self.text[:LONGEST]}...")


class Judgement(Struct, frozen=True):
    """What a check says of one trace.

    Args:
        applied: how often the rule's premise held.
        violations: where the rule was broken; none means that it held each time.
        error: why the check broke on this trace, so that it has not judged; empty if it has.
    """

    applied: int = 0
    violations: tuple[Violation, ...] = ()
    error: str = ""


Finding: TypeAlias = tuple[str, float] | None
"""One place where a rule applied: None where it held, else what is wrong and when."""

LegCheck: TypeAlias = Callable[[LegHistory], Iterator[Finding]]
WholeCheck: TypeAlias = Callable[[History], Judgement]


class Check(Struct, frozen=True):
    """What judges by one rule: a function of a history, without any effect.

    Args:
        rule: id of the rule.
        function: says how often the rule applied, and where it was broken.
    """

    rule: str
    function: WholeCheck

    def __call__(self, history: History) -> Judgement:
        """Judge `history`."""
        return self.function(history)


def leg_check(rule: str, *, judges_wrong_arguments: bool = False) -> Callable[[LegCheck], Check]:
    """Make a check of a function that looks at one leg at a time.

    Args:
        rule: id of the rule that it judges.
        judges_wrong_arguments: also a leg that was opened with a wrong argument and went on.
            That leg was not given what its scenario says, and shows nothing of any other rule.
    """

    def make(function: LegCheck) -> Check:
        def judge_legs(history: History) -> Judgement:
            applied, violations = 0, []
            for number, leg in enumerate(history.legs):
                if leg.went_on_wrongly and not judges_wrong_arguments:
                    continue
                for finding in function(leg):
                    applied += 1
                    if finding is not None:
                        violations.append(Violation(*finding, leg=number))
            return Judgement(applied, tuple(violations))

        return Check(rule, judge_legs)

    return make


def check(rule: str) -> Callable[[WholeCheck], Check]:
    """Make a check of a function that looks at a whole trace; see `leg_check`."""
    return lambda function: Check(rule, function)
