"""The results of an operator for callers without a loop: its loop runs in a thread."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import AbstractAsyncContextManager, ExitStack
from typing import Any

from asyncwait.backends.threads._host import OperatorHost
from asyncwait.backends.threads._loop_thread import LoopThread
from asyncwait.spec import OperatorError, Statistics
from asyncwait.toolkit import LeftEarly, PlainResults

_AT_ONCE = 1000
"""Largest number of results handed to the caller's thread together."""


class Results(Iterator[Any]):
    """The results of an operator that runs on a loop in a thread of its own."""

    def __init__(
        self,
        open_operator: Callable[[], AbstractAsyncContextManager[PlainResults[Any]]],
        loop_factory: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop,
    ) -> None:
        self._host = OperatorHost(open_operator)
        self._ready: deque[Any] = deque()
        self._final: BaseException | None = None
        self._closed = self._has_ended = False
        self._reading = threading.Lock()
        self._loop = LoopThread(loop_factory)
        try:
            self._loop.ask(self._host.open())
        except BaseException:
            self.close()
            raise

    def __next__(self) -> Any:
        """Return the next result.

        Raises:
            StopIteration: there are no more results.
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
