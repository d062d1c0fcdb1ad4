"""How the tasks of an operator wake each other."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from asyncwait.spec._loop import running_trio


class Bell:
    """Wakes one waiting task; ringing while nobody waits does nothing and costs next to nothing.

    Whoever waits looks at the state first, and again afterwards. No await lies between the look
    and the wait, so that no ring is missed.

    The task sleeps as its own loop has it: an event of anyio takes three times as long.
    """

    __slots__ = ("wake",)

    def __init__(self) -> None:
        self.wake: Callable[[], object] | None = None
        """Wakes who waits; None while nobody does, and when that one is woken already."""

    async def wait(self) -> None:
        """Sleep until the next ring."""
        trio = running_trio()
        try:
            if trio is None:
                future = asyncio.get_running_loop().create_future()
                self.wake = partial(_wake, future)
                await future
            else:
                self.wake = partial(trio.lowlevel.reschedule, trio.lowlevel.current_task())
                await trio.lowlevel.wait_task_rescheduled(partial(self._give_up, trio))
        finally:
            self.wake = None

    def _give_up(self, trio: Any, _raise_cancelled: Any) -> Any:
        """Wake nobody who is cancelled on trio: it would be woken twice."""
        self.wake = None
        return trio.lowlevel.Abort.SUCCEEDED

    def ring(self) -> None:
        """Wake the waiting task, if there is one."""
        wake, self.wake = self.wake, None
        if wake is not None:
            wake()


def _wake(sleeper: asyncio.Future[None]) -> None:
    if not sleeper.done():  # or cancelled, and it does not run yet
        sleeper.set_result(None)
