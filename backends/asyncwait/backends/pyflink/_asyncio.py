"""Replacement of `asyncio` for PyFlink: a loop for its own coroutines, in a thread of its own.

These coroutines await only calls of the user's function. A call runs on the loop on which the
operator was opened; when it has ended, its coroutine goes on here.
"""

from collections import deque
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context, copy_context
from functools import partial
from typing import Any, TypeAlias

from asyncwait.backends.flink._stage import Ended, here

Ending: TypeAlias = Callable[[], Any]
"""Returns the results of a call, or raises its error."""


class Call:
    """The awaitable of a call."""

    def __init__(self, begin: Callable[[Context, Callable[[Ending], object]], object]) -> None:
        self.begin = begin

    def __await__(self) -> Generator["Call", Ending, Any]:
        ending = yield self
        return ending()


class EventLoop:
    """Runs coroutines in the thread that runs it."""

    def __init__(self) -> None:
        self._stage = here()
        self._ready: deque[Callable[[], object]] = deque()
        self._is_stopped = self._is_closed = False

    def run_forever(self) -> None:
        """Run until `stop` is called."""
        while not self._is_stopped:
            self._stage.wait(lambda: bool(self._ready))
            self._ready.popleft()()

    def call_soon_threadsafe(self, callback: Callable[[], object]) -> None:
        """Let the loop's thread call `callback`."""
        self._ready.append(callback)

    def stop(self) -> None:
        """Make `run_forever` return; unfinished coroutines never end."""
        self._is_stopped = True

    def is_closed(self) -> bool:
        """Return whether the loop was closed."""
        return self._is_closed

    def close(self) -> None:
        """Close the loop, which does not run any more."""
        self._is_closed = True

    def submit(self, coro: Coroutine[Call, Ending, Any], context: Context) -> None:
        """Run a coroutine in `context`."""
        self._ready.append(partial(self._step, coro, context, None))

    def _step(
        self, coro: Coroutine[Call, Any, Any], context: Context, ending: Ending | None
    ) -> None:
        try:
            call = context.run(coro.send, ending)
        except StopIteration:
            return
        except BaseException as error:  # the error of the future, which PyFlink never reads
            if isinstance(error, Ended):
                raise
            return
        call.begin(
            context, lambda came: self._ready.append(partial(self._step, coro, context, came))
        )


def new_event_loop() -> EventLoop:
    """Return a new loop, which does not run yet."""
    return EventLoop()


def set_event_loop(loop: EventLoop) -> None:
    """Do nothing: PyFlink uses its loops only by reference."""


def run_coroutine_threadsafe(coro: Coroutine[Call, Ending, Any], loop: EventLoop) -> None:
    """Run a coroutine on a loop, in a copy of the caller's context."""
    loop.submit(coro, copy_context())
