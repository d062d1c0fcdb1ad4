"""END: operators that end wrongly, or not at all."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from types import TracebackType
from typing import Any

import anyio
import anyio.lowlevel

from asyncwait.backends.faulty._gallery import Faulty
from asyncwait.reference import Entry, Operator, Output, SourceReader, TimerService
from asyncwait.spec import Element, Record


class EndOvertakesWhatIsInFlight(Operator):
    """The end of input ends the output, although calls are still running: FLINK-13491."""

    async def _drain(self) -> None:
        pass


class EndDoesNotWake(Output):
    """A consumer that waits already is not told that the stream has ended."""

    def finish(self, error: BaseException | None) -> None:
        news, self._news = self._news, None
        super().finish(error)
        self._news = news


class LeavingDoesNotWait(Operator):
    """Calls are tasks of the loop: they are cancelled, and nobody waits for them."""

    def _spawn(self, function: Callable[..., Coroutine[Any, Any, Any]], *args: Any) -> None:
        task = asyncio.get_running_loop().create_task(function(*args))
        self._loose = [*getattr(self, "_loose", ()), task]

    def _stop(self) -> None:
        super()._stop()
        for task in self._loose:
            task.cancel()


class TimersStay(TimerService):
    """Leaving forgets the timers, and the loop keeps them until their time: FLINK-5652."""

    def close(self) -> None:
        pass


class SourceStaysOpen(SourceReader):
    """The source is left as it is, for the garbage collector to find."""

    async def close(self) -> None:
        pass


class ClosesBeforeCallsHaveEnded(Operator):
    """Leaving runs `close` first and cancels the calls then: much like FLINK-12507."""

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await super()._close()
        await super().__aexit__(kind, error, traceback)

    async def _close(self) -> None:
        pass


class OpensWithTheFirstCall(Operator):
    """`open` runs when there is something to call, `close` in any case."""

    async def _open(self) -> None:
        pass

    async def _process_record(self, record: Record) -> None:
        if not self._calls.started:
            await super()._open()
        await super()._process_record(record)


class EndComesOnce(Output):
    """After its end the stream is closed, and reading from it is an error."""

    def _raise_end(self) -> None:
        if self._told and self._error is None:
            raise anyio.ClosedResourceError
        super()._raise_end()


class TakingDoesNotWake(Operator):
    """An element is taken, and whoever waits for that is not told, be it a record or the end."""

    def _on_taken(self, entry: Entry) -> None:
        self._free_slot(entry)


class WaitsForRoomByTurning(Operator):
    """Room is waited for in a busy loop, which lets nothing else happen in between."""

    async def _wait_for_room(self) -> None:
        while not self._has_room():
            await anyio.lowlevel.checkpoint()


class WaitsForRoomByBlocking(Operator):
    """Room is waited for as threads do it, and what would make room stands still meanwhile."""

    async def _wait_for_room(self) -> None:
        while not self._has_room():
            time.sleep(0.01)  # noqa: ASYNC251 - it blocks, that is the point


class GivenUpWaitGetsItsElement(Output):
    """A wait that was given up still gets the next element, and takes it along: FLINK-5638."""

    _given_up = 0

    async def _wait_for_news(self) -> None:
        self._given_up += 1
        await super()._wait_for_news()
        self._given_up -= 1

    def _next(self) -> Element | None:
        while self._given_up and super()._next() is not None:
            self._given_up -= 1
        return super()._next()


class LeavingReadsToTheEnd(Operator):
    """Leaving reads on for a second, so that what was begun can finish; new calls begin, too."""

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with anyio.move_on_after(1, shield=True), suppress(StopAsyncIteration, Exception):
            while True:
                await self._output.take()
        await super().__aexit__(kind, error, traceback)


FAULTY: tuple[Faulty, ...] = (
    Faulty(EndOvertakesWhatIsInFlight, rule="END-1"),
    Faulty(EndDoesNotWake, rule="END-2"),
    Faulty(LeavingDoesNotWait, rule="END-3"),
    Faulty(TimersStay, rule="END-4"),
    Faulty(SourceStaysOpen, rule="END-5"),
    Faulty(ClosesBeforeCallsHaveEnded, rule="END-6"),
    Faulty(OpensWithTheFirstCall, rule="END-6"),
    Faulty(EndComesOnce, rule="END-7"),
    Faulty(TakingDoesNotWake, rule="END-8"),
    Faulty(WaitsForRoomByTurning, rule="END-8"),
    Faulty(WaitsForRoomByBlocking, rule="END-8", blocks=True),
    Faulty(GivenUpWaitGetsItsElement, rule="END-9"),
    Faulty(LeavingReadsToTheEnd, rule="END-10"),
)
