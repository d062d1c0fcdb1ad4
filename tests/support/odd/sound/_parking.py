"""One parking lot: each record has a task that parks until it may be called, then for its turn."""

import math
from collections import deque
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import trio

from asyncwait.spec import Element, OperatorError, Record
from asyncwait.spec.snapshots import Stored
from asyncwait.toolkit import awaitable_of, plain_error, reraise_fatal
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

_GRACE, _TURNS = 0.015, 8
"""A cancelled call has so many seconds to end in, and then so many turns of the loop."""

_INTERRUPTED = RuntimeError("the operator was cancelled from outside")


@dataclass(slots=True, eq=False)
class _Entry(Entry):
    """A record or a fence that was admitted."""

    before: "_Entry | None" = None  # the record that was admitted before
    is_called: bool = False
    is_over: bool = False  # its call


class ParksEachRecord(Shell):
    """Has a task for each record, which parks with all others until it may take its next step.

    Its tasks live in a nursery inside a nursery: cancelling the inner one leaves the consumer be.
    """

    async def _start(self) -> None:
        self._lot = trio.lowlevel.ParkingLot()
        self._inside: dict[_Entry, None] = {}  # a set that keeps its order
        self._offered: deque[_Entry] = deque()
        self._last: _Entry | None = None
        self._abandoned_now = 0
        self._now = trio.lowlevel.current_clock().current_time
        self._door = trio.lowlevel.current_trio_token().run_sync_soon
        self._scope = trio.CancelScope()
        self._manager = trio.open_nursery()
        self._outer = await self._manager.__aenter__()
        self._outer.start_soon(self._run)

    async def _run(self) -> None:
        try:
            with self._scope:
                async with trio.open_nursery() as self._nursery:
                    self._nursery.start_soon(self._heed)
                    self._nursery.start_soon(self._read)
        except BaseException:
            # So that a consumer that shields itself does not wait for ever.
            self._finish(_INTERRUPTED)
            raise

    async def __anext__(self) -> Element:
        try:
            return await super().__anext__()
        except RuntimeError as error:
            if error is _INTERRUPTED:
                # The cancellation of the consumer comes first: mostly it has the same reason.
                await trio.lowlevel.checkpoint_if_cancelled()
            raise

    async def _heed(self) -> None:
        """Let nothing more out as soon as a task ends the others, which may clean up for long."""
        try:
            await trio.sleep_forever()
        finally:
            self._finish(_INTERRUPTED)

    def _finish(self, error: BaseException | None) -> None:
        self._end = self._end or (error,)
        self._scope.cancel()
        self._tell()

    async def _leave(self) -> None:
        self._outer.cancel_scope.shield = True
        if self._end == (_INTERRUPTED,):
            self._end = (None,)  # whoever reads on after leaving finds nothing, as ever
        try:
            await self._manager.__aexit__(None, None, None)
        except BaseExceptionGroup as group:
            raise plain_error(group) from None
        finally:
            await self._undisturbed(self._close())

    def _tell(self) -> None:
        self._lot.unpark_all()

    async def _until(self, condition: Callable[[], object]) -> None:
        """Park until `condition` is true; whoever changes something has all look again."""
        while not condition():
            await self._lot.park()

    # From the source

    async def _read(self) -> None:
        # A scope of the source's own may be open when it is closed: the shield has to be outside.
        with trio.CancelScope() as guard:
            try:
                await self._admit_backlog()
                self._source_end = (await self._source.read(self._take_in, self._is_cancelled),)
                self._tell()
            finally:
                guard.shield = True
                await self._source.close()

    async def _take_in(self, element: Element) -> None:
        if isinstance(element, Stored):
            self._backlog.append(element)
            await self._admit_backlog()
            await self._until(self._has_room)  # nothing is read that would have to wait
        else:
            self._ahead.append(passed_on(element, self._held()))
            self._tell()
            await self._until(lambda: len(self._ahead) <= self._config.capacity)

    async def _admit_backlog(self) -> None:
        while self._backlog:
            await self._until(self._has_room)
            element = self._backlog.popleft()
            entry = _Entry(element, before=self._last)
            if isinstance(element, Record):
                self._last = entry
            self._inside[entry] = None
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
        scope.cancel()
        self._nursery.start_soon(self._judge, entry)
        return outputs_at_deadline(element, self._parts, self._config)

    async def _call(self, entry: _Entry, record: Record, scope: trio.CancelScope) -> None:
        entry.is_called = True
        if self._config.timeout is not None:
            entry.deadline = self._now() + self._config.timeout
        self._tell()
        with scope:
            await self._answer(record, entry.reply)
        entry.is_over = True
        self._tell()

    async def _answer(self, record: Record, reply: Reply) -> None:
        """Call the function in either form, and wait until there is an answer in `reply`."""
        try:
            if self._parts.call is None:
                await self._late_answer(record, reply)
                return
            returned = await awaitable_of(record, self._parts.call(record.value))
        except BaseException as error:
            reraise_fatal(error)
            if isinstance(error, trio.Cancelled):
                raise
            reply.fail(self._now(), error)
        else:
            reply.give(self._now(), lambda: returned)

    async def _late_answer(self, record: Record, reply: Reply) -> None:
        assert self._parts.invoke is not None
        answered = trio.Event()

        def put(answer: Answer) -> None:
            if reply.give(self._now(), answer):
                with suppress(RuntimeError):  # the loop is closed, and the operator long gone
                    self._door(answered.set)

        self._parts.invoke(record.value, Handle(put))
        await answered.wait()

    def _is_cancelled(self, error: BaseException) -> bool:
        return isinstance(error, trio.Cancelled)

    async def _judge(self, entry: _Entry) -> None:
        """See whether a cancelled call ends; one that runs on is abandoned."""
        with trio.move_on_after(_GRACE):
            await self._until(lambda: entry.is_over)
        for _ in range(_TURNS):
            await trio.lowlevel.checkpoint()
        if entry.is_over:
            return
        self._abandoned_now += 1
        self._abandon(self._abandoned_now)
        await self._until(lambda: entry.is_over)
        self._abandoned_now -= 1

    async def _undisturbed(self, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` to its end, however the present task is cancelled."""
        with trio.CancelScope(shield=True):
            await work

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
