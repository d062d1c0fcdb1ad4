"""END: operators that end wrongly, or never end."""

import asyncio
import sys
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Self

import anyio
import anyio.lowlevel

from asyncwait.backends.faulty._gallery import breaks
from asyncwait.reference import (
    AsyncWaitOperator,
    Output,
    ResultHandler,
    ResultStream,
    SourceReader,
    StreamTask,
    TimerService,
)
from asyncwait.spec import (
    CallTimedOut,
    Element,
    InvalidConfig,
    OperatorConfig,
    OperatorError,
)
from asyncwait.toolkit import close_source


@breaks("END-2")
class EndsWithoutWakingTheConsumer(Output):
    """Ends without waking a consumer that already waits."""

    def finish(self, error: BaseException | None) -> None:
        news, self.news = self.news, None
        super().finish(error)
        self.news = news


def _start_beside(
    function: Callable[..., Coroutine[Any, Any, None]], *args: Any
) -> anyio.CancelScope:
    """Start a task outside any task group; return the scope that cancels it."""
    scope = anyio.CancelScope()

    async def run() -> None:
        with scope:
            await function(*args)

    trio = sys.modules.get("trio")
    if trio is not None and trio.lowlevel.in_trio_run():
        trio.lowlevel.spawn_system_task(run)
    else:
        _ = asyncio.ensure_future(run())  # noqa: RUF006 - to be left behind is its purpose
    return scope


@breaks("END-3")
class LeavesWithoutWaiting(StreamTask):
    """Runs calls as tasks of the loop, cancels them, and does not wait for them."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.loose: list[anyio.CancelScope] = []
        self.operator.spawn = lambda *run: self.loose.append(_start_beside(*run))

    def stop(self) -> None:
        super().stop()
        for scope in self.loose:
            scope.cancel()


@breaks(
    "END-3", behind="TIME-9", why="calls that run on at their deadline are not watched any more"
)
class CancelsOnceItIsLeft(StreamTask):
    """Reports a failure to its consumer at once, and lets calls run until the consumer leaves."""

    async def work(self) -> None:
        try:
            await super().work()
        except Exception as error:
            self.fail(error)
            await anyio.sleep_forever()


@breaks("END-4", is_bound=True)
class LeavesTimersBehind(TimerService):
    """Does not cancel its timers when it closes; the loop keeps them, much like FLINK-5652."""

    def close(self) -> None:
        pass


@breaks("END-5")
class LeavesTheSourceOpen(SourceReader):
    """Does not close the source, and leaves it to the garbage collector."""

    async def close(self) -> None:
        pass


@breaks("END-5")
class ClosesTheIteratorAlone(SourceReader):
    """Closes the iterator of the source, but not the source itself."""

    async def close(self) -> None:
        if self.iterator is not None:
            self.elements = self.iterator
        await super().close()


@breaks("END-6")
class ClosesBeforeCallsHaveEnded(ResultStream):
    """Runs `close` first, and only then cancels the calls that use the closed resources."""

    async def __aexit__(self, *raised: Any) -> None:
        self.trouble = await self.task.operator.close()
        await super().__aexit__(*raised)

    async def close(self) -> Exception | None:
        self.guard.shield = True
        self.source_trouble = await self.close_source()
        return self.trouble


@breaks("END-6", loop="trio", is_bound=True)  # on asyncio no operator need shield it
class ClosesTheFunctionUnshielded(ResultStream):
    """Shields the closing of its source from cancellation, but not the function's `close`."""

    async def close_function(self) -> Exception | None:
        self.guard.shield = False
        return await super().close_function()


@breaks("END-7")
class EndsOnceOnly(Output):
    """Reports its end once; after that, reading raises an error, like a closed stream."""

    def raise_end(self) -> None:
        if self.told and self.error is None:
            raise anyio.ClosedResourceError
        super().raise_end()


@breaks("END-7")
class EndsThreeTimes(Output):
    """Reports its end three times; the next read waits forever."""

    ends = 3

    async def __anext__(self) -> Element:
        if not self.ends:
            await anyio.sleep_forever()
        return await super().__anext__()

    def raise_end(self) -> None:
        self.ends -= 1
        super().raise_end()


@breaks("END-1", behind="RES-1", why="results that are never read are missed record by record")
class EndsWithALoopThatIsLeft(Output):
    """Ends when a second loop over it begins, like an async generator."""

    is_begun = False

    def __aiter__(self) -> Self:
        if self.is_begun:
            self.cut(None)
        self.is_begun = True
        return self


@breaks("END-8", blocks=True)
class BlocksWhileThereIsNoRoom(StreamTask):
    """Waits for room by blocking the thread, so the calls that would make room cannot finish."""

    def process_input(self, controller: object) -> None:
        while self.backlog and self.is_back_pressured():
            time.sleep(0.01)  # it blocks the loop: that is the fault
        super().process_input(controller)


@breaks("END-9")
class GivesElementsToGivenUpWaits(Output):
    """Hands the next element to a wait that was cancelled, and loses it, much like FLINK-5638."""

    _given_up = 0

    async def wait_for_news(self) -> None:
        self._given_up += 1
        await super().wait_for_news()
        self._given_up -= 1

    def take(self) -> Element | None:
        while self._given_up and super().take() is not None:
            self._given_up -= 1
        return super().take()


@breaks("END-10", behind="END-3", why="what goes on after leaving is not cancelled then")
class ReadsOnAfterLeaving(ResultStream):
    """Reads on for a second after leaving to let calls finish; new calls begin as well."""

    async def __aexit__(self, *raised: Any) -> None:
        with anyio.move_on_after(1, shield=True), suppress(StopAsyncIteration, Exception):
            while True:
                await anext(self.task.output)
        await super().__aexit__(*raised)


@breaks("END-11")
class LeavesWhenTheSourceSpeaks(SourceReader):
    """Cancels no read, to lose no element, and leaves only when the source yields again."""

    def stop(self) -> None:
        self.stopped = True
        self.wanted.set()


@breaks("END-12")
class CallsAlthoughOpenFailed(AsyncWaitOperator):
    """Ignores an error of `open` and goes on."""

    async def open(self) -> None:
        with suppress(Exception):
            await super().open()


@breaks("END-13")
class SwallowsErrorsOfClosing(ResultStream):
    """Drops the errors of closing, because all results are out."""

    async def close(self) -> Exception | None:
        await super().close()
        self.source_trouble = None
        return None


@breaks("END-17")
class PollsItsSource(SourceReader):
    """Cancels each read after a tenth of a second, and reads again."""

    async def read_all(self) -> None:
        elements = aiter(self.elements)
        while True:
            with anyio.move_on_after(0.1):
                try:
                    await self.hand_over(await anext(elements))
                except StopAsyncIteration:
                    return


@breaks("END-18")
class TellsItsTasksWhatTheBodyRaised(ResultStream):
    """Leaves its task group as if it were the body, which wraps the body's error in a group."""

    async def __aexit__(self, kind: Any, error: Any, traceback: Any) -> None:
        await super().__aexit__(kind, error, traceback)
        if isinstance(error, Exception):
            raise ExceptionGroup("unhandled errors in a TaskGroup", [error])


@breaks("END-5")
class ClosesItsSourceTwice(SourceReader):
    """Closes its source after reading it, and once more on leaving."""

    async def close(self) -> None:
        await super().close()
        await close_source(self.elements)


@breaks("END-20", is_bound=True)  # on trio what is swallowed comes again in the next wait
class KeepsCancellationsToItself(ResultStream):
    """Swallows its cancellation on leaving, so the consumer goes on."""

    async def __aexit__(self, kind: Any, error: Any, traceback: Any) -> Any:
        with suppress(asyncio.CancelledError):
            await super().__aexit__(kind, error, traceback)
        return isinstance(error, asyncio.CancelledError)


@breaks("END-4")
class KeepsAHeartbeat(StreamTask):
    """Starts a task outside its group, and ends the task only when the stream ends well."""

    async def run(self) -> None:
        self.heartbeat = _start_beside(anyio.sleep_forever)
        await super().run()

    def finish(self) -> None:
        self.heartbeat.cancel()
        super().finish()


@breaks("END-5", is_bound=True)  # on trio every scope does
class CutsTheCleanUpOfItsSourceShort(SourceReader):
    """Cancels the source by an anyio scope, which cancels each wait of its clean-up."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        scope: Any = anyio.CancelScope(shield=True)
        self.scope = scope


@breaks("END-6")
class SkipsCloseIfTheSourceMakesTrouble(ResultStream):
    """Does not close the function if closing the source has raised."""

    async def close(self) -> Exception | None:
        self.source_trouble = await self.close_source()
        return await super().close() if self.source_trouble is None else None


@breaks("END-9")
class EndsWithAWaitThatIsGivenUp(Output):
    """Ends when a wait for an element is cancelled, like an async generator."""

    async def __anext__(self) -> Element:
        try:
            return await super().__anext__()
        except anyio.get_cancelled_exc_class():
            self.cut(None)
            raise


@breaks("END-12")
class ClosesWhatItHasBegunToRead(SourceReader):
    """Does not close a source from which it has read nothing."""

    async def close(self) -> None:
        if self.iterator is not None:
            await super().close()


class _KeepsItsDeadline(ResultHandler):
    """Keeps its timer after the record is decided, and reports when the timer has fired."""

    def cancel_deadline(self) -> None:
        pass

    def on_deadline(self) -> None:
        super().on_deadline()
        self.operator.queue.on_room()


@breaks("END-2", _KeepsItsDeadline)
class EndsWithItsLastTimer(StreamTask):
    """Waits at the end for all its timers, as if they were tasks that sleep until deadlines."""

    def is_drained(self) -> bool:
        return super().is_drained() and len(self.timers) == 0


@breaks("END-20", loop="trio", is_bound=True)  # on asyncio it knows of it too late
class TellsTheCancelled(Output):
    """Raises its own error in a consumer that is cancelled together with it."""

    async def wait_for_news(self) -> None:
        try:
            await super().wait_for_news()
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await anyio.lowlevel.checkpoint()  # until the operator knows of it
            if self.interrupted and self.error is not None:
                raise self.error from None
            raise


@breaks("END-8")
class GivesUpAfterAFailedAttempt(ResultHandler):
    """Decides nothing at a deadline after a failed attempt if no handler has results."""

    def decide_despite(self, failure: OperatorError) -> None:
        if isinstance(failure, CallTimedOut) and self.attempts > 1:
            self.cancel_deadline()
        else:
            super().decide_despite(failure)


@breaks("END-21")
class RefusesASingleSlot(AsyncWaitOperator):
    """Refuses a capacity of one as a mistake of its user."""

    def __init__(self, config: OperatorConfig, *args: Any, **options: Any) -> None:
        if config.capacity == 1:
            raise InvalidConfig.of("capacity", config.capacity, "at least 2")
        super().__init__(config, *args, **options)


@breaks("END-10")
class CallsOnAfterAFailure(StreamTask):
    """Reports a failure and cancels its calls, but reads and calls on until the consumer leaves."""

    async def work(self) -> None:
        try:
            await super().work()
        except Exception as error:
            self.fail(error)
            self.operator.cancel_calls()
            await self.processor.run()


@breaks("END-23")
class LooksEveryTenthOfASecond(StreamTask):
    """Wakes up every tenth of a second to look for work."""

    async def work(self) -> None:
        self.spawn(self.look)
        await super().work()

    async def look(self) -> None:
        """Wake the task that processes, forever."""
        while True:
            await anyio.sleep(0.1)
            self.resume()
