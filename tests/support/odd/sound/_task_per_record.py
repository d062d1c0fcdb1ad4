"""A task for each record: it waits for the answer, and then for everything before it to be gone."""

import asyncio
import math
from collections import deque
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar

from asyncwait.spec import Element, OperatorError, Record
from asyncwait.spec.snapshots import Stored
from odd.sound._asyncio_shell import AsyncioShell
from odd.sound._contract import Entry, outputs_at_deadline, outputs_of, passed_on

T = TypeVar("T")

_GRACE, _TURNS = 0.005, 8
"""A cancelled call has so many seconds to end in, and then so many turns of the loop."""


@dataclass(slots=True, eq=False)
class _Life(Entry):
    """A record or a fence inside the operator."""

    before: list[asyncio.Event] = field(default_factory=list)
    """Set as each of those is gone that have to come out before."""
    gone: asyncio.Event = field(default_factory=asyncio.Event)


class GivesEachRecordATask(AsyncioShell):
    """Gives each record a task of an `asyncio.TaskGroup`, for its answer and then for its turn."""

    async def _start(self) -> None:
        await super()._start()
        self._room = asyncio.Semaphore(self._config.capacity)
        self._inside: dict[_Life, None] = {}  # a set that keeps its order
        self._ready: deque[_Life] = deque()
        self._news, self._passed, self._over = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._abandoned_now = 0
        self._host = self._loop.create_task(self._run())

    async def _run(self) -> None:
        """Host all tasks, and cancel each once: what cleans up is not disturbed again."""
        try:
            async with asyncio.TaskGroup() as self._group:
                _ = self._group.create_task(self._source.run())
                await self._over.wait()
                self._source.stop()
                for task in self._tasks:
                    task.cancel()
        except (KeyboardInterrupt, SystemExit) as error:
            self._finish(error)  # the loop has raised it where it is run, and does so only once

    def _spawn(self, work: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
        task = self._group.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _finish(self, error: BaseException | None) -> None:
        self._end = self._end or (error,)
        self._over.set()
        self._news.set()

    def _tell(self) -> None:
        self._news.set()

    def _working(self) -> "set[asyncio.Future[Any]]":
        return {self._host}

    # From the source

    async def _take_in(self, element: Element) -> None:
        if isinstance(element, Stored):
            self._backlog.append(element)
            await self._may_begin()
            return
        self._ahead.append(passed_on(element, self._held()))
        self._news.set()
        while len(self._ahead) > self._config.capacity:
            self._passed.clear()
            await self._passed.wait()

    async def _may_begin(self) -> None:
        while self._backlog:
            await self._room.acquire()
            self._admit(self._backlog.popleft())

    def _admit(self, element: Stored) -> None:
        in_order = self._config.mode == "ordered" or not isinstance(element, Record)
        before = [
            other.gone
            for other in self._inside
            if in_order or not isinstance(other.element, Record)
        ]
        life = _Life(element, before=before)
        self._inside[life] = None
        self._most = max(self._most, len(self._records()))
        _ = self._spawn(self._live(life))

    # A record or a fence

    async def _live(self, life: _Life) -> None:
        """Lead it from its admission to where the consumer may have it."""
        try:
            life.outputs = deque(await self._outputs(life, life.element))
        except OperatorError as error:
            self._finish(error)
            return
        for gone in life.before:
            await gone.wait()
        if life.outputs:
            self._ready.append(life)
        else:
            self._let_go(life)
        self._news.set()

    async def _outputs(self, life: _Life, element: Stored) -> tuple[Element, ...]:
        if not isinstance(element, Record):
            return (element,)
        call = self._spawn(self._call(life, element))
        await asyncio.sleep(0)  # the call has begun now, and its deadline stands
        wait = None if life.deadline == math.inf else life.deadline - self._loop.time()
        await asyncio.wait({call}, timeout=wait)
        if life.reply.came_by(life.deadline):
            return outputs_of(element, life.reply.answer)
        self._timeouts += 1
        self._tasks.discard(call)
        call.cancel()
        _ = self._spawn(self._watch(call))
        return outputs_at_deadline(element, self._parts, self._config)

    async def _call(self, life: _Life, record: Record) -> None:
        self._calls += 1
        if self._config.timeout is not None:
            life.deadline = self._loop.time() + self._config.timeout
        await self._answer(record, life.reply)

    async def _watch(self, call: asyncio.Task[Any]) -> None:
        """See whether a cancelled call ends; one that runs on is abandoned."""
        await asyncio.wait({call}, timeout=_GRACE)
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        if call.done():
            return
        self._abandoned_now += 1
        self._abandon(self._abandoned_now)
        await asyncio.wait({call})
        self._abandoned_now -= 1

    # To the consumer

    async def _take(self) -> Element:
        while self._end is None:
            if (element := self._next()) is not None:
                return element
            if self._source_end is not None and not self._inside:
                self._finish(*self._source_end)
            else:
                self._news.clear()
                await self._news.wait()
        raise self._final()

    def _next(self) -> Element | None:
        if self._ahead and not (self._ready and self._ready[0].is_begun):
            self._passed.set()
            return self._ahead.popleft()
        if not self._ready:
            return None
        life = self._ready[0]
        element = self._part_of(life)
        if not life.outputs:
            self._let_go(self._ready.popleft())
        return element

    def _let_go(self, life: _Life) -> None:
        del self._inside[life]
        life.gone.set()
        self._room.release()
