"""The task in which each call runs, and how its cancellation reaches it.

A call that is cancelled here cleans up as most programs do: without a shield.
"""

import asyncio
import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import anyio
import anyio.lowlevel

from asyncwait.spec.scenario import MisuseKind

_NOTHING = 1e-6
"""Seconds that a sum of times may be off; to sleep for less moves no virtual clock."""


async def outlast(seconds: float) -> None:
    """Wait so long, however often the present task is cancelled meanwhile."""
    end = anyio.current_time() + seconds
    with anyio.CancelScope(shield=True):
        while True:
            # A scope of anyio is shielded against; on asyncio, a task can be cancelled directly.
            with suppress(asyncio.CancelledError):
                await anyio.sleep(max(0.0, end - anyio.current_time()))
            if anyio.current_time() >= end - _NOTHING:
                return


class CallTasks:
    """Looks at the task of each call."""

    def __init__(
        self,
        misused: Callable[[MisuseKind, str], object],
        is_for_all: Callable[[], bool],
    ) -> None:
        self._misused = misused
        self._is_for_all = is_for_all
        self._busy: dict[Any, str] = {}
        """Whose task each one is."""
        self._tasks: dict[int, Any] = {}
        """By call."""
        self._deadlines = {math.inf, -math.inf}
        """What a call may see: that of whoever entered the operator, none, or a cancellation."""

    def is_entered(self) -> None:
        """The operator is about to be entered by this task."""
        self._busy[present_task()] = "the consumer"
        self._deadlines.add(anyio.current_effective_deadline())

    # A call

    def begins(self, call: int) -> None:
        """A call begins in this task."""
        task = self._tasks[call] = present_task()
        if task is None:
            self._misused("task-of-others", f"call {call} runs in no task")
        elif task in self._busy:
            self._misused("task-of-others", f"call {call} runs in the task of {self._busy[task]}")
        elif _cancellations(task):
            self._misused("task-of-others", f"the task of call {call} was cancelled before")
        self._busy[task] = f"call {call}"
        self.goes_on(call)

    def goes_on(self, call: int) -> None:
        """A call looks at the deadline that it sees."""
        deadline = anyio.current_effective_deadline()
        if deadline not in self._deadlines:
            left = deadline - anyio.current_time()
            self._misused("scope-seen", f"call {call} sees that it has {left:g} s left")

    def ends(self, call: int) -> None:
        """A call ends; its task may serve another one."""
        self._busy.pop(self._tasks.pop(call, None), None)

    # Its cancellation

    async def clean_up(self, call: int, seconds: float) -> None:
        """Clean up for so long, without a shield as far as the loop lets it."""
        end = anyio.current_time() + seconds
        if isinstance(self._tasks[call], asyncio.Task):
            await self._clean_up_on_asyncio(call, seconds)
        else:
            await self._expect_another(call)
        await outlast(max(0.0, end - anyio.current_time()))

    async def _clean_up_on_asyncio(self, call: int, seconds: float) -> None:
        times = _cancellations(self._tasks[call])
        if times != 1 and not self._is_for_all():
            self._misused("task-of-others", f"the task of call {call} counts {times} cancellations")
        try:
            await (_in_a_group(seconds) if call % 2 else asyncio.sleep(seconds))
        except asyncio.CancelledError:
            if not self._is_for_all():
                self._misused("cancelled-otherwise", f"call {call} was cancelled again")

    async def _expect_another(self, call: int) -> None:
        """See on trio whether it is a scope that is cancelled."""
        try:
            await anyio.lowlevel.checkpoint()
        except anyio.get_cancelled_exc_class():
            return
        self._misused("cancelled-otherwise", f"call {call} was cancelled, but not its scope")


async def _in_a_group(seconds: float) -> None:
    """Wait as what is structured does: it counts the cancellations of its task."""
    async with asyncio.timeout(seconds + 1), asyncio.TaskGroup() as group:
        group.create_task(asyncio.sleep(seconds))


def present_task() -> Any:
    """Return the task that runs, of asyncio or of trio; None outside of any."""
    try:
        return asyncio.current_task()
    except RuntimeError:
        import trio  # an extra, and here it runs already

        return trio.lowlevel.current_task()


def _cancellations(task: Any) -> int:
    """Return how often a task was cancelled, as asyncio counts it."""
    return task.cancelling() if isinstance(task, asyncio.Task) else 0
