"""Something that rings at one time of the loop's clock: cheap on asyncio, a task on trio."""

import asyncio
import math
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

import anyio

from asyncwait.spec.mailbox import CallAt

Spawn: TypeAlias = Callable[..., Any]
"""Starts a coroutine function, with its arguments, as a task that ends with the operator."""


class Alarm(Protocol):
    """Rings once, at the time that was set last."""

    def set(self, when: float) -> None:
        """Ring at `when`, in seconds of the loop's clock, and not at the time set before."""


class LoopAlarm:
    """A timer of the asyncio loop.

    Args:
        call_at: the loop's.
        ring: called when it is time.
    """

    def __init__(self, call_at: CallAt, ring: Callable[[], object]) -> None:
        self._call_at = call_at
        self._ring = ring
        self._handle: asyncio.TimerHandle | None = None

    def set(self, when: float) -> None:
        """Ring at `when`, in seconds of the loop's clock, and not at the time set before."""
        if self._handle is not None:
            self._handle.cancel()
        self._handle = None if when == math.inf else self._call_at(when, self._ring)


class TaskAlarm:
    """A task that sleeps, for any loop; it exists as soon as a time was set.

    Args:
        spawn: starts the task.
        ring: called when it is time.
    """

    def __init__(self, spawn: Spawn, ring: Callable[[], object]) -> None:
        self._spawn = spawn
        self._ring = ring
        self._when = math.inf
        self._moved: anyio.Event | None = None

    def set(self, when: float) -> None:
        """Ring at `when`, in seconds of the loop's clock, and not at the time set before."""
        self._when = when
        if self._moved is not None:
            self._moved.set()
        elif when != math.inf:
            self._moved = anyio.Event()
            self._spawn(self._run)

    async def _run(self) -> None:
        while True:
            self._moved = moved = anyio.Event()
            with anyio.CancelScope(deadline=self._when) as sleep:
                await moved.wait()
            if sleep.cancelled_caught:
                self._ring()
