"""Requests to a table, each of them in a task of its own that ends with the lookup.

    begun ── the table answers ──────────── ended: all that wait have answers
          └─ nobody waits for it any more ─ ended: cancelled

At most one load of a key is under way. It is begun in the context in which the lookup was opened,
for it may serve rows of anybody.
"""

from collections.abc import Callable, Mapping
from contextvars import copy_context
from typing import Any, TypeAlias

import anyio
from msgspec import Struct, field

from asyncwait.backends.lookup._figures import Figures
from asyncwait.backends.lookup._table import Table, read_answers
from asyncwait.spec.mailbox import Loop
from asyncwait.toolkit import JoinableTasks, is_own_cancellation, reraise_fatal

Read: TypeAlias = dict[Any, tuple[Any, ...] | Exception]
"""By stand-in: what a table has for a key, or what has failed."""


class Load(Struct, eq=False):
    """A request to the table.

    Args:
        asked: keys by their stand-ins.
        background: whether it goes on although nobody waits for it.
        waiting: how many wait for it.
        answers: what it came to; None before its end, and if it was cancelled.
    """

    asked: Mapping[Any, Any]
    background: bool = False
    waiting: int = 0
    answers: Read | None = None
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    ended: anyio.Event = field(default_factory=anyio.Event)

    def cancel(self) -> None:
        """Give it up, whatever cancels its surroundings at the same time."""
        self.scope.shield = True  # see `JoinableTasks.join`
        self.scope.cancel()


class Loads:
    """The loads of one table that are under way.

    Args:
        table: opened.
        loop: that this runs on.
        group: where the loads run.
        figures: where they are counted.
        keep: called with stand-in, rows, and the moments of asking and of the answer, for each key
            that was read.
    """

    def __init__(
        self,
        table: Table,
        loop: Loop,
        group: JoinableTasks,
        figures: Figures,
        keep: Callable[[Any, tuple[Any, ...], float, float], None],
    ) -> None:
        self._table = table
        self._loop = loop
        self._group = group
        self._figures = figures
        self._keep = keep
        self._opened = copy_context()
        self._running: set[Load] = set()
        self.by_key: dict[Any, Load] = {}
        """The load that each key is in, by stand-in."""

    def begin(self, asked: Mapping[Any, Any], *, background: bool = False) -> Load:
        """Begin a load of keys, none of which is in one."""
        load = Load(asked, background)
        self._running.add(load)
        self.by_key.update(dict.fromkeys(asked, load))
        self._opened.copy().run(self._group.start_soon, self._run, load)
        return load

    async def wait_for(self, loads: set[Load]) -> None:
        """Wait for the end of each; whoever is the last to give one up has it cancelled."""
        for load in loads:
            load.waiting += 1
        try:
            for load in loads:
                await load.ended.wait()
        finally:
            for load in loads:
                load.waiting -= 1
                if not (load.waiting or load.background or load.ended.is_set()):
                    self._forget(load)  # who asks for its keys now does not wait for its clean-up
                    load.cancel()

    def cancel(self) -> None:
        """Give all of them up."""
        for load in self._running:
            load.cancel()

    async def _run(self, load: Load) -> None:
        try:
            with load.scope:
                load.answers = await self._answers(load)
        finally:
            self._forget(load)
            self._running.discard(load)
            load.ended.set()

    def _forget(self, load: Load) -> None:
        for key in load.asked:
            if self.by_key.get(key) is load:
                del self.by_key[key]

    async def _answers(self, load: Load) -> Read:
        """Ask the table, and keep what it answers; what it raises is the answer for each key."""
        asked, asked_at = load.asked, self._loop.time()
        answers: Read
        self._figures.requests += 1
        try:
            answers = read_answers(asked, await self._table.get_many(list(asked.values())))
        except BaseException as error:
            reraise_fatal(error)
            if is_own_cancellation(error):
                raise
            self._figures.failed_requests += 1
            failure = error if isinstance(error, Exception) else _as_failure(error)
            answers = dict.fromkeys(asked, failure)
        now = self._loop.time()
        self._figures.answered(len(asked), now - asked_at)
        if not load.scope.cancel_called:  # Else a newer load may have kept newer rows.
            for key, rows in answers.items():
                if not isinstance(rows, Exception):
                    self._keep(key, rows, asked_at, now)
        return answers


def _as_failure(error: BaseException) -> Exception:
    """Return what a table comes to that raises a cancellation which nobody asked for."""
    failure = RuntimeError(f"get_many() raised {type(error).__name__}, and nobody cancelled it")
    failure.__cause__ = error
    return failure
