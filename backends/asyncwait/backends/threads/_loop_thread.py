"""An event loop in a thread of its own, which another thread asks to run coroutines."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

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
