"""Books in a thread, calls on the loop, and a supervisor who waits for whatever comes first.

The loop sends the thread a letter about each thing that happens, and does what the answer orders.
It waits for that answer as it would for a lock: while the thread thinks, the loop's clock must not
move, and the consumer must not take what a snapshot is about to hold. So the loop stands still for
some microseconds with each letter.
"""

import asyncio
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from asyncwait.spec import Element, OperatorError, Record
from odd.sound._asyncio_shell import AsyncioShell
from odd.sound._books import Books, Orders
from odd.sound._contract import Reply, outputs_at_deadline, outputs_of

_GRACE, _TURNS = 0.02, 3
"""A cancelled call has so many seconds to end in, and then so many turns of the loop."""

_EARLY = 1e-6
"""Seconds that a timer of the loop may come early."""


@dataclass(slots=True, eq=False)
class _Call:
    """A call that runs."""

    number: int
    record: Record
    reply: Reply = field(default_factory=Reply)
    deadline: float = math.inf
    due: float = math.inf
    """When to look at it: at its deadline, then where it should have ended, then never."""
    is_late: bool = False
    looks: int = _TURNS


class KeepsItsBooksInAThread(AsyncioShell):
    """Has a thread keep its books: the loop only makes calls, and asks what to do."""

    async def _start(self) -> None:
        await super()._start()
        self._books = Books(self, self._config, self._backlog)
        self._clerk = ThreadPoolExecutor(max_workers=1)
        self._running: dict[asyncio.Task[None], _Call] = {}
        self._changed = self._loop.create_future()
        self._news, self._room = asyncio.Event(), asyncio.Event()
        self._given: list[Element] = []
        self._noted: list[bool] = []
        self._is_closing = False
        self._reader = self._loop.create_task(self._read())
        self._supervisor = self._loop.create_task(self._supervise())

    def _ask(self, letter: Callable[[], Orders]) -> None:
        """Send the thread a letter, wait for its answer, and do what that orders."""
        for order in self._clerk.submit(letter).result():
            order()

    def _finish(self, error: BaseException | None) -> None:
        if self._end is not None:
            return
        self._end = (error,)
        self._news.set()
        self._supervisor.cancel()
        if not self._is_closing:
            self._reader.cancel()
        for task, call in self._running.items():
            if not call.is_late:  # else it was cancelled at its deadline
                task.cancel()

    def _working(self) -> "set[asyncio.Future[Any]]":
        return {self._reader, self._supervisor, *self._running}

    async def _close(self) -> None:
        self._clerk.shutdown()
        await super()._close()

    # What the books order

    def start(self, number: int, record: Record) -> None:
        """Call the function for a record."""
        call = _Call(number, record)
        self._running[self._loop.create_task(self._call(call))] = call

    def read_on(self) -> None:
        """Let the next element be read."""
        self._room.set()

    def wake(self) -> None:
        """Have the consumer ask again."""
        self._news.set()

    def give(self, element: Element) -> None:
        """Hand an element to the consumer, which has just asked."""
        self._given.append(element)

    def finish(self, error: BaseException | None) -> None:
        """End the output."""
        self._finish(error)

    def note(self, records: list[bool]) -> None:
        """Note of each record in flight whether it is decided."""
        self._noted = records
        self._most = max(self._most, len(records))

    # From the source

    async def _read(self) -> None:
        try:
            self._ask(self._books.go_on)
            await self._room.wait()
            error = await self._source.read(self._take_in, self._is_cancelled)
            self._ask(partial(self._books.end, error))
            await self._loop.create_future()  # never set: the source is closed with the output
        finally:
            self._is_closing = True
            await self._source.close()

    async def _take_in(self, element: Element) -> None:
        self._room.clear()
        self._ask(partial(self._books.take_in, element))
        await self._room.wait()

    # Calls

    async def _call(self, call: _Call) -> None:
        self._calls += 1
        if self._config.timeout is not None:
            call.due = call.deadline = self._loop.time() + self._config.timeout
        self._look_again()
        await self._answer(call.record, call.reply)

    def _look_again(self) -> None:
        if not self._changed.done():
            self._changed.set_result(None)

    async def _supervise(self) -> None:
        """Wait for an answer, for the next time that something is due, or for a new call."""
        while True:
            self._changed = self._loop.create_future()
            when = min((call.due for call in self._running.values()), default=math.inf)
            wait = None if when == math.inf else when - self._loop.time()
            first: set[asyncio.Future[Any]] = {self._changed, *self._running}
            await asyncio.wait(first, timeout=wait, return_when=asyncio.FIRST_COMPLETED)
            for task, call in list(self._running.items()):
                if self._end is not None:
                    return
                if task.done():
                    del self._running[task]
                    self._on_answer(task, call)
                elif call.due <= self._loop.time() + _EARLY:
                    self._on_due(task, call)

    def _on_answer(self, task: "asyncio.Task[None]", call: _Call) -> None:
        if call.is_late or task.cancelled() or task.exception() is not None:
            return
        if call.reply.at < call.deadline:  # of two in one instant the deadline wins
            self._collect(call, partial(outputs_of, call.record, call.reply.answer))
        else:
            self._run_out(call)

    def _on_due(self, task: "asyncio.Task[None]", call: _Call) -> None:
        if call.reply.at < call.deadline:
            return  # the loop was busy, and now the answer is on its way
        if not call.is_late:
            call.is_late = True
            call.due = self._loop.time() + _GRACE
            task.cancel()
            self._run_out(call)
        elif call.looks:
            call.looks -= 1  # it is due still, so it will be looked at in the next turn
        else:
            call.due = math.inf
            self._abandon(sum(c.is_late and c.due == math.inf for c in self._running.values()))

    def _run_out(self, call: _Call) -> None:
        self._timeouts += 1
        self._collect(call, partial(outputs_at_deadline, call.record, self._parts, self._config))

    def _collect(self, call: _Call, outputs: Callable[[], tuple[Element, ...]]) -> None:
        """Collect the results here, because user code may only run on the loop."""
        try:
            collected = outputs()
        except OperatorError as error:
            self._finish(error)
        else:
            self._ask(partial(self._books.decide, call.number, collected))

    # To the consumer

    async def _take(self) -> Element:
        while self._end is None:
            self._news.clear()
            self._ask(self._books.take)
            if self._given:
                return self._given.pop()
            await self._news.wait()
        raise self._final()

    def request_snapshot(self, checkpoint_id: int) -> None:
        """Put a Snapshot out as the next output; nothing after the end."""
        if self._end is None:
            self._ask(partial(self._books.request, checkpoint_id, self._source.taken))

    def _records(self) -> list[bool]:
        return self._noted
