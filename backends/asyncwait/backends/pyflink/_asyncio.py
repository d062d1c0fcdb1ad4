"""What PyFlink imports as `asyncio`: a loop for the coroutines of its own, in a thread of its own.

Those await nothing but a call of the user's function. That runs on the loop on which the operator
was opened; when it has ended, its coroutine goes on here.
"""

from collections import deque
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context, copy_context
from functools import partial
from typing import Any, TypeAlias

from asyncwait.backends.pyflink._stage import Ended, here

Ending: TypeAlias = Callable[[], Any]
"""Returns what a call came to, or raises it."""


class Call:
    """What a coroutine awaits."""

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
        """Run until it is stopped."""
        while not self._is_stopped:
            self._stage.wait(lambda: bool(self._ready))
            self._ready.popleft()()

    def call_soon_threadsafe(self, callback: Callable[[], object]) -> None:
        """Have something called in the thread that runs it."""
        self._ready.append(callback)

    def stop(self) -> None:
        """Have `run_forever` return; what has not come to its end never will."""
        self._is_stopped = True

    def is_closed(self) -> bool:
        """Say whether it was closed."""
        return self._is_closed

    def close(self) -> None:
        """Take note that nobody runs it any more."""
        self._is_closed = True

    def submit(self, coro: Coroutine[Call, Ending, Any], context: Context) -> None:
        """Have a coroutine run."""
        self._ready.append(partial(self._step, coro, context, None))

    def _step(
        self, coro: Coroutine[Call, Any, Any], context: Context, ending: Ending | None
    ) -> None:
        try:
            call = context.run(coro.send, ending)
        except StopIteration:
            return
        except BaseException as error:  # the future's, which PyFlink never looks at
            if isinstance(error, Ended):
                raise
            return
        call.begin(
            context, lambda came: self._ready.append(partial(self._step, coro, context, came))
        )


def new_event_loop() -> EventLoop:
    """Return a loop that nobody runs yet."""
    return EventLoop()


def set_event_loop(loop: EventLoop) -> None:
    """Do nothing: PyFlink asks for no loop but by name."""


def run_coroutine_threadsafe(coro: Coroutine[Call, Ending, Any], loop: EventLoop) -> None:
    """Have a coroutine run by a loop, in a copy of the context of whoever asks for it."""
    loop.submit(coro, copy_context())
