"""What a check of a mailbox is: a pure function; for each spot it yields None, or what is wrong."""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from msgspec import Struct

from asyncwait.conformance.mailbox._history import MailboxHistory

Spot: TypeAlias = tuple[str, float] | None
"""One place where a rule applied: None where it held, else what is wrong, and at which event."""

Look: TypeAlias = Callable[[MailboxHistory], Iterator[Spot]]


class MailboxViolation(Struct, frozen=True):
    """One spot where a rule is broken."""

    text: str
    at: float


class MailboxJudgement(Struct, frozen=True):
    """What a check says of one trace.

    Args:
        error: why the check broke; empty if it judged.
    """

    applied: int = 0
    violations: tuple[MailboxViolation, ...] = ()
    error: str = ""


class MailboxCheck(Struct, frozen=True):
    """What judges by one rule."""

    rule: str
    look: Look

    def __call__(self, history: MailboxHistory) -> MailboxJudgement:
        """Judge; a check that breaks must not pass for a pass."""
        try:
            spots = list(self.look(history))
        except Exception as error:
            return MailboxJudgement(error=f"its check failed: {type(error).__name__}: {error}")
        broken = tuple(MailboxViolation(*spot) for spot in spots if spot is not None)
        return MailboxJudgement(len(spots), broken)


_CHECKS: dict[str, MailboxCheck] = {}
MAILBOX_CHECKS: Mapping[str, MailboxCheck] = _CHECKS
"""The check of each rule, by its id."""


def check(rule: str) -> Callable[[Look], MailboxCheck]:
    """Make the check of a rule of a function that looks at a history."""

    def make(look: Look) -> MailboxCheck:
        assert rule not in _CHECKS, f"{rule} has a check already"
        _CHECKS[rule] = MailboxCheck(rule, look)
        return _CHECKS[rule]

    return make
