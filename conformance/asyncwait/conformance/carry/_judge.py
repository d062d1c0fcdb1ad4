"""What the rules of CARRY say of a history."""

from collections.abc import Mapping

from msgspec import Struct

from asyncwait.conformance._checks import first_of
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
        return first_of(self.by_rule)


def judge_carry(history: History) -> CarryJudged:
    """Judge a run by every rule."""
    return CarryJudged({rule: CARRY_CHECKS[rule](history) for rule in carry_rules()})
