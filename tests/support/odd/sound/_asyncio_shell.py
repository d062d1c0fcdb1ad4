"""What operators in plain asyncio share: how they await calls, and how they outlast a cancel."""

import asyncio
from abc import abstractmethod
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from asyncwait.spec import Record
from asyncwait.toolkit import awaitable_of, reraise_fatal
from odd.sound._contract import Answer, Entry, Handle, Reply
from odd.sound._shell import Shell


class AsyncioShell(Shell):
    """An operator in plain asyncio."""

    async def _start(self) -> None:
        self._loop = asyncio.get_running_loop()

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
        await asyncio.wait(self._working())
        await self._close()

    @abstractmethod
    def _working(self) -> "set[asyncio.Future[Any]]":
        """Return all that has to end before everything is closed."""

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


@dataclass(slots=True, eq=False)
class Called(Entry):
    """A record or a fence that was admitted, and its call."""

    call: "asyncio.Future[None] | None" = None
    timer: asyncio.TimerHandle | None = None
    is_late: bool = False

    def stop(self) -> None:
        """Have nothing happen at its time."""
        if self.timer is not None:
            self.timer.cancel()


class TimingShell(AsyncioShell):
    """An operator in which the loop's timers tell of deadlines, and look at cancelled calls.

    Attributes:
        grace: seconds that a cancelled call has to end in.
        turns: of the loop that it has then.
    """

    grace: float
    turns: int

    async def _start(self) -> None:
        await super()._start()
        self._begun: Any = None  # handed out in part
        self._running: dict[asyncio.Future[None], Any] = {}
        self._abandoned_now: set[asyncio.Future[None]] = set()
        self._reader = self._loop.create_task(self._source.run())

    def _finish(self, error: BaseException | None) -> None:
        if self._end is not None:
            return
        self._end = (error,)
        self._tell()
        self._source.stop()
        for call, entry in self._running.items():
            entry.stop()
            if not entry.is_late:  # else it was cancelled at its deadline
                call.cancel()

    def _working(self) -> "set[asyncio.Future[Any]]":
        return {self._reader, *self._running}

    def _set_timer(self, entry: Called, now: float) -> None:
        """Note that the call of `entry` has begun."""
        self._calls += 1
        if self._config.timeout is not None:
            entry.deadline = now + self._config.timeout
            entry.timer = self._loop.call_at(entry.deadline, self._on_deadline, entry)

    @abstractmethod
    def _on_deadline(self, entry: Called) -> None:
        """Decide what is late."""

    def _cancel(self, entry: Called, call: "asyncio.Future[None]") -> None:
        entry.is_late = True
        call.cancel()
        entry.timer = self._loop.call_later(self.grace, self._look, call, self.turns)
        self._expire(entry)

    def _look(self, call: "asyncio.Future[None]", turns: int) -> None:
        """Look at a cancelled call that had its time; it is abandoned if it runs on."""
        if call.done() or self._end is not None:
            return
        if turns:
            self._loop.call_soon(self._look, call, turns - 1)
            return
        self._abandoned_now.add(call)
        self._abandon(len(self._abandoned_now))
