"""An operator on a loop in a thread of its own, for callers without a loop."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import AbstractAsyncContextManager, ExitStack
from typing import Any, TypeVar

from asyncwait.spec import OperatorError, Statistics
from asyncwait.toolkit import LeftEarly, PlainResults


class OperatorHost:
    """Opens an operator, and leaves it in the task that has opened it.

    All methods but `figures` run on the loop; other threads call them through a `LoopThread`.

    Args:
        open_operator: called on the loop.
    """

    def __init__(self, open_operator: Callable[[], AbstractAsyncContextManager[Any]]) -> None:
        self._open = open_operator
        self._opened = asyncio.Event()
        self._leaving = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._results: Any = None
        """Results with `take_ready`, as those of the pool; None before the operator is open."""

    async def open(self) -> None:
        """Open the operator."""
        self._task = asyncio.create_task(self._live())
        self._task.add_done_callback(self._over)
        await self._opened.wait()
        if self._task.done():
            self._task.result()

    def _over(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled():
            task.exception()  # The error is raised, even if it breaks out of the loop before.
        self._opened.set()

    async def _live(self) -> None:
        """Hold the context open: the scopes in it belong to the one task that enters it."""
        async with self._open() as self._results:
            self._opened.set()
            await self._leaving.wait()

    async def take(self, limit: int) -> list[Any]:
        """Wait for the next result, and take all further ready results; return none at the end."""
        try:
            first = await anext(self._results)
        except StopAsyncIteration:
            return []
        return [first, *self._results.take_ready(limit - 1)]

    def figures(self) -> Statistics:
        """Return the figures; for any thread, even after the loop has closed."""
        figures: Statistics = Statistics() if self._results is None else self._results.statistics()
        return figures

    async def close(self) -> None:
        """Leave the operator, and wait for its end; cancel it if it is not open yet."""
        self._leaving.set()
        task = self._task
        # An earlier error was raised by `open`, or breaks out of loops.
        if task is not None and not task.done():
            if is_given_up := not self._opened.is_set():
                task.cancel()
            await asyncio.wait([task])
            if not (is_given_up and task.cancelled()):
                task.result()


T = TypeVar("T")


class LoopThread:
    """Runs a loop from its construction to `stop`.

    Args:
        loop_factory: makes the loop.
    """

    def __init__(self, loop_factory: Callable[[], asyncio.AbstractEventLoop]) -> None:
        self._loop = loop_factory()
        self._asked: Future[Any] | None = None
        self._thrown: BaseException | None = None
        self.was_broken = False
        """Whether an error has broken out of the loop, which cancels the running coroutine."""
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="asyncwait-loop", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # The system has no more threads.
            self._loop.close()
            raise

    def ask(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run `coroutine` on the loop, and return its result; one at a time.

        Raises:
            CancelledError: (of concurrent.futures) its task was cancelled.
            BaseException: its error, or an error that broke out of the loop meanwhile.
        """
        before = self._thrown
        asked = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        self._asked = asked
        if self._thrown is not before:  # The error broke out before the task to cancel was known.
            asked.cancel()
        try:
            return self._answer(asked)
        finally:
            self._asked = None

    def _answer(self, asked: Future[T]) -> T:
        try:
            answer = asked.result()
            if (error := asked.exception()) is not None:
                raise error  # `result` takes a false exception for none
        except CancelledError:
            self._raise_thrown()
            raise
        finally:
            # After an interrupt, the answer is no longer wanted.
            asked.cancel()
        self._raise_thrown()
        return answer

    @property
    def is_here(self) -> bool:
        """Whether the caller runs on this loop."""
        return threading.current_thread() is self._thread

    def stop(self) -> None:
        """Cancel all running tasks, end the thread and close the loop."""
        try:
            # An error that breaks out of the loop does not end the wait.
            self._answer(asyncio.run_coroutine_threadsafe(_wind_up(), self._loop))
        finally:
            self._stopping = True
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def _raise_thrown(self) -> None:
        thrown, self._thrown = self._thrown, None
        if thrown is not None:
            raise thrown from None

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        while not self._stopping:
            try:
                self._loop.run_forever()
            except BaseException as error:
                # KeyboardInterrupt and SystemExit break out of a loop. They are for the caller;
                # the loop goes on, because the operator on it wants to be closed.
                self._thrown = error
                self.was_broken = True
                if (asked := self._asked) is not None:
                    asked.cancel()


async def _wind_up() -> None:
    """Do what `asyncio.run` does at its end, for tasks that user code has left behind."""
    loop = asyncio.get_running_loop()
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    await loop.shutdown_asyncgens()
    await loop.shutdown_default_executor()


_AT_ONCE = 1000
"""Largest number of results handed to the caller's thread together."""


class Results(Iterator[Any]):
    """The results of an operator that runs on a loop in a thread of its own."""

    def __init__(
        self, open_operator: Callable[[], AbstractAsyncContextManager[PlainResults[Any]]]
    ) -> None:
        self._host = OperatorHost(open_operator)
        self._ready: deque[Any] = deque()
        self._final: BaseException | None = None
        self._closed = self._has_ended = False
        self._reading = threading.Lock()
        self._loop = LoopThread(asyncio.new_event_loop)
        try:
            self._loop.ask(self._host.open())
        except BaseException:
            self.close()
            raise

    def __next__(self) -> Any:
        """Return the next result.

        Raises:
            StopIteration: all results have been read.
            OperatorError: the operator failed; each further call raises the same error again.
            BaseException: the error of the source, after the results of all its values.
            RuntimeError: another thread waits for the next result, or the call is made on the loop,
                or the operator was left before its end was read.
        """
        if not self._reading.acquire(blocking=False):
            raise RuntimeError("another thread waits for the next result; there is one consumer")
        try:
            if not self._ready:
                self._take()
            return self._ready.popleft()
        finally:
            self._reading.release()

    def _take(self) -> None:
        if self._final is not None:
            raise self._final.with_traceback(None)
        if self._has_ended:
            raise StopIteration
        if self._closed:
            raise LeftEarly
        if self._loop.is_here:
            raise RuntimeError("handlers and hooks run on the loop, which can't wait for itself")
        try:
            self._loop.ask(self._fill())
        except OperatorError as error:
            self._final = error
            raise error.with_traceback(None)  # noqa: B904 - it is the same one
        except Exception as error:
            self._final = error
            raise
        if not self._ready:
            self._has_ended = True
            raise StopIteration

    async def _fill(self) -> None:
        """Take results; on the loop, so that an interrupted wait loses no result."""
        self._ready.extend(await self._host.take(_AT_ONCE))

    def statistics(self) -> Statistics:
        """Return the present figures, in any thread; after leaving, the last figures."""
        return self._host.figures()

    def close(self) -> None:
        """Leave the operator, and end its loop."""
        if not self._closed:
            self._closed = True
            self._ready.clear()
            with ExitStack() as closing:
                closing.callback(self._loop.stop)
                try:
                    self._loop.ask(self._host.close())
                except CancelledError:
                    if not self._loop.was_broken:  # Otherwise the error is raised already.
                        raise
