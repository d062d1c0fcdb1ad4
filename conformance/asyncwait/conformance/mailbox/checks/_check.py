"""What a check of a mailbox is: a pure function; for each spot it yields None, or what is wrong.

A finding is at the number of an event, where one of an operator is at a time.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from asyncwait.conformance.judging import Finding, Judgement, Violation
from asyncwait.conformance.mailbox._history import MailboxHistory

MailboxCheck: TypeAlias = Callable[[MailboxHistory], Judgement]

_CHECKS: dict[str, MailboxCheck] = {}
MAILBOX_CHECKS: Mapping[str, MailboxCheck] = _CHECKS
"""The check of each rule, by its id."""

_Look: TypeAlias = Callable[[MailboxHistory], Iterator[Finding]]


def check(rule: str) -> Callable[[_Look], MailboxCheck]:
    """Make the check of a rule of a function that looks at a history."""

    def make(look: _Look) -> MailboxCheck:
        def judge(history: MailboxHistory) -> Judgement:
            try:
                found = list(look(history))
            except Exception as error:  # A check that breaks must not pass for a pass.
                return Judgement(error=f"its check failed: {type(error).__name__}: {error}")
            broken = tuple(Violation(*finding) for finding in found if finding is not None)
            return Judgement(len(found), broken)

        assert rule not in _CHECKS, f"{rule} has a check already"
        _CHECKS[rule] = judge
        return judge

    return make
