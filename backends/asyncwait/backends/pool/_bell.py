"""What the tasks of an operator need of the loop: to wake each other, to tell the time."""

import asyncio
from collections.abc import Callable
from math import inf
from typing import Any

import anyio


class Bell:
    """Wakes one waiting task; ringing while nobody waits does nothing and costs next to nothing.

    Whoever waits looks at the state first, and again afterwards. No await lies between the look
    and the wait, so that no ring is missed.
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


def cancelled_from_outside(error: BaseException) -> bool:
    """Tell a cancellation of the present task from an error that only looks like one.

    A call may raise CancelledError by itself, for example when it awaits a task that somebody
    else has cancelled.
    """
    cancelled = isinstance(error, anyio.get_cancelled_exc_class())
    return cancelled and anyio.current_effective_deadline() == -inf


def loop_clock() -> Callable[[], float]:
    """Return the clock of the running loop; bound once, it costs a sixth of anyio's on asyncio."""
    if _on_asyncio():
        return asyncio.get_running_loop().time
    return anyio.current_time


def door_of_loop() -> Callable[[Callable[[], Any]], Any]:
    """Return what any thread may call to have a function called on the running loop.

    It raises RuntimeError once the loop is closed.
    """
    if _on_asyncio():
        return asyncio.get_running_loop().call_soon_threadsafe
    import trio

    return trio.lowlevel.current_trio_token().run_sync_soon


def interruption(error: BaseException) -> BaseException:
    """Return what the host task is to raise after a task of its group raised `error`.

    asyncio has let a KeyboardInterrupt or a SystemExit of any task out where the loop is run. Once
    more, it would end the loop amid the shutdown: there, the host is cancelled like all others.
    """
    if _on_asyncio() and isinstance(error, KeyboardInterrupt | SystemExit):
        return asyncio.CancelledError()
    return error


def _on_asyncio() -> bool:
    return anyio.get_cancelled_exc_class() is asyncio.CancelledError
