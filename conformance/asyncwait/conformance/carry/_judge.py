"""What the rules of CARRY say of a history."""

from collections.abc import Mapping

from msgspec import Struct

from asyncwait.conformance.carry._history import History
from asyncwait.conformance.carry.checks import CARRY_CHECKS
from asyncwait.conformance.judging import Judgement, Violation
from asyncwait.spec.rules import carry_rules


class CarryJudged(Struct, frozen=True):
    """What each check says of a run.

    Args:
        by_rule: the judgement of each rule, by its id; a violation is at the number of an event.
    """

    by_rule: Mapping[str, Judgement]

    @property
    def broken(self) -> dict[str, Violation]:
        """The first violation of each rule that is broken, the earliest first."""
        first = ((r, j.violations[0]) for r, j in self.by_rule.items() if j.violations)
        return dict(sorted(first, key=lambda each: each[1].at))


def judge_carry(history: History) -> CarryJudged:
    """Judge a run by every rule."""
    by_rule: dict[str, Judgement] = {}
    for rule in carry_rules():
        found = list(CARRY_CHECKS[rule](history))
        broken = tuple(Violation(*finding) for finding in found if finding is not None)
        by_rule[rule] = Judgement(len(found), broken)
    return CarryJudged(by_rule)
