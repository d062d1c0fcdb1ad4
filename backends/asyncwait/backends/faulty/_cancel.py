"""CANCEL: operators that cancel calls as no loop does, or show calls how they run."""

from collections.abc import Coroutine, Generator
from typing import Any

import anyio

from asyncwait.backends.faulty._gallery import breaks
from asyncwait.reference import Attempt, Outcome


@breaks("CANCEL-1", is_bound=True)
class CancelsByAScope(Attempt):
    """Cancels each wait of a call, even in its clean-up, as an anyio scope does."""

    def start_alone(self) -> None:
        scope: Any = anyio.CancelScope()
        self.scope = scope
        self.operator.spawn(self.run, self.scope)


@breaks("CANCEL-1", loop="trio", is_bound=True)
class CancelsOnce(Attempt):
    """Cancels only one wait of a call on trio, and shields the clean-up."""

    async def invoke(self) -> Outcome:
        with anyio.CancelScope() as scope:
            return await _ShieldedOnceCancelled(super().invoke(), scope)
        raise AssertionError("no code cancels this scope")


class _ShieldedOnceCancelled:
    """Runs a coroutine step by step, and shields it after its first cancelled step."""

    def __init__(self, coroutine: Coroutine[Any, Any, Outcome], scope: anyio.CancelScope) -> None:
        self._coroutine = coroutine
        self._scope = scope

    def __await__(self) -> Generator[Any, Any, Outcome]:
        came = None
        while True:
            try:
                came = yield self._coroutine.send(came)
            except StopIteration as stop:
                return stop.value  # type: ignore[no-any-return]
            if isinstance(getattr(came, "error", None), anyio.get_cancelled_exc_class()):
                self._scope.shield = True
