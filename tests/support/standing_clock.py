"""Both loops on clocks that only a player moves, and a way to wait until everything else waits."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

import anyio
import trio.testing
from operators import block

from asyncwait.conformance.harness import VirtualLoop

T = TypeVar("T")

MILLISECOND = 1 / 1024
"""In seconds: sums of it are exact."""


class StandingLoop(VirtualLoop):
    """An asyncio loop whose clock stands as long as its player waits for the others."""

    _idle: "asyncio.Future[None] | None" = None

    async def idle(self) -> None:
        """Return when nothing else can be done in this instant."""
        self._idle = self.create_future()
        await self._idle

    def settle(self) -> bool:
        """Let the player go on."""
        idle, self._idle = self._idle, None
        if idle is None:
            return False
        idle.set_result(None)
        return True


def run_standing(loop: str, function: Callable[..., Coroutine[Any, Any, T]], *args: Any) -> T:
    """Run a coroutine function on one of the loops, on a clock that starts at 0 and stands."""
    if loop == "trio":
        return trio.run(partial(function, *args), clock=trio.testing.MockClock())
    return anyio.run(function, *args, backend_options={"loop_factory": StandingLoop})


async def all_others_wait() -> None:
    """Return when nothing else can be done in this instant."""
    if trio.lowlevel.in_trio_run():
        await trio.testing.wait_all_tasks_blocked()
    else:
        running = asyncio.get_running_loop()
        assert isinstance(running, StandingLoop)
        await running.idle()


def pass_millisecond() -> None:
    """Let a millisecond pass."""
    block(MILLISECOND)
