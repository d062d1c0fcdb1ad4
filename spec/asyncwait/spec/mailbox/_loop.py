"""The loop that a mailbox and an operator run on."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeAlias

from msgspec import Struct

CallAt: TypeAlias = Callable[[float, Callable[[], object]], asyncio.TimerHandle]


class Loop(Struct, frozen=True):
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
