"""The two loops as the operator sees them: the time, and the way in from other threads."""

import asyncio
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Loop:
    """The loop that an operator was opened on.

    Args:
        time: its clock, in seconds; the only clock that an operator knows.
        call_soon_threadsafe: runs a function on the loop soon; callable from any thread.
        call_at: runs a function at a time of the clock; None on trio, where only tasks sleep.
    """

    time: Callable[[], float]
    call_soon_threadsafe: Callable[[Callable[[], object]], Any]
    call_at: Callable[[float, Callable[[], object]], asyncio.TimerHandle] | None

    def call_from_thread(self, function: Callable[[], object]) -> None:
        """Run `function` on the loop soon, or never if the loop is closed."""
        with suppress(RuntimeError):  # both loops raise it, or a kind of it, once they are closed
            self.call_soon_threadsafe(function)


def running_loop() -> Loop:
    """Return the loop that runs the caller, be it asyncio's or trio's.

    Raises:
        RuntimeError: there is none.
    """
    trio = sys.modules.get("trio")  # whoever runs on trio has imported it
    if trio is not None and trio.lowlevel.in_trio_run():
        token = trio.lowlevel.current_trio_token()
        return Loop(trio.current_time, token.run_sync_soon, None)
    loop = asyncio.get_running_loop()
    return Loop(loop.time, loop.call_soon_threadsafe, loop.call_at)
