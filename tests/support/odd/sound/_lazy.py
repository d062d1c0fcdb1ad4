"""Nothing but the calls runs by itself: the consumer's own wait reads and admits."""

import asyncio
from collections import deque

from asyncwait.spec import Element, Record
from asyncwait.spec.snapshots import Stored
from odd.sound._asyncio_shell import Called, TimingShell
from odd.sound._contract import passed_on


class WorksOnlyWhenAsked(TimingShell):
    """Admits and puts out in the wait of the consumer; else only calls run, and are decided."""

    grace, turns = 0.005, 9

    async def _start(self) -> None:
        self._inside: list[Called] = []
        self._news, self._wanted = asyncio.Event(), asyncio.Event()
        await super()._start()

    def _tell(self) -> None:
        self._news.set()

    async def _may_begin(self) -> None:
        await self._wanted.wait()

    async def _take_in(self, element: Element) -> None:
        if isinstance(element, Stored):
            self._backlog.append(element)
        else:
            self._ahead.append(passed_on(element, self._held()))
        self._tell()
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
        answered: list[Called] = []
        for call, entry in ended.items():
            del self._running[call]
            self._abandoned_now.discard(call)
            entry.stop()
            if not entry.is_late and not call.cancelled() and call.exception() is None:
                answered.append(entry)
        for entry in sorted(answered, key=lambda entry: entry.reply.at):
            if self._end is not None:
                return
            if entry.reply.came_by(entry.deadline):
                self._answered(entry)
            else:
                self._expire(entry)

    def _admit_backlog(self) -> None:
        while self._backlog and len(self._inside) < self._config.capacity:
            entry = Called(self._backlog.popleft())
            self._inside.append(entry)
            if isinstance(entry.element, Record):
                self._most = max(self._most, len(self._records()))
                entry.call = call = self._loop.create_task(self._call(entry, entry.element))
                self._running[call] = entry
                call.add_done_callback(self._on_ended)
            else:
                entry.outputs = deque([entry.element])
                self._tell()

    def _next(self) -> Element | None:
        if self._begun is None and self._ahead:
            return self._ahead.popleft()
        entry = self._begun or self._next_entry()
        if entry is None:
            return None
        element = self._part_of(entry)
        self._begun = entry if entry.outputs else None
        if not entry.outputs:
            self._inside.remove(entry)
        return element

    def _next_entry(self) -> Called | None:
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

    async def _call(self, entry: Called, record: Record) -> None:
        self._set_timer(entry, self._loop.time())
        await self._answer(record, entry.reply)

    def _on_ended(self, _: "asyncio.Task[None]") -> None:
        self._catch_up()  # What a call has given may change as soon as it is over (RES-9).
        self._tell()

    def _on_deadline(self, entry: Called) -> None:
        self._catch_up()
        call = entry.call
        if call is None or call not in self._running or self._end is not None:
            return
        if entry.reply.came_by(entry.deadline):
            return  # the loop was busy, and now the answer is on its way
        self._cancel(entry, call)
        self._tell()
