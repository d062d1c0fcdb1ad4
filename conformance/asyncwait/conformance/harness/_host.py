"""The task in which an operator lives and its consumer reads, and the bounds of its life."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Literal, TypeAlias

import anyio

from asyncwait.conformance.harness._clock import SpinWatch
from asyncwait.conformance.harness._run import GRACE, LoopName

Overdue: TypeAlias = Literal["hung", "livelock"]


class Host:
    """Runs a life in bounded time.

    On asyncio it is a plain task, in no scope of anyio: what the operator sees is what it would see
    in any program. One that does not end when it is cancelled is left alone.

    Args:
        loop: that runs.
        spin: notices turns without time.
        limit: seconds that a life may last.
        overdue: called when it is too long; the life is cancelled then.
    """

    def __init__(
        self, loop: LoopName, spin: SpinWatch, limit: float, overdue: Callable[[Overdue], None]
    ) -> None:
        self._loop = loop
        self._spin = spin
        self._limit = limit
        self._overdue = overdue

    async def run(self, life: Callable[[], Coroutine[Any, Any, None]]) -> bool:
        """Run `life`; return whether it is over."""
        return await (self._on_trio(life) if self._loop == "trio" else self._on_asyncio(life))

    async def _on_asyncio(self, life: Callable[[], Coroutine[Any, Any, None]]) -> bool:
        task = asyncio.create_task(life())
        for seconds in (self._limit, GRACE):
            overdue = await self._wait(task, seconds)
            if overdue is None:
                return True
            self._overdue(overdue)
            task.cancel()
        return False

    async def _wait(self, task: asyncio.Task[None], seconds: float) -> Overdue | None:
        """Wait for `task` for so long and so many turns at most; return what it did too long."""
        spun = asyncio.get_running_loop().create_future()
        self._spin.restart(lambda: spun.set_result(None))
        await asyncio.wait({task, spun}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            if not task.cancelled():
                task.result()
            return None
        return "livelock" if spun.done() else "hung"

    async def _on_trio(self, life: Callable[[], Awaitable[None]]) -> bool:
        with anyio.move_on_after(self._limit) as bound:

            def spun() -> None:
                self._overdue("livelock")
                bound.cancel()

            self._spin.restart(spun)
            await life()
            return True
        self._overdue("hung")
        return True
