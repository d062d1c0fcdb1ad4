"""Futures, done callbacks and timers of the loop; no task but the reader's and the calls' own."""

import asyncio
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from asyncwait.spec import Element, OperatorError, Record, Snapshot, Stored
from odd.sound._asyncio_shell import AsyncioShell
from odd.sound._contract import (
    Reply,
    outputs_at_deadline,
    outputs_of,
    passed_on,
    put_first,
    too_many_abandoned,
)

_GRACE, _TURNS = 0.002, 9
"""A cancelled call has so many seconds to end in, and then so many turns of the loop."""

_Call: TypeAlias = asyncio.Future[None]


@dataclass(slots=True, eq=False)
class _Entry:
    """A record or a fence that was admitted."""

    element: Stored
    call: _Call | None = None
    reply: Reply = field(default_factory=Reply)
    began: float = math.inf
    deadline: float = math.inf
    timer: asyncio.TimerHandle | None = None
    is_late: bool = False
    outputs: deque[Element] | None = None


class RunsOnCallbacks(AsyncioShell):
    """Does everything in callbacks of futures and timers, and looks each time what may go on."""

    lacks = ("retry", "failure-handler", "max-held", "key-ordered", "contexts")

    async def _start(self) -> None:
        await super()._start()
        self._inside: dict[_Entry, None] = {}  # a set that keeps its order
        self._begun: _Entry | None = None  # handed out in part
        self._ahead: deque[Element] = deque()
        self._running: dict[_Call, _Entry] = {}
        self._abandoned_running: set[_Call] = set()
        self._news: asyncio.Future[None] | None = None  # the consumer waits for it
        self._wanted: asyncio.Future[None] | None = None  # the reader waits for it
        self._source_end: tuple[BaseException | None] | None = None
        self._is_closing = False
        self._reader = self._loop.create_task(self._read())

    def _finish(self, error: BaseException | None) -> None:
        if self._end is not None:
            return
        self._end = (error,)
        _wake(self._news)
        if not self._is_closing:
            self._reader.cancel()
        for call, entry in self._running.items():
            _stop(entry)
            if not entry.is_late:  # else it was cancelled at its deadline
                call.cancel()

    async def _leave(self) -> None:
        await self._undisturbed(self._clean_up())

    async def _clean_up(self) -> None:
        running: set[asyncio.Future[Any]] = {self._reader, *self._running}
        await asyncio.wait(running)
        await self._close()

    # From the source

    async def _read(self) -> None:
        try:
            self._advance()
            self._source_end = (await self._source.read(self._take_in, self._is_cancelled),)
            self._advance()
        finally:
            self._is_closing = True
            await self._source.close()

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
        _wake(self._news)

    def _admit(self, entry: _Entry) -> None:
        self._inside[entry] = None
        if not isinstance(entry.element, Record):
            entry.outputs = deque([entry.element])
            return
        self._most = max(self._most, len(self._records()))
        if self._parts.call is not None:
            call: _Call = self._loop.create_task(self._call(entry, entry.element))
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
        self._calls += 1
        entry.began = self._loop.time()
        if self._config.timeout is not None:
            entry.deadline = entry.began + self._config.timeout
            entry.timer = self._loop.call_at(entry.deadline, self._on_deadline, entry)

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

    def _on_answer(self, call: _Call) -> None:
        entry = self._running.pop(call)
        self._abandoned_running.discard(call)
        _stop(entry)
        if call.cancelled() or call.exception() is not None:
            return  # a call that raised has a reply that raises; this was for the whole program
        if entry.outputs is None and self._end is None:
            if entry.reply.came_by(entry.deadline):
                self._decide(entry, lambda record: outputs_of(record, entry.reply.answer))
            else:
                self._expire(entry)

    def _on_deadline(self, entry: _Entry) -> None:
        if entry.call is None or entry.reply.came_by(entry.deadline):
            return  # making it has ended the program; or the loop was busy, and it has answered
        entry.is_late = True
        entry.call.cancel()
        entry.timer = self._loop.call_later(_GRACE, self._look, entry.call, _TURNS)
        self._expire(entry)

    def _expire(self, entry: _Entry) -> None:
        self._timeouts += 1
        self._decide(entry, lambda r: outputs_at_deadline(r, self._parts, self._config))

    def _decide(self, entry: _Entry, outputs: Callable[[Record], Iterable[Element]]) -> None:
        assert isinstance(entry.element, Record)
        try:
            entry.outputs = deque(outputs(entry.element))
        except OperatorError as error:
            self._finish(error)
        else:
            self._note_held()
            self._advance()

    def _look(self, call: _Call, turns: int) -> None:
        """Look at a cancelled call that had its time; it is abandoned if it runs on."""
        if call.done() or self._end is not None:
            return
        if turns:
            self._loop.call_soon(self._look, call, turns - 1)
            return
        self._abandoned += 1
        self._abandoned_running.add(call)
        running = len(self._abandoned_running)
        if running > self._config.capacity:
            self._finish(too_many_abandoned(running, self._config.capacity))

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
        assert entry.outputs
        element = entry.outputs.popleft()
        self._begun = entry if entry.outputs else None
        if not entry.outputs:
            del self._inside[entry]
        return element

    def request_snapshot(self, checkpoint_id: int) -> None:
        """Put a Snapshot out as the next output; nothing after the end."""
        if self._end is None:
            held = (*self._held(), *self._backlog)
            put_first(self._ahead, Snapshot(checkpoint_id, held, self._source.taken))
            _wake(self._news)

    def _held(self) -> tuple[Stored, ...]:
        return tuple(entry.element for entry in self._inside if entry is not self._begun)

    def _records(self) -> list[bool]:
        records = [entry for entry in self._inside if isinstance(entry.element, Record)]
        return [entry.outputs is not None for entry in records]

    def _oldest(self) -> float:
        now = self._loop.time()
        return max((max(0.0, now - entry.began) for entry in self._inside), default=0.0)


def _wake(future: "asyncio.Future[None] | None") -> None:
    if future is not None and not future.done():
        future.set_result(None)


def _stop(entry: _Entry) -> None:
    if entry.timer is not None:
        entry.timer.cancel()
