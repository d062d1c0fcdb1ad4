"""Futures, done callbacks and timers of the loop; no task but the reader's and the calls' own."""

import asyncio
import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from asyncwait.spec import Element, Record
from asyncwait.spec.snapshots import Stored
from odd.sound._asyncio_shell import Called, TimingShell
from odd.sound._contract import Entry, passed_on


@dataclass(slots=True, eq=False)
class _Entry(Called):
    """A record or a fence that was admitted, and when its call began."""

    began: float = math.inf


class RunsOnCallbacks(TimingShell):
    """Does everything in callbacks of futures and timers, and looks each time what may go on."""

    lacks = (
        "retry",
        "failure-handler",
        "max-held",
        "key-ordered",
        "contexts",
        "batches",
        "cache",
        "limits",
    )
    grace, turns = 0.002, 9

    async def _start(self) -> None:
        self._inside: dict[_Entry, None] = {}  # a set that keeps its order
        self._news: asyncio.Future[None] | None = None  # the consumer waits for it
        self._wanted: asyncio.Future[None] | None = None  # the reader waits for it
        await super()._start()

    def _tell(self) -> None:
        _wake(self._news)

    # From the source

    async def _may_begin(self) -> None:
        self._advance()

    def _source_ended(self, error: BaseException | None) -> None:
        super()._source_ended(error)
        self._advance()

    async def _take_in(self, element: Element) -> None:
        """File an element, and wait while it waits; so one may wait behind restored ones."""
        if isinstance(element, Stored):
            self._backlog.append(element)
        else:
            self._ahead.append(passed_on(element, (*self._held(), *self._backlog)))
        self._advance()
        while self._may_not_read(element):
            self._wanted = self._loop.create_future()
            await self._wanted

    def _may_not_read(self, last: Element) -> bool:
        if self._backlog and (self._ahead or isinstance(last, Stored)):
            return True
        return len(self._ahead) > self._config.capacity

    # What may go on

    def _advance(self) -> None:
        """Let go by itself what has no results, admit what there is room for, wake who waits."""
        while (silent := next((e for e in self._may_go_out() if not e.outputs), None)) is not None:
            del self._inside[silent]
        while self._end is None and self._backlog and len(self._inside) < self._config.capacity:
            self._admit(_Entry(self._next_waiting()))
        _wake(self._wanted)
        self._tell()

    def _admit(self, entry: _Entry) -> None:
        self._inside[entry] = None
        if not isinstance(entry.element, Record):
            entry.outputs = deque([entry.element])
            return
        self._most = max(self._most, len(self._records()))
        if self._parts.call is not None:
            call: asyncio.Future[None] = self._loop.create_task(self._call(entry, entry.element))
        else:
            self._begin(entry)
            call = self._future_answer(entry.element, entry.reply)
        entry.call = call
        self._running[call] = entry
        call.add_done_callback(self._on_answer)

    async def _call(self, entry: _Entry, record: Record) -> None:
        self._begin(entry)
        await self._answer(record, entry.reply)

    def _begin(self, entry: _Entry) -> None:
        entry.began = self._loop.time()
        self._set_timer(entry, entry.began)

    def _may_go_out(self) -> Iterator[_Entry]:
        """Go through what is decided and has nothing before it that it must not cross."""
        ordered = self._config.mode == "ordered"
        for place, entry in enumerate(self._inside):
            is_fence = not isinstance(entry.element, Record)
            if entry.outputs is not None and not (is_fence and place):
                yield entry
            if ordered or is_fence:
                return

    # What happens

    def _on_answer(self, call: "asyncio.Future[None]") -> None:
        entry = self._running.pop(call)
        self._abandoned_now.discard(call)
        entry.stop()
        if call.cancelled() or call.exception() is not None:
            return  # a call that raised has a reply that raises; this was for the whole program
        if entry.outputs is None and self._end is None:
            if entry.reply.came_by(entry.deadline):
                self._answered(entry)
            else:
                self._expire(entry)

    def _on_deadline(self, entry: Called) -> None:
        if entry.call is None or entry.reply.came_by(entry.deadline):
            return  # making it has ended the program; or the loop was busy, and it has answered
        self._cancel(entry, entry.call)

    def _decided(self, entry: Entry) -> None:
        self._note_held()
        self._advance()

    # To the consumer

    async def _take(self) -> Element:
        while self._end is None:
            if (element := self._next()) is not None:
                self._advance()
                return element
            if self._source_end is not None and not self._inside:
                self._finish(*self._source_end)
                break
            self._news = self._loop.create_future()
            await self._news
        raise self._final()

    def _next(self) -> Element | None:
        if self._begun is None and self._ahead:
            return self._ahead.popleft()
        entry = self._begun or next(self._may_go_out(), None)
        if entry is None:
            return None
        element = self._part_of(entry)
        self._begun = entry if entry.outputs else None
        if not entry.outputs:
            del self._inside[entry]
        return element

    def _oldest(self) -> float:
        now = self._loop.time()
        return max((max(0.0, now - entry.began) for entry in self._inside), default=0.0)


def _wake(future: "asyncio.Future[None] | None") -> None:
    if future is not None and not future.done():
        future.set_result(None)
