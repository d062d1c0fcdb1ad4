"""What the tasks of one operator wake each other with, and the loop's own clock and door."""

import asyncio
from collections.abc import Callable
from typing import Any

import anyio


class Bell:
    """Wakes one waiting task; ringing while nobody waits does nothing and costs next to nothing.

    Whoever waits looks at the state first and again afterwards. No await lies between the look
    and the wait, so no ring is missed.
    """

    __slots__ = ("_event",)

    def __init__(self) -> None:
        self._event: anyio.Event | None = None

    async def wait(self) -> None:
        """Sleep until the next ring."""
        event = self._event = anyio.Event()
        try:
            await event.wait()
        finally:
            self._event = None

    def ring(self) -> None:
        """Wake the waiting task, if there is one."""
        if self._event is not None:
            self._event.set()


def loop_clock() -> Callable[[], float]:
    """Return the clock of the running loop; on asyncio it is bound once, which is cheaper."""
    if anyio.get_cancelled_exc_class() is asyncio.CancelledError:
        return asyncio.get_running_loop().time
    return anyio.current_time


def door_of_loop() -> Callable[[Callable[[], Any]], Any]:
    """Return what any thread may call to have a function called on the running loop.

    It raises RuntimeError once the loop is closed.
    """
    if anyio.get_cancelled_exc_class() is asyncio.CancelledError:
        return asyncio.get_running_loop().call_soon_threadsafe
    import trio

    return trio.lowlevel.current_trio_token().run_sync_soon
