"""Checks of the rule books of mailboxes, carried calls and hedges.

Each check reads a history of its own kind, and yields a finding for each spot: None, or the text of
a violation with the number of its event. (Checks of operators give a time in place of a number.)
"""

from collections.abc import Callable, Iterator
from typing import TypeAlias, TypeVar

from asyncwait.conformance.judging import Finding, Judged, Judgement, Violation

H = TypeVar("H")
Look: TypeAlias = Callable[[H], Iterator[Finding]]


class BookJudged(Judged, frozen=True):
    """Judgement of one history by every rule of a book."""

    @property
    def broken(self) -> dict[str, Violation]:
        """The first violation of each broken rule, the earliest first."""
        return dict(sorted(self.violations(), key=lambda each: each[1].at))


class Checks(dict[str, Look[H]]):
    """The check of each rule of a book, by its id."""

    def __call__(self, rule: str) -> Callable[[Look[H]], Look[H]]:
        """Register a function of a history as the check of a rule."""

        def add(look: Look[H]) -> Look[H]:
            assert rule not in self, f"{rule} has a check already"
            self[rule] = look
            return look

        return add

    def judge(self, history: H) -> BookJudged:
        """Judge a history by every rule, in the order of their numbers."""
        rules = sorted(self, key=lambda rule: int(rule.partition("-")[2]))
        return BookJudged({rule: _judgement(self[rule], history) for rule in rules})


def _judgement(look: Look[H], history: H) -> Judgement:
    try:
        found = list(look(history))
    except Exception as error:  # A check that breaks must not count as a pass.
        return Judgement(error=f"its check failed: {type(error).__name__}: {error}")
    broken = tuple(Violation(*finding) for finding in found if finding is not None)
    return Judgement(len(found), broken)
