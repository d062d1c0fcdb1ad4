"""How the tasks of an operator wake each other."""

import asyncio
from collections.abc import Callable, Generator
from typing import Any, TypeAlias

from asyncwait.toolkit._loop import running_trio


class Bell:
    """Wakes one waiting task; ringing while nobody waits does nothing and costs next to nothing.

    Whoever waits looks at the state first, and again afterwards. No await lies between the look
    and the wait, so that no ring is missed. It serves tasks of one loop.

    The task sleeps as its own loop has it: an event of anyio takes three times as long.
    """

    __slots__ = ("_falls_asleep", "sleeper")

    def __init__(self) -> None:
        self.sleeper: Sleeper | None = None
        """Who waits; None while nobody does, and when that one is woken already."""
        self._falls_asleep: Callable[[], Sleeper] | None = None

    async def wait(self) -> None:
        """Sleep until the next ring."""
        if self._falls_asleep is None:
            self._falls_asleep = _way_to_sleep()
        self.sleeper = sleeper = self._falls_asleep()
        try:
            await sleeper
        finally:
            self.sleeper = None

    def ring(self) -> None:
        """Wake the waiting task, if there is one."""
        sleeper = self.sleeper
        if sleeper is not None:
            self.sleeper = None
            if not sleeper.done():  # or cancelled, and it does not run yet
                sleeper.set_result(None)


class _TrioSleeper:
    """What a future is on asyncio, for the present task of trio."""

    __slots__ = ("_done", "_task", "_trio")

    def __init__(self, trio: Any) -> None:
        self._trio = trio
        self._task = trio.lowlevel.current_task()
        self._done = False

    def __await__(self) -> Generator[Any, Any, None]:
        yield from self._trio.lowlevel.wait_task_rescheduled(self._give_up).__await__()

    def _give_up(self, _raise_cancelled: Any) -> Any:
        """Wake nobody who is cancelled: it would be woken twice."""
        self._done = True
        return self._trio.lowlevel.Abort.SUCCEEDED

    def done(self) -> bool:
        """Return whether nothing may wake it any more."""
        return self._done

    def set_result(self, _: None) -> None:
        """Wake it."""
        self._done = True
        self._trio.lowlevel.reschedule(self._task)


Sleeper: TypeAlias = "asyncio.Future[None] | _TrioSleeper"


def _way_to_sleep() -> Callable[[], Sleeper]:
    """Return what makes a sleeper of the present task."""
    trio = running_trio()
    return asyncio.get_running_loop().create_future if trio is None else lambda: _TrioSleeper(trio)
