"""A line of memory channels: what is decided comes out of the first until that is closed."""

import math
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

import trio

from asyncwait.spec import Element, OperatorError, Record, Snapshot
from asyncwait.spec.snapshots import Stored
from odd.sound._contract import Entry, outputs_at_deadline, outputs_of, passed_on
from odd.sound._trio_shell import TrioShell

_Decided: TypeAlias = "trio.MemorySendChannel[_Entry]"
"""Where a record goes when it is decided; its turn is over when that is closed."""


@dataclass(slots=True, eq=False)
class _Entry(Entry):
    """A record or a fence that was admitted."""

    call: "_Call | None" = None


class _Call:
    """A call, and a channel that tells of its answer, and is closed when it ends."""

    def __init__(self, entry: _Entry, record: Record) -> None:
        self.record = record
        self.reply = entry.reply
        self.began = self.deadline = math.inf
        self.scope = trio.CancelScope()
        self.given, self.answers = trio.open_memory_channel[None](1)


class SpeaksThroughChannels(TrioShell):
    """Leaves order to memory channels: one for each element or, if unordered, for each segment."""

    lacks = ("retry", "failure-handler", "max-held", "key-ordered", "contexts", "batches", "cache")
    grace, turns = 0.005, 8

    async def _start(self) -> None:
        capacity = self._config.capacity
        self._room = trio.Semaphore(capacity)
        self._line, self._turns = trio.open_memory_channel["trio.MemoryReceiveChannel[_Entry]"](
            math.inf
        )
        self._segment: _Decided | None = None
        self._wake, self._news = trio.open_memory_channel[None](1)
        self._pass, self._passing = trio.open_memory_channel[Element](capacity)
        self._request, self._requested = trio.open_memory_channel[Element](math.inf)
        self._inside: dict[_Entry, None] = {}  # a set that keeps its order
        self._ready: deque[_Entry] = deque()
        self._is_emitted = False
        await super()._start()

    def _work(self) -> None:
        self._nursery.start_soon(self._read)
        self._nursery.start_soon(self._emit)

    def _finish(self, error: BaseException | None) -> None:
        super()._finish(error)
        self._tell()

    def _tell(self) -> None:
        """Have the consumer look again."""
        with suppress(trio.WouldBlock):
            self._wake.send_nowait(None)

    # From the source

    def _input_ended(self) -> None:
        self._end_segment()
        self._line.close()

    async def _take_in(self, element: Element) -> None:
        if isinstance(element, Stored):
            self._backlog.append(element)
            await self._admit_backlog()
        else:
            self._tell()
            await self._pass.send(passed_on(element, self._held()))
            self._tell()

    async def _admit_backlog(self) -> None:
        while self._backlog:
            await self._room.acquire()
            entry = _Entry(self._next_waiting())
            self._inside[entry] = None
            decided = self._join_line(entry.element)
            if isinstance(entry.element, Record):
                self._most = max(self._most, len(self._records()))
                entry.call = call = _Call(entry, entry.element)
                await self._nursery.start(self._make, call)
                self._nursery.start_soon(self._live, entry, call, decided)
            else:
                entry.outputs = deque([entry.element])
                decided.send_nowait(entry)
                decided.close()

    def _join_line(self, element: Stored) -> _Decided:
        """Return the channel for `element`: one of its own, or one more end of its segment's."""
        is_alone = self._config.mode == "ordered" or not isinstance(element, Record)
        if is_alone:
            self._end_segment()
        if self._segment is None:
            self._segment, turn = trio.open_memory_channel[_Entry](math.inf)
            self._line.send_nowait(turn)
        decided = self._segment.clone()
        if is_alone:
            self._end_segment()
        return decided

    def _end_segment(self) -> None:
        if self._segment is not None:
            self._segment.close()
            self._segment = None

    async def _emit(self) -> None:
        async for turn in self._turns:
            async for entry in turn:
                self._ready.append(entry)
                self._let_silent_go()
                self._tell()
        self._is_emitted = True
        self._tell()

    # A record

    async def _make(self, call: _Call, task_status: "trio.TaskStatus[None]") -> None:
        """Make a call; it counts as started when its deadline stands."""
        self._calls += 1
        call.began = self._now()
        if self._config.timeout is not None:
            call.deadline = call.began + self._config.timeout
        task_status.started()
        with call.given, call.scope:
            await self._answer(call.record, call.reply)
            call.given.send_nowait(None)

    async def _live(self, entry: _Entry, call: _Call, decided: _Decided) -> None:
        """Wait for the answer or for the deadline, and see to it that a late call ends."""
        try:
            with trio.move_on_at(call.deadline):
                await call.answers.receive()
        except trio.EndOfChannel:
            return  # It raised what ends the program.
        with decided:
            try:
                entry.outputs = deque(self._outputs(call))
            except OperatorError as error:
                self._finish(error)
                return
            self._note_held()
            decided.send_nowait(entry)
        if call.scope.cancel_called:
            answers = call.answers
            await self._judge(
                lambda: _closed(answers), lambda: not answers.statistics().open_send_channels
            )

    def _outputs(self, call: _Call) -> tuple[Element, ...]:
        if call.reply.came_by(call.deadline):
            return outputs_of(call.record, call.reply.answer)
        self._timeouts += 1
        call.scope.cancel()
        return outputs_at_deadline(call.record, self._parts, self._config)

    # To the consumer

    async def _take(self) -> Element:
        while self._end is None:
            if (element := self._next()) is not None:
                return element
            if self._is_emitted and not self._ready:
                assert self._source_end is not None
                self._finish(*self._source_end)
            else:
                await self._news.receive()
        raise self._final()

    def _next(self) -> Element | None:
        if not (self._ready and self._ready[0].is_begun):
            for channel in (self._requested, self._passing):
                with suppress(trio.WouldBlock):
                    return channel.receive_nowait()
        if not self._ready:
            return None
        element = self._part_of(self._ready[0])
        self._let_silent_go()
        return element

    def _let_silent_go(self) -> None:
        """Let go of the first entries that have nothing to give, or nothing any more."""
        while self._ready and not self._ready[0].outputs:
            del self._inside[self._ready.popleft()]
            self._room.release()

    def _put_first(self, snapshot: Snapshot) -> None:
        self._request.send_nowait(snapshot)
        self._tell()

    def _oldest(self) -> float:
        calls = (entry.call for entry in self._inside if entry.call is not None)
        return max((max(0.0, self._now() - call.began) for call in calls), default=0.0)


async def _closed(answers: "trio.MemoryReceiveChannel[None]") -> None:
    """Wait until nobody can give an answer any more."""
    async for _ in answers:
        pass
