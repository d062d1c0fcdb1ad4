"""Nothing but the calls runs by itself: the consumer's own wait reads and admits."""

import asyncio
import math
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

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

_GRACE, _TURNS = 0.005, 9
"""A cancelled call has so many seconds to end in, and then so many turns of the loop."""


@dataclass(slots=True, eq=False)
class _Entry:
    """A record or a fence that was admitted."""

    element: Stored
    call: "asyncio.Task[None] | None" = None
    reply: Reply = field(default_factory=Reply)
    deadline: float = math.inf
    timer: asyncio.TimerHandle | None = None
    is_late: bool = False
    outputs: deque[Element] | None = None


class WorksOnlyWhenAsked(AsyncioShell):
    """Admits and puts out in the wait of the consumer; else only calls run, and are decided."""

    async def _start(self) -> None:
        await super()._start()
        self._inside: list[_Entry] = []
        self._begun: _Entry | None = None
        self._ahead: deque[Element] = deque()
        self._running: dict[asyncio.Task[None], _Entry] = {}
        self._abandoned_now: set[asyncio.Task[None]] = set()
        self._news, self._wanted = asyncio.Event(), asyncio.Event()
        self._source_end: tuple[BaseException | None] | None = None
        self._is_closing = False
        self._reader = self._loop.create_task(self._read())

    def _finish(self, error: BaseException | None) -> None:
        if self._end is not None:
            return
        self._end = (error,)
        self._news.set()
        if not self._is_closing:
            self._reader.cancel()
        for call, entry in self._running.items():
            _stop(entry)
            if not entry.is_late:  # else it was cancelled at its deadline
                call.cancel()

    async def _leave(self) -> None:
        await self._undisturbed(self._clean_up())

    async def _clean_up(self) -> None:
        tasks: set[asyncio.Task[Any]] = {self._reader, *self._running}
        await asyncio.wait(tasks)
        await self._close()

    async def _read(self) -> None:
        try:
            await self._wanted.wait()
            self._source_end = (await self._source.read(self._take_in, self._is_cancelled),)
            self._news.set()
        finally:
            self._is_closing = True
            await self._source.close()

    async def _take_in(self, element: Element) -> None:
        if isinstance(element, Stored):
            self._backlog.append(element)
        else:
            self._ahead.append(passed_on(element, self._held()))
        self._news.set()
        self._wanted.clear()
        await self._wanted.wait()

    # The consumer's wait

    async def _take(self) -> Element:
        while self._end is None:
            self._news.clear()
            self._catch_up()
            if self._end is not None:
                break
            if (element := self._next()) is not None:
                return element
            self._admit_backlog()
            if not self._backlog and len(self._inside) < self._config.capacity:
                self._wanted.set()
            if self._source_end is not None and not self._inside and not self._backlog:
                self._finish(*self._source_end)
            else:
                await self._news.wait()
        raise self._final()

    def _catch_up(self) -> None:
        """Decide what has been answered meanwhile, in the order in which it was."""
        ended = {call: entry for call, entry in self._running.items() if call.done()}
        answered: list[_Entry] = []
        for call, entry in ended.items():
            del self._running[call]
            self._abandoned_now.discard(call)
            _stop(entry)
            if not entry.is_late and not call.cancelled() and call.exception() is None:
                answered.append(entry)
        for entry in sorted(answered, key=lambda entry: entry.reply.at):
            if entry.reply.came_by(entry.deadline):
                self._decide(entry, partial(outputs_of, answer=entry.reply.answer))
            else:
                self._expire(entry)

    def _admit_backlog(self) -> None:
        while self._backlog and len(self._inside) < self._config.capacity:
            entry = _Entry(self._backlog.popleft())
            self._inside.append(entry)
            if isinstance(entry.element, Record):
                self._most = max(self._most, len(self._records()))
                entry.call = call = self._loop.create_task(self._call(entry, entry.element))
                self._running[call] = entry
                call.add_done_callback(self._on_ended)
            else:
                entry.outputs = deque([entry.element])
                self._news.set()

    def _next(self) -> Element | None:
        if self._begun is None and self._ahead:
            return self._ahead.popleft()
        entry = self._begun or self._next_entry()
        if entry is None:
            return None
        assert entry.outputs
        element = entry.outputs.popleft()
        self._begun = entry if entry.outputs else None
        if not entry.outputs:
            self._inside.remove(entry)
        return element

    def _next_entry(self) -> _Entry | None:
        """Find what may come out, and drop what has nothing to give on the way."""
        place = 0
        while place < len(self._inside):
            entry = self._inside[place]
            is_fence = not isinstance(entry.element, Record)
            if entry.outputs is not None and not (is_fence and place):
                if entry.outputs:
                    return entry
                del self._inside[place]
                continue
            if is_fence or self._config.mode == "ordered":
                return None
            place += 1
        return None

    # Calls

    async def _call(self, entry: _Entry, record: Record) -> None:
        self._calls += 1
        if self._config.timeout is not None:
            entry.deadline = self._loop.time() + self._config.timeout
            entry.timer = self._loop.call_at(entry.deadline, self._on_deadline, entry)
        await self._answer(record, entry.reply)

    def _on_ended(self, _: "asyncio.Task[None]") -> None:
        self._catch_up()  # What a call has given may change as soon as it is over (RES-9).
        self._news.set()

    def _on_deadline(self, entry: _Entry) -> None:
        self._catch_up()
        call = entry.call
        if call not in self._running or self._end is not None:
            return
        if entry.reply.came_by(entry.deadline):
            return  # the loop was busy, and now the answer is on its way
        entry.is_late = True
        call.cancel()
        entry.timer = self._loop.call_later(_GRACE, self._look, call, _TURNS)
        self._expire(entry)
        self._news.set()

    def _look(self, call: "asyncio.Task[None]", turns: int) -> None:
        """Look at a cancelled call that had its time; it is abandoned if it runs on."""
        if call.done() or self._end is not None:
            return
        if turns:
            self._loop.call_soon(self._look, call, turns - 1)
            return
        self._abandoned += 1
        self._abandoned_now.add(call)
        running = len(self._abandoned_now)
        if running > self._config.capacity:
            self._finish(too_many_abandoned(running, self._config.capacity))

    def _expire(self, entry: _Entry) -> None:
        self._timeouts += 1
        self._decide(entry, partial(outputs_at_deadline, parts=self._parts, config=self._config))

    def _decide(self, entry: _Entry, outputs: Callable[[Record], Iterable[Element]]) -> None:
        assert isinstance(entry.element, Record)
        try:
            if self._end is None:
                entry.outputs = deque(outputs(entry.element))
        except OperatorError as error:
            self._finish(error)

    # Snapshots and figures

    def request_snapshot(self, checkpoint_id: int) -> None:
        """Put a Snapshot out as the next output; nothing after the end."""
        if self._end is None:
            held = (*self._held(), *self._backlog)
            put_first(self._ahead, Snapshot(checkpoint_id, held, self._source.taken))
            self._news.set()

    def _held(self) -> tuple[Stored, ...]:
        return tuple(entry.element for entry in self._inside if entry is not self._begun)

    def _records(self) -> list[bool]:
        records = [entry for entry in self._inside if isinstance(entry.element, Record)]
        return [entry.outputs is not None for entry in records]


def _stop(entry: _Entry) -> None:
    if entry.timer is not None:
        entry.timer.cancel()
