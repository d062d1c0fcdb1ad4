"""A pool that raises at whoever completes a record too late, and a scenario in which one does."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from asyncwait.backends.pool._callbacks import Inbox
from asyncwait.conformance.evidence import scenario_of

COMPLETED_LATE = scenario_of(
    "form callback; timeout 40; handled; 0: a b; a: 80 gives a1, late gives late; "
    "b: 120 gives b1, late gives later; sink pause 200"
)
"""Both records are decided at 40, and completed after that."""


@contextmanager
def raising_late_completions() -> Generator[None]:
    """Let every pool of this process raise at late completions."""
    put = Inbox.put

    def strict(self: Inbox, entry: Any, outcome: Any) -> None:
        if entry.results is not None:
            raise RuntimeError("it is decided")
        put(self, entry, outcome)

    Inbox.put = strict  # type: ignore[method-assign]
    try:
        yield
    finally:
        Inbox.put = put  # type: ignore[method-assign]
