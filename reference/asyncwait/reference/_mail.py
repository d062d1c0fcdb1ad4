"""A mail: something to do for the task that owns the mailbox."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from msgspec import Struct

from asyncwait.spec.mailbox import MAIN, Description

OPERATOR = 0
"""Priority of the operator's own mails: whoever waits within the operator, as Flink does for room,
sees these, and none that bring new work (Flink's BP-2, BP-3)."""


class Mail(Struct, frozen=True, eq=False):
    """Something to do for the task that owns the mailbox (Flink's MB-3).

    Args:
        run: does it; it can't await.
        priority: a filter, not an order: who takes with a higher one does not see this mail
            (Flink's MB-10).
        urgent: goes ahead of all mails that are not urgent. Among urgent ones the order stays,
            and none of them is visible to more takers than before (Flink's MB-14, MB-15).
        deferrable: only the main loop sees it, whatever its priority (Flink's MB-13).
        about: what it is about, or a function that says so.
        future: of what it returns, if somebody waits for that.
    """

    run: Callable[[], object]
    priority: int = OPERATOR
    urgent: bool = False
    deferrable: bool = False
    about: Description = ""
    future: Future[Any] | None = None

    @property
    def description(self) -> str:
        """What it is about; a function is asked now, and for most mails never (Flink's MB-3)."""
        return self.about if isinstance(self.about, str) else self.about()

    def is_visible_to(self, priority: int, *, with_deferred: bool = False) -> bool:
        """Whether a taker of `priority` sees it, perhaps `with_deferred` ones."""
        can_wait = self.deferrable and not with_deferred
        return (MAIN if can_wait else self.priority) >= priority

    def cancel(self) -> None:
        """Cancel its future, if it has one: nobody will run it."""
        if self.future is not None:
            self.future.cancel()
