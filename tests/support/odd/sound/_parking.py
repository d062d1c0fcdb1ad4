"""One parking lot: each record has a task that parks until it may be called, then for its turn."""

import math
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import takewhile

import trio

from asyncwait.spec import Element, OperatorError, Record
from asyncwait.spec.snapshots import Stored
from odd.sound._contract import Entry, outputs_at_deadline, outputs_of, passed_on
from odd.sound._trio_shell import TrioShell


@dataclass(slots=True, eq=False)
class _Entry(Entry):
    """A record or a fence that was admitted."""

    before: "_Entry | None" = None  # the record that was admitted before
    is_called: bool = False
    is_over: bool = False  # its call


class ParksEachRecord(TrioShell):
    """Has a task for each record, which parks with all others until it may take its next step."""

    grace, turns = 0.015, 8

    async def _start(self) -> None:
        self._lot = trio.lowlevel.ParkingLot()
        self._inside: dict[_Entry, None] = {}  # a set that keeps its order
        self._offered: deque[_Entry] = deque()
        self._last: _Entry | None = None
        await super()._start()

    def _work(self) -> None:
        self._nursery.start_soon(self._source.run)

    def _finish(self, error: BaseException | None) -> None:
        super()._finish(error)
        self._tell()

    def _tell(self) -> None:
        self._lot.unpark_all()

    async def _until(self, condition: Callable[[], object]) -> None:
        """Park until `condition` is true; whoever changes something has all look again."""
        while not condition():
            await self._lot.park()

    # From the source

    async def _take_in(self, element: Element) -> None:
        if isinstance(element, Stored):
            self._backlog.append(element)
            await self._may_begin()
            await self._until(self._has_room)  # nothing is read that would have to wait
        else:
            self._ahead.append(passed_on(element, self._held()))
            self._tell()
            await self._until(lambda: len(self._ahead) <= self._config.capacity)

    async def _may_begin(self) -> None:
        while self._backlog:
            await self._until(self._has_room)
            element = self._backlog.popleft()
            entry = _Entry(element, before=self._last)
            if isinstance(element, Record):
                self._last = entry
            self._inside[entry] = None
            self._most = max(self._most, len(self._records()))
            self._nursery.start_soon(self._live, entry)

    def _has_room(self) -> bool:
        return len(self._inside) < self._config.capacity

    # A record or a fence

    async def _live(self, entry: _Entry) -> None:
        try:
            entry.outputs = deque(await self._outputs(entry, entry.element))
        except OperatorError as error:
            self._finish(error)
            return
        await self._until(lambda: self._is_its_turn(entry))
        if entry.outputs:
            self._offered.append(entry)
            self._tell()
            await self._until(lambda: not entry.outputs)
        del self._inside[entry]
        self._tell()

    def _before(self, entry: _Entry) -> Iterable[_Entry]:
        return takewhile(lambda other: other is not entry, self._inside)

    def _is_its_turn(self, entry: _Entry) -> bool:
        if self._config.mode == "ordered" or not isinstance(entry.element, Record):
            return next(iter(self._inside)) is entry
        return all(isinstance(other.element, Record) for other in self._before(entry))

    async def _outputs(self, entry: _Entry, element: Stored) -> tuple[Element, ...]:
        if not isinstance(element, Record):
            return (element,)
        await self._until(lambda: entry.before is None or entry.before.is_called)
        entry.before = None
        scope = trio.CancelScope()
        self._nursery.start_soon(self._call, entry, element, scope)
        await self._until(lambda: entry.is_called)
        with trio.move_on_at(entry.deadline):
            await self._until(lambda: entry.reply.came_by(math.inf))
        if entry.reply.came_by(entry.deadline):
            return outputs_of(element, entry.reply.answer)
        self._timeouts += 1
        scope.cancel()
        over = partial(self._until, lambda: entry.is_over)
        self._nursery.start_soon(self._judge, over, lambda: entry.is_over)
        return outputs_at_deadline(element, self._parts, self._config)

    async def _call(self, entry: _Entry, record: Record, scope: trio.CancelScope) -> None:
        self._calls += 1
        entry.is_called = True
        if self._config.timeout is not None:
            entry.deadline = self._now() + self._config.timeout
        self._tell()
        with scope:
            await self._answer(record, entry.reply)
        entry.is_over = True
        self._tell()

    # To the consumer

    async def _take(self) -> Element:
        while self._end is None:
            if (element := self._next()) is not None:
                self._tell()
                return element
            if self._source_end is not None and not self._inside:
                self._finish(*self._source_end)
            else:
                await self._lot.park()
        raise self._final()

    def _next(self) -> Element | None:
        if self._ahead and not (self._offered and self._offered[0].is_begun):
            return self._ahead.popleft()
        if not self._offered:
            return None
        entry = self._offered[0]
        element = self._part_of(entry)
        if not entry.outputs:
            self._offered.popleft()
        return element
