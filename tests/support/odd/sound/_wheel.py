"""A timer wheel of whole milliseconds, and one condition that everybody waits for."""

import asyncio
import math
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from typing import Any

from asyncwait.spec import Element, Record, Snapshot
from asyncwait.spec.snapshots import Stored
from odd.sound._asyncio_shell import AsyncioShell
from odd.sound._contract import Entry, passed_on

_GRACE, _TURNS = 0.001, 8
"""A cancelled call has so many seconds to end in, and then so many turns of the loop."""

_SLOTS = 64
_ROUNDING = 1e-6
"""What the clock's arithmetic may add to a time, in ms: less than this is no tick more."""


@dataclass(slots=True, eq=False)
class _Entry(Entry):
    """A record or a fence that was admitted."""

    tick: int = 0


class _Wheel:
    """A ring of slots; what is due is in the slot of its millisecond, rounded up."""

    def __init__(self) -> None:
        self._slots: list[dict[_Entry, int]] = [{} for _ in range(_SLOTS)]

    def put(self, entry: _Entry, when: float) -> None:
        """Have `entry` come up in the first tick at or after `when`, in seconds, and not before."""
        self.remove(entry)
        if math.isfinite(when * 1000):
            entry.tick = math.ceil(when * 1000 - _ROUNDING)
            self._slots[entry.tick % _SLOTS][entry] = entry.tick

    def remove(self, entry: _Entry) -> None:
        """Have `entry` not come up."""
        self._slots[entry.tick % _SLOTS].pop(entry, None)

    def first(self) -> float:
        """Return the first tick for which there is something; infinity if there is nothing."""
        return min((tick for slot in self._slots for tick in slot.values()), default=math.inf)

    def take(self, tick: float) -> list[_Entry]:
        """Take off what is due in `tick`, and before."""
        due = [entry for slot in self._slots for entry in slot if slot[entry] <= tick]
        for entry in due:
            self.remove(entry)
        return sorted(due, key=lambda entry: entry.tick)


class RoundsDeadlinesToTicks(AsyncioShell):
    """Keeps deadlines on a wheel of whole milliseconds, and has everybody wait for any change."""

    async def _start(self) -> None:
        await super()._start()
        self._wheel = _Wheel()
        self._changed = asyncio.Event()
        self._inside: dict[_Entry, None] = {}  # a set that keeps its order
        self._ready: list[_Entry] = []
        self._begun: _Entry | None = None
        self._requested: deque[Callable[[], Element]] = deque()  # made when it is taken
        self._overtaking: deque[Callable[[], Element]] = deque()  # the same
        self._running: dict[_Entry, asyncio.Task[None]] = {}
        self._late: set[_Entry] = set()
        self._abandoned_now: set[_Entry] = set()
        self._is_closing = False
        self._reader = self._loop.create_task(self._read())
        self._turner = self._loop.create_task(self._turn_wheel())

    # The condition

    def _change(self) -> None:
        """Have everybody look at what they wait for."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            await self._changed.wait()

    def _finish(self, error: BaseException | None) -> None:
        if self._end is not None:
            return
        self._end = (error,)
        self._turner.cancel()
        if not self._is_closing:
            self._reader.cancel()
        for entry, task in self._running.items():
            if entry not in self._late:  # else it was cancelled at its deadline
                task.cancel()
        self._change()

    def _working(self) -> "set[asyncio.Future[Any]]":
        return {self._reader, self._turner, *self._running.values()}

    # From the source

    async def _read(self) -> None:
        try:
            await self._admit_backlog()
            self._source_end = (await self._source.read(self._take_in, self._is_cancelled),)
            self._change()
        finally:
            self._is_closing = True
            await self._source.close()

    async def _take_in(self, element: Element) -> None:
        if isinstance(element, Stored):
            self._backlog.append(element)
            await self._admit_backlog()
        else:
            before = list(self._inside)
            self._overtaking.append(lambda: passed_on(element, self._still(before)))
            self._change()
            await self._until(lambda: len(self._overtaking) <= self._config.capacity)

    async def _admit_backlog(self) -> None:
        while self._backlog:
            await self._until(self._has_room)
            entry = _Entry(self._backlog.popleft())
            self._inside[entry] = None
            if isinstance(entry.element, Record):
                self._most = max(self._most, len(self._records()))
                task = self._loop.create_task(self._call(entry, entry.element))
                self._running[entry] = task
                task.add_done_callback(partial(self._on_call_ended, entry))
            else:
                entry.outputs = deque([entry.element])
                self._ready.append(entry)
                self._change()

    # Calls

    async def _call(self, entry: _Entry, record: Record) -> None:
        self._calls += 1
        if self._config.timeout is not None:
            entry.deadline = self._loop.time() + self._config.timeout
            self._wheel.put(entry, entry.deadline)
            self._change()
        await self._answer(record, entry.reply)
        if entry.outputs is None and self._end is None:
            if entry.reply.came_by(entry.deadline + _ROUNDING / 1000):
                self._answered(entry)
            else:
                self._expire(entry)

    def _on_call_ended(self, entry: _Entry, _: object) -> None:
        del self._running[entry]
        self._wheel.remove(entry)
        self._abandoned_now.discard(entry)

    async def _turn_wheel(self) -> None:
        """Wait for the first tick for which there is something, be it another one meanwhile."""
        while self._end is None:  # who is cancelled as its time is over may not hear of it
            tick = self._wheel.first()
            try:
                async with asyncio.timeout_at(None if tick == math.inf else tick / 1000):
                    await self._until(partial(self._begins_with_another, tick))
            except TimeoutError:
                await self._come_up(self._wheel.take(tick))

    async def _come_up(self, due: list[_Entry]) -> None:
        """Decide what is due, or abandon it, the latest first.

        Each has some turns of the loop: what ends by itself in this instant has done so by then.
        """
        for entry in reversed(due):
            for _ in range(_TURNS):
                await asyncio.sleep(0)
            if entry not in self._running or self._end is not None:
                continue
            if entry in self._late:
                self._abandoned_now.add(entry)
                self._abandon(len(self._abandoned_now))
            elif entry.outputs is None and not entry.reply.came_by(entry.deadline):
                self._late.add(entry)
                self._expire(entry)
                self._running[entry].cancel()
                self._wheel.put(entry, self._loop.time() + _GRACE)

    def _begins_with_another(self, tick: float) -> bool:
        return self._wheel.first() != tick

    def _decide(self, entry: Entry, outputs: Callable[[Record], Iterable[Element]]) -> None:
        assert isinstance(entry, _Entry)
        self._wheel.remove(entry)
        super()._decide(entry, outputs)

    def _decided(self, entry: Entry) -> None:
        assert isinstance(entry, _Entry)
        self._ready.append(entry)
        self._change()

    # To the consumer

    async def _take(self) -> Element:
        while self._end is None:
            if (element := self._next()) is not None:
                return element
            if self._source_end is not None and not self._inside:
                self._finish(*self._source_end)
            else:
                await self._changed.wait()
        raise self._final()

    def _next(self) -> Element | None:
        """Take the rest of a record, what overtakes, or of what is decided rather the latest."""
        if self._begun is None and (ahead := self._requested or self._overtaking):
            self._change()
            return ahead.popleft()()
        self._let_silent_go()
        ready = (entry for entry in reversed(self._ready) if self._is_its_turn(entry))
        entry = self._begun or next(ready, None)
        if entry is None:
            return None
        element = self._part_of(entry)
        self._begun = entry if entry.outputs else None
        if not entry.outputs:
            self._let_go(entry)
        return element

    def _is_its_turn(self, entry: _Entry) -> bool:
        """Whether nothing is before `entry` that it must not cross."""
        before = takewhile(lambda other: other is not entry, self._inside)
        if self._config.mode == "ordered" or not isinstance(entry.element, Record):
            return next(before, None) is None
        return all(isinstance(other.element, Record) for other in before)

    def _has_room(self) -> bool:
        self._let_silent_go()
        return len(self._inside) < self._config.capacity

    def _let_silent_go(self) -> None:
        """Let go what has no results; in ordered mode one may make it the turn of the next."""
        for entry in list(self._inside):
            if entry.outputs is not None and not entry.outputs and self._is_its_turn(entry):
                self._let_go(entry)

    def _let_go(self, entry: _Entry) -> None:
        del self._inside[entry]
        self._ready.remove(entry)
        self._change()

    def request_snapshot(self, checkpoint_id: int) -> None:
        """Put a Snapshot out as the next output; nothing after the end."""
        if self._end is None:
            self._requested.append(lambda: self._snapshot(checkpoint_id))
            self._change()

    def _snapshot(self, checkpoint_id: int) -> Snapshot:
        held = (*self._still(self._inside), *self._backlog)
        return Snapshot(checkpoint_id, held, self._source.taken)

    def _still(self, entries: Iterable[_Entry]) -> tuple[Stored, ...]:
        return tuple(entry.element for entry in entries if entry in self._inside)
