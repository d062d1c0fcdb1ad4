"""The two loops as the operator sees them: the time, and the way in from other threads."""

import asyncio
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

CallAt: TypeAlias = Callable[[float, Callable[[], object]], asyncio.TimerHandle]


@dataclass(frozen=True, slots=True)
class Loop:
    """The loop that an operator was opened on.

    Args:
        time: its clock, in seconds, and the only one that an operator knows; for any thread.
        call_soon_threadsafe: runs a function on the loop soon; for any thread.
        call_at: runs a function at a time of the clock; None on trio, where only tasks sleep.
    """

    time: Callable[[], float]
    call_soon_threadsafe: Callable[[Callable[[], object]], Any]
    call_at: CallAt | None

    def call_from_thread(self, function: Callable[[], object]) -> None:
        """Run `function` on the loop soon, or never if the loop is closed."""
        with suppress(RuntimeError):  # what a closed asyncio loop raises; trio's is a kind of it
            self.call_soon_threadsafe(function)


def running_loop() -> Loop:
    """Return the loop that runs the caller, be it asyncio's or trio's.

    Raises:
        RuntimeError: there is none.
    """
    trio = sys.modules.get("trio")  # whoever runs on trio has imported it
    if trio is not None and trio.lowlevel.in_trio_run():
        clock, token = trio.lowlevel.current_clock(), trio.lowlevel.current_trio_token()
        return Loop(clock.current_time, token.run_sync_soon, None)
    loop = asyncio.get_running_loop()
    return Loop(loop.time, loop.call_soon_threadsafe, loop.call_at)
