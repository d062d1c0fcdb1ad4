"""A pool that raises at whoever completes a record too late, and a scenario in which one does."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from asyncwait.backends.pool._callbacks import Inbox
from asyncwait.spec import Record
from asyncwait.spec.scenario import Handler, Plan, Scenario, SinkStep, Step, Timed

COMPLETED_LATE = Scenario(
    form="callback",
    timeout=40,
    handled=True,
    inputs=(Timed(0, Record("a")), Timed(0, Record("b"))),
    plans=(
        Plan("a", (Step(after=80, results=("a1",)),), Handler("reply", ("late",))),
        Plan("b", (Step(after=120, results=("b1",)),), Handler("reply", ("later",))),
    ),
    sink=(SinkStep("pause", 200),),
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
