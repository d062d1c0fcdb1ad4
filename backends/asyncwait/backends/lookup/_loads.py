"""Requests to a table, each of them in a task of its own that ends with the lookup.

    begun ── it gathers ── the table answers ──────────── ended: all that wait have answers
                       └── no lookup waits any more ───── ended: cancelled

A load of a key is shared until a lookup has waited for it until its deadline. Later lookups then
begin another load, so that a table that hangs once is not down for as long as lookups wait. A load
begins in the context in which the lookup was opened, because it may serve rows of any caller.
Without batches no load waits for further keys.
"""

from collections.abc import Callable, Iterable
from contextvars import copy_context
from operator import is_
from typing import Any, TypeAlias

import anyio
from msgspec import Struct, field

from asyncwait.backends.lookup._table import Figures, Table, read_answers, table_closed
from asyncwait.spec import Batch
from asyncwait.spec.mailbox import Loop
from asyncwait.toolkit import (
    CallScope,
    JoinableTasks,
    awaited,
    call_scope,
    is_own_cancellation,
    reraise_fatal,
)

Read: TypeAlias = dict[Any, tuple[Any, ...] | Exception]
"""By stand-in: the rows of the table for a key, or its failure."""


class Load(Struct, eq=False):
    """A request to the table.

    Args:
        keys: keys that Python distinguishes; empty unless the load gathers keys.
        background: whether it goes on although no lookup waits for it.
        is_asking: whether the table has been called.
        answers: its answers; None before its end, and if it was cancelled.
    """

    asked: dict[Any, Any]
    keys: set[Any] = field(default_factory=set)
    background: bool = False
    waiting: int = 0
    is_asking: bool = False
    answers: Read | None = None
    scope: CallScope = field(default_factory=lambda: call_scope(shield=True))
    ended: anyio.Event = field(default_factory=anyio.Event)
    full: anyio.Event = field(default_factory=anyio.Event)

    def cancel(self) -> None:
        """Cancel it, as its loop cancels a call (CANCEL-1)."""
        self.scope.cancel()


class Loads:
    """The running loads of one table.

    Args:
        table: the opened table.
        keep: called with stand-in, rows, and the times of request and answer, for each key
            that was read.
        batch: how loads gather keys; None for no gathering.
        is_last: returns whether no key will be requested before answers come.
    """

    def __init__(
        self,
        table: Table,
        loop: Loop,
        group: JoinableTasks,
        figures: Figures,
        keep: Callable[[Any, tuple[Any, ...], float, float], None],
        *,
        batch: Batch | None,
        is_last: Callable[[], bool],
    ) -> None:
        self._table = table
        self._loop = loop
        self._group = group
        self._figures = figures
        self._keep = keep
        self._opened = copy_context()
        self._running: set[Load] = set()
        self._batch = batch
        self._is_last = is_last
        self._places = anyio.Semaphore(batch.in_flight if batch else 1)
        self._gathering: Load | None = None
        self.by_key: dict[Any, Load] = {}
        """The load of each key, by stand-in."""
        self.closed = anyio.Event()
        """Set before the running loads are cancelled, so that none begins meanwhile."""

    def require_open(self) -> None:
        """Refuse a lookup in a table that is closing or closed.

        Raises:
            RuntimeError: the table is closing or closed.
        """
        if self.closed.is_set():
            raise table_closed()

    def begin(self, asked: dict[Any, Any], *, background: bool = False) -> None:
        """Load keys, none of which is in a load.

        Raises:
            RuntimeError: the table is closed.
        """
        self.require_open()
        # A key that is its own stand-in is equal to no other key.
        if self._batch is None and all(map(is_, asked, asked.values())):
            self._start(asked, background)
            return
        for place, key in asked.items():
            self._gather(place, key, background)
        if self._batch is None and self._gathering is not None:
            self._go(self._gathering)
        elif self._is_last():
            self.hurry()

    def hurry(self) -> None:
        """End the gathering of the present load, which then waits only for its place."""
        if self._gathering is not None:
            self._gathering.full.set()

    def _start(self, asked: dict[Any, Any], background: bool) -> Load:  # noqa: FBT001 - as in Load
        load = Load(asked, background=background)
        self._running.add(load)
        self.by_key.update(dict.fromkeys(asked, load))
        self._opened.copy().run(self._group.start_soon, self._run, load)
        return load

    def _gather(self, place: Any, key: Any, background: bool) -> None:  # noqa: FBT001 - as in Load
        load = self._gathering
        if load is not None and _clashes(key, load.keys):
            self._go(load)
            load = None
        if load is None:
            load = self._gathering = self._start({}, background)
        load.asked[place] = key
        load.keys.add(key)
        load.background = load.background or background
        self.by_key[place] = load
        if self._batch is not None and len(load.asked) == self._batch.max_size:
            self._go(load)

    def _go(self, load: Load) -> None:
        load.full.set()
        if self._gathering is load:
            self._gathering = None

    async def wait_for(self, loads: set[Load]) -> None:
        """Wait for the end of each load; the last waiter that leaves a load cancels it."""
        for load in loads:
            load.waiting += 1
        try:
            for load in loads:
                await load.ended.wait()
        finally:
            for load in loads:
                load.waiting -= 1
                if not (load.waiting or load.background or load.ended.is_set()):
                    self._forget(load)  # a later lookup of its keys does not wait for its clean-up
                    load.cancel()

    def give_up(self, loads: Iterable[Load]) -> None:
        """End the sharing of requests for which a lookup has waited until its deadline.

        Lookups that still wait keep them. A load that waits for its place is not at fault.
        """
        for load in loads:
            if load.is_asking and not load.ended.is_set():
                self._forget(load)
                load.background = False
                if not load.waiting:
                    load.cancel()

    def close(self) -> None:
        """Cancel all loads, and begin no more."""
        self.closed.set()
        for load in self._running:
            load.cancel()

    async def _run(self, load: Load) -> None:
        try:
            with load.scope:
                if load.scope.cancel_called:
                    pass
                elif self._batch is None:
                    load.answers = await self._answers(load)
                else:
                    load.answers = await self._gathered(load, self._batch.max_wait)
        finally:
            self._forget(load)
            self._running.discard(load)
            load.ended.set()

    async def _gathered(self, load: Load, seconds: float) -> Read:
        """Wait until a load is full, or its time is over, and for its place; then request."""
        with anyio.move_on_after(seconds):
            await load.full.wait()
        async with self._places:
            self._go(load)
            return await self._answers(load)

    def _forget(self, load: Load) -> None:
        self._go(load)
        for key in load.asked:
            if self.by_key.get(key) is load:
                del self.by_key[key]

    async def _answers(self, load: Load) -> Read:
        """Call the table, and cache its answers; an error is the answer for each key."""
        asked, asked_at = load.asked, self._loop.time()
        load.is_asking = True
        answers: Read
        self._figures.requests += 1
        try:
            reading = self._table.get_many(list(asked.values()))
            answers = read_answers(asked, await awaited(reading, "get_many"))
        except BaseException as error:
            reraise_fatal(error)
            is_cancelled = isinstance(error, anyio.get_cancelled_exc_class())
            if (is_cancelled and load.scope.cancel_called) or is_own_cancellation(error):
                raise
            self._figures.failed_requests += 1
            failure = error if isinstance(error, Exception) else _as_failure(error)
            answers = dict.fromkeys(asked, failure)
        now = self._loop.time()
        self._figures.answered(len(asked), now - asked_at)
        for key, rows in answers.items():
            # A load whose sharing has ended is older than the rows that a newer load may have kept.
            if self.by_key.get(key) is load and not isinstance(rows, Exception):
                self._keep(key, rows, asked_at, now)
        return answers


def _clashes(key: Any, others: set[Any]) -> bool:
    """Return whether one mapping can't hold the answers for a key and other keys.

    A mapping takes 1 for True, and it can't hold keys with equal hashes that can't be compared.
    """
    try:
        return key in others
    except Exception:
        return True


def _as_failure(error: BaseException) -> Exception:
    failure = RuntimeError(f"get_many() raised {type(error).__name__}, and no code cancelled it")
    failure.__cause__ = error
    return failure
