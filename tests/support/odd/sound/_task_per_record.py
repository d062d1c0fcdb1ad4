"""A task for each record: it waits for the answer, and then for everything before it to be gone."""

import asyncio
import math
from collections import deque
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from asyncwait.spec import Element, OperatorError, Record
from asyncwait.spec.snapshots import Stored
from asyncwait.toolkit import awaitable_of, reraise_fatal
from odd.sound._contract import (
    Answer,
    Entry,
    Handle,
    Reply,
    outputs_at_deadline,
    outputs_of,
    passed_on,
)
from odd.sound._shell import Shell

T = TypeVar("T")

_GRACE, _TURNS = 0.005, 8
"""A cancelled call has so many seconds to end in, and then so many turns of the loop."""


@dataclass(slots=True, eq=False)
class _Life(Entry):
    """A record or a fence inside the operator."""

    before: list[asyncio.Event] = field(default_factory=list)
    """Set as each of those is gone that have to come out before."""
    gone: asyncio.Event = field(default_factory=asyncio.Event)


class GivesEachRecordATask(Shell):
    """Gives each record a task of an `asyncio.TaskGroup`, for its answer and then for its turn."""

    async def _start(self) -> None:
        self._loop = asyncio.get_running_loop()
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
                _ = self._spawn(self._read())
                await self._over.wait()
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

    async def _undisturbed(self, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` to its end, however often the present task is cancelled meanwhile."""
        task = asyncio.get_running_loop().create_task(work)
        cancelled: asyncio.CancelledError | None = None
        while not task.done():
            try:
                await asyncio.wait({task})
            except asyncio.CancelledError as error:
                cancelled = error
        if cancelled is not None:
            raise cancelled
        task.result()

    async def _leave(self) -> None:
        await self._undisturbed(self._clean_up())

    async def _clean_up(self) -> None:
        await asyncio.wait({self._host})
        await self._close()

    # From the source

    async def _read(self) -> None:
        try:
            await self._admit_backlog()
            self._source_end = (await self._source.read(self._take_in, self._is_cancelled),)
            self._news.set()
        finally:
            self._tasks -= {asyncio.current_task()}  # nobody cuts the closing short
            await self._source.close()

    async def _take_in(self, element: Element) -> None:
        if isinstance(element, Stored):
            self._backlog.append(element)
            await self._admit_backlog()
            return
        self._ahead.append(passed_on(element, self._held()))
        self._news.set()
        while len(self._ahead) > self._config.capacity:
            self._passed.clear()
            await self._passed.wait()

    async def _admit_backlog(self) -> None:
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
        self._tasks.discard(call)
        call.cancel()
        _ = self._spawn(self._watch(call))
        return outputs_at_deadline(element, self._parts, self._config)

    async def _call(self, life: _Life, record: Record) -> None:
        if self._config.timeout is not None:
            life.deadline = self._loop.time() + self._config.timeout
        await self._answer(record, life.reply)

    async def _answer(self, record: Record, reply: Reply) -> None:
        """Call the function in either form, and wait until there is an answer in `reply`."""
        if self._parts.call is None:
            await self._future_answer(record, reply)
            return
        try:
            returned = await awaitable_of(record, self._parts.call(record.value))
        except BaseException as error:
            reraise_fatal(error)
            reply.fail(self._loop.time(), error)  # too late to count if the operator cancelled it
        else:
            reply.give(self._loop.time(), lambda: returned)

    def _future_answer(self, record: Record, reply: Reply) -> "asyncio.Future[None]":
        """Call the function in callback form; the future is set when there is an answer."""
        assert self._parts.invoke is not None
        answered: asyncio.Future[None] = self._loop.create_future()

        def put(answer: Answer) -> None:
            if reply.give(self._loop.time(), answer):
                with suppress(RuntimeError):  # the loop is closed, and the operator long gone
                    self._loop.call_soon_threadsafe(wake)

        def wake() -> None:
            if not answered.done():
                answered.set_result(None)

        try:
            self._parts.invoke(record.value, Handle(put))
        except BaseException as error:
            reraise_fatal(error)
            reply.fail(self._loop.time(), error)
            wake()
        return answered

    def _is_cancelled(self, error: BaseException) -> bool:
        """Whether somebody cancels the present task; else user code made `error` up."""
        task = asyncio.current_task()
        cancelling = task is not None and task.cancelling() > 0
        return cancelling and isinstance(error, asyncio.CancelledError)

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
