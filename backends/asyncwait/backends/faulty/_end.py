"""END: operators that end wrongly, or not at all."""

import asyncio
import math
import time
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Callable, Coroutine
from contextlib import suppress
from types import TracebackType
from typing import Any, ClassVar, Self

import anyio
import anyio.lowlevel

from asyncwait.backends.faulty._gallery import Faulty
from asyncwait.reference import (
    End,
    Entry,
    Operator,
    Output,
    RecordEntry,
    SourceReader,
    TimerService,
)
from asyncwait.spec import Element, Record, Snapshot, Watermark, WatermarkStatus, close_source


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


class ChecksNothing(Operator):
    """Takes whatever it is opened with, and sees what comes of it."""

    def __init__(
        self, config: Any, fn: Any, elements: Any, restore: Snapshot | None = None
    ) -> None:
        if not isinstance(elements, AsyncIterable):
            elements = _nothing()
        super().__init__(config, fn, elements, restore)


async def _nothing() -> AsyncIterator[Element]:
    return
    yield


class ClosesItsSourceTwice(SourceReader):
    """Closes its source where it has read it, and to be sure again where it leaves."""

    async def close(self) -> None:
        await super().close()
        await close_source(self._elements)


class KeepsCancellationsToItself(Operator):
    """Leaves in good order when it is cancelled, and lets its consumer go on behind it."""

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> Any:
        with suppress(asyncio.CancelledError):
            await super().__aexit__(kind, error, traceback)
        return isinstance(error, asyncio.CancelledError)


class ForgetsShieldedConsumers(Output):
    """Wakes nobody up when it is cancelled from outside: whoever reads is cancelled as well."""

    def interrupt(self) -> None:
        pass


class StopsClosingWhenCancelled(Operator):
    """Closes nothing any more if it is cancelled while it waits for calls to clean up."""

    async def _close(self) -> Exception | None:
        task = asyncio.current_task()
        return None if task is not None and task.cancelling() else await super()._close()


class TakesSilenceForTheEnd(Operator):
    """Ends when its source has given nothing for a second."""

    async def _next_arrived(self) -> bool:
        with anyio.move_on_after(1):
            return await super()._next_arrived()
        return False


class DropsLateRecords(Operator):
    """Drops a record that is late by its watermark, as windows do, and ends without it."""

    _time = -math.inf

    async def _process_fence(self, fence: Watermark | WatermarkStatus) -> None:
        self._time = max(self._time, getattr(fence, "timestamp", self._time))
        await super()._process_fence(fence)

    async def _process_record(self, record: Record) -> None:
        if record.timestamp is not None and record.timestamp <= self._time:
            self._leave_backlog()
        else:
            await super()._process_record(record)


class KeepsAHeartbeat(Operator):
    """Has a task beside its group, which it ends when the stream has ended well."""

    async def __aenter__(self) -> Self:
        self._heartbeat = asyncio.ensure_future(anyio.sleep_forever())
        return await super().__aenter__()

    def _finish(self) -> None:
        self._heartbeat.cancel()
        super()._finish()


class ClosesTheSourceUnshielded(SourceReader):
    """Closes the source in a task that is cancelled, where the first await in there ends it."""

    async def run(self) -> None:
        try:
            self._on_end(End(await self._read_all()))
        finally:
            await self.close()


class OpensInTheBackground(Operator):
    """Runs `open` beside the first calls, to lose no time."""

    async def _open(self) -> None:
        pass

    async def _restore(self) -> None:
        self._spawn(super()._open)
        await super()._restore()


class SkipsCloseIfTheSourceMakesTrouble(Operator):
    """Closes the source and then the function, unless the first of the two has raised."""

    async def _close(self) -> Exception | None:
        await self._source.close()
        if self._source.trouble is not None:
            return None
        return await super()._close()


class EndsWithAWaitThatIsGivenUp(Output):
    """Gives elements as an async generator does, which is over when a wait for it is cancelled."""

    async def take(self) -> Element:
        try:
            return await super().take()
        except anyio.get_cancelled_exc_class():
            self.cut(None)
            raise


class SleepsBeforeItCloses(Operator):
    """Sleeps for a quarter of a second on leaving, so that connections have time to close."""

    async def _close(self) -> Exception | None:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(0.25)
        return await super()._close()


class ClosesWhatItHasBegunToRead(SourceReader):
    """Leaves a source as it is of which it has read nothing: no generator has begun then."""

    async def close(self) -> None:
        if self._iterator is not None:
            await super().close()


class QueuesItsReaders(Output):
    """Lets a second task wait with a lock until the first has got its element."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._lock = anyio.Lock()

    async def take(self) -> Element:
        async with self._lock:
            return await super().take()


class ReadsEachElementInATask(SourceReader):
    """Starts a task for each read of the source."""

    async def _read_all(self) -> BaseException | None:
        self._iterator = iterator = aiter(self._elements)
        while not self._stopped:
            try:
                element = await asyncio.ensure_future(anext(iterator))
            except StopAsyncIteration:
                break
            except Exception as error:
                return error
            await self._hand_over(element)
        return None


class EndsWithItsLastTimer(Operator):
    """Waits at the end for all its timers, as for tasks that sleep until their deadlines."""

    def _cancel_deadline(self, entry: RecordEntry) -> None:
        pass

    async def _drain(self) -> None:
        await super()._drain()
        while len(self._timers) > 0:
            await self._main.run_one()


FAULTY: tuple[Faulty, ...] = (
    Faulty(EndsWithCallsInFlight, rule="END-1"),
    Faulty(TakesSilenceForTheEnd, rule="END-1"),
    Faulty(DropsLateRecords, rule="END-1"),
    Faulty(EndsWithoutWakingTheConsumer, rule="END-2"),
    Faulty(EndsWithItsLastTimer, rule="END-2"),
    Faulty(LeavesWithoutWaiting, rule="END-3"),
    Faulty(LeavesTimersBehind, rule="END-4"),
    Faulty(KeepsAHeartbeat, rule="END-4"),
    Faulty(LeavesTheSourceOpen, rule="END-5"),
    Faulty(ClosesTheSourceUnshielded, rule="END-5"),
    Faulty(ClosesItsSourceTwice, rule="END-5"),
    Faulty(ClosesBeforeCallsHaveEnded, rule="END-6"),
    Faulty(OpensWithTheFirstCall, rule="END-6"),
    Faulty(OpensInTheBackground, rule="END-6"),
    Faulty(SkipsCloseIfTheSourceMakesTrouble, rule="END-6"),
    Faulty(StopsClosingWhenCancelled, rule="END-6"),
    Faulty(EndsOnceOnly, rule="END-7"),
    Faulty(FreesSlotsInSilence, rule="END-8"),
    Faulty(SpinsWhileThereIsNoRoom, rule="END-8", blocks=True),
    Faulty(BlocksWhileThereIsNoRoom, rule="END-8", blocks=True),
    Faulty(GivesElementsToGivenUpWaits, rule="END-9"),
    Faulty(EndsWithAWaitThatIsGivenUp, rule="END-9"),
    Faulty(ReadsOnAfterLeaving, rule="END-10"),
    Faulty(LeavesWhenTheSourceSpeaks, rule="END-11"),
    Faulty(SleepsBeforeItCloses, rule="END-11"),
    Faulty(ForgetsShieldedConsumers, rule="END-11", loop="trio"),
    Faulty(CallsAlthoughOpenFailed, rule="END-12"),
    Faulty(ClosesWhatItHasBegunToRead, rule="END-12"),
    Faulty(SwallowsErrorsOfClosing, rule="END-13"),
    Faulty(LetsTwoTasksWait, rule="END-14"),
    Faulty(QueuesItsReaders, rule="END-14"),
    Faulty(SharesItsBacklog, rule="END-15"),
    Faulty(ClosesTheSourceFromOutside, rule="END-16"),
    Faulty(ReadsEachElementInATask, rule="END-16"),
    Faulty(PollsItsSource, rule="END-17"),
    Faulty(TellsItsTasksWhatTheBodyRaised, rule="END-18"),
    Faulty(ChecksNothing, rule="END-19"),
    Faulty(KeepsCancellationsToItself, rule="END-20"),
)
