"""The checks of a book whose rules are not about operators: mailboxes, lanes, stand-ins.

Each looks at a history of its own kind, and yields a finding for each spot: None, or what is wrong.
A finding is at the number of an event, where one of an operator is at a time.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from asyncwait.conformance.judging import Finding, Judgement, Violation

H = TypeVar("H")


class Checks(dict[str, Callable[[H], Judgement]]):
    """The check of each rule, by its id."""

    def __call__(
        self, rule: str
    ) -> Callable[[Callable[[H], Iterator[Finding]]], Callable[[H], Judgement]]:
        """Make a function that looks at a history the check of a rule."""

        def make(look: Callable[[H], Iterator[Finding]]) -> Callable[[H], Judgement]:
            def judge(history: H) -> Judgement:
                found = list(look(history))
                broken = tuple(Violation(*finding) for finding in found if finding is not None)
                return Judgement(len(found), broken)

            assert rule not in self, f"{rule} has a check already"
            self[rule] = judge
            return judge

        return make


def first_of(judged: Mapping[str, Judgement]) -> dict[str, Violation]:
    """Return the first violation of each rule that is broken, the earliest first."""
    first = ((rule, each.violations[0]) for rule, each in judged.items() if each.violations)
    return dict(sorted(first, key=lambda each: each[1].at))
