"""END: operators that end wrongly, or not at all."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from types import TracebackType
from typing import Any, ClassVar

import anyio
import anyio.lowlevel

from asyncwait.backends.faulty._gallery import Faulty
from asyncwait.reference import End, Entry, Operator, Output, SourceReader, TimerService
from asyncwait.spec import Element, Record


class EndsWithCallsInFlight(Operator):
    """Ends its output when the input ends, although calls are still running: FLINK-13491."""

    async def _drain(self) -> None:
        pass


class EndsWithoutWakingTheConsumer(Output):
    """Ends, and does not tell a consumer that is waiting already."""

    def finish(self, error: BaseException | None) -> None:
        news, self._news = self._news, None
        super().finish(error)
        self._news = news


class LeavesWithoutWaiting(Operator):
    """Runs calls as tasks of the loop, cancels them, and does not wait for them."""

    def _spawn(self, function: Callable[..., Coroutine[Any, Any, Any]], *args: Any) -> None:
        task = asyncio.get_running_loop().create_task(function(*args))
        self._loose = [*getattr(self, "_loose", ()), task]

    def _stop(self) -> None:
        super()._stop()
        for task in self._loose:
            task.cancel()


class LeavesTimersBehind(TimerService):
    """Forgets its timers when it is left, and the loop keeps them, much like FLINK-5652."""

    def close(self) -> None:
        pass


class LeavesTheSourceOpen(SourceReader):
    """Leaves the source as it is, for the garbage collector to find."""

    async def close(self) -> None:
        pass


class ClosesBeforeCallsHaveEnded(Operator):
    """Runs `close` first, and cancels the calls that use what it closes then."""

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
    """Runs `open` when there is something to call, and `close` in any case."""

    async def _open(self) -> None:
        pass

    async def _process_record(self, record: Record) -> None:
        if not self._calls.started:
            await super()._open()
        await super()._process_record(record)


class EndsOnceOnly(Output):
    """Tells its end once; after that, reading is an error, as with a stream that was closed."""

    def _raise_end(self) -> None:
        if self._told and self._error is None:
            raise anyio.ClosedResourceError
        super()._raise_end()


class FreesSlotsInSilence(Operator):
    """Frees a slot, and does not tell whoever waits for that, be it a record or the end."""

    def _on_taken(self, entry: Entry) -> None:
        self._free_slot(entry)


class SpinsWhileThereIsNoRoom(Operator):
    """Waits for room in a busy loop, which lets no mail run that would make room."""

    async def _wait_for_room(self) -> None:
        while not self._has_room():
            await anyio.lowlevel.checkpoint()


class BlocksWhileThereIsNoRoom(Operator):
    """Waits for room as threads do, and what would make room stands still meanwhile."""

    async def _wait_for_room(self) -> None:
        while not self._has_room():
            time.sleep(0.01)  # noqa: ASYNC251 - it blocks, that is the point


class GivesElementsToGivenUpWaits(Output):
    """Gives the next element to a wait that was given up, and loses it, much like FLINK-5638."""

    _given_up = 0

    async def _wait_for_news(self) -> None:
        self._given_up += 1
        await super()._wait_for_news()
        self._given_up -= 1

    def _next(self) -> Element | None:
        while self._given_up and super()._next() is not None:
            self._given_up -= 1
        return super()._next()


class ReadsOnAfterLeaving(Operator):
    """Reads on for a second after leaving, so that calls can finish; new ones begin, too."""

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


class LeavesWhenTheSourceSpeaks(SourceReader):
    """Reads shielded, so that no element is lost, and notices only then that it was left."""

    async def _read_all(self) -> BaseException | None:
        with anyio.CancelScope(shield=True):
            return await super()._read_all()
        raise AssertionError("a shield swallows nothing")


class CallsAlthoughOpenFailed(Operator):
    """Goes on without `open`, which may not have been important."""

    async def _open(self) -> None:
        with suppress(Exception):
            await super()._open()


class SwallowsErrorsOfClosing(Operator):
    """Closes in silence: all results are out, what can there be to say."""

    async def _close(self) -> Exception | None:
        await super()._close()
        self._source.trouble = None
        return None


class LetsTwoTasksWait(Output):
    """Lets a second task wait for the next element; the first is not woken any more."""

    async def take(self) -> Element:
        self._news = None
        return await super().take()


class SharesItsBacklog(Operator):
    """Keeps what waits for room in a queue of its class, one for all operators."""

    _shared: ClassVar[deque[Element]] = deque()

    def _set_up(self) -> None:
        super()._set_up()
        self._backlog = self._shared


class ClosesTheSourceFromOutside(SourceReader):
    """Leaves the closing of the source to the task that leaves the operator."""

    async def run(self) -> None:
        self._on_end(End(await self._read_all()))


class PollsItsSource(SourceReader):
    """Reads with a limit of a tenth of a second, again and again."""

    async def _read_all(self) -> BaseException | None:
        elements = aiter(self._elements)
        while True:
            with anyio.move_on_after(0.1):
                try:
                    await self._hand_over(await anext(elements))
                except StopAsyncIteration:
                    return None


class TellsItsTasksWhatTheBodyRaised(Operator):
    """Leaves its task group as if it were the body, and so wraps what that raised in a group."""

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await super().__aexit__(kind, error, traceback)
        if isinstance(error, Exception):
            raise ExceptionGroup("unhandled errors in a TaskGroup", [error])


FAULTY: tuple[Faulty, ...] = (
    Faulty(EndsWithCallsInFlight, rule="END-1"),
    Faulty(EndsWithoutWakingTheConsumer, rule="END-2"),
    Faulty(LeavesWithoutWaiting, rule="END-3"),
    Faulty(LeavesTimersBehind, rule="END-4"),
    Faulty(LeavesTheSourceOpen, rule="END-5"),
    Faulty(ClosesBeforeCallsHaveEnded, rule="END-6"),
    Faulty(OpensWithTheFirstCall, rule="END-6"),
    Faulty(EndsOnceOnly, rule="END-7"),
    Faulty(FreesSlotsInSilence, rule="END-8"),
    Faulty(SpinsWhileThereIsNoRoom, rule="END-8", blocks=True),
    Faulty(BlocksWhileThereIsNoRoom, rule="END-8", blocks=True),
    Faulty(GivesElementsToGivenUpWaits, rule="END-9"),
    Faulty(ReadsOnAfterLeaving, rule="END-10"),
    Faulty(LeavesWhenTheSourceSpeaks, rule="END-11"),
    Faulty(CallsAlthoughOpenFailed, rule="END-12"),
    Faulty(SwallowsErrorsOfClosing, rule="END-13"),
    Faulty(LetsTwoTasksWait, rule="END-14"),
    Faulty(SharesItsBacklog, rule="END-15"),
    Faulty(ClosesTheSourceFromOutside, rule="END-16"),
    Faulty(PollsItsSource, rule="END-17"),
    Faulty(TellsItsTasksWhatTheBodyRaised, rule="END-18"),
)
