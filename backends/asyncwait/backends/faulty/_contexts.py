"""CTX: operators that mix up context variables."""

from contextvars import Context, copy_context
from typing import Any

from asyncwait.backends.faulty._gallery import breaks
from asyncwait.reference import (
    AsyncWaitOperator,
    Attempt,
)
from asyncwait.toolkit import run_hook


@breaks("CTX-1")
class CallsInAnEmptyContext(Attempt):
    """Starts each call in an empty context, as a new thread does."""

    def start(self) -> None:
        Context().run(super().start)


@breaks("CTX-2")
class KeepsTheContextOfACall(Attempt):
    """Starts a call in the context in which the last call ended."""

    def start(self) -> None:
        getattr(self.operator, "last_context", copy_context()).run(super().start)

    async def invoke(self) -> Any:
        try:
            return await super().invoke()
        finally:
            self.operator.last_context = copy_context()  # type: ignore[attr-defined]


@breaks("CTX-3")
class AsksInItsOwnContext(AsyncWaitOperator):
    """Runs handlers, predicates and callbacks in its own context, not in copies of it."""

    async def open(self) -> None:
        await run_hook(self.function.open)
