"""Daemon threads that run calls."""

import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, copy_context
from typing import Any, TypeAlias

from asyncwait.backends.pool import RunningCall

_MOST_COMING = 2
"""Largest number of threads woken at a time: more would only wait for the interpreter's lock,
and keep the loop waiting for it.
"""

Told: TypeAlias = Callable[[], object]
"""Reports the outcome of a call."""


class Call(RunningCall):
    """One call on its way through a thread.

    Args:
        value: the argument; None when the call is over.
        run: makes the call in the current thread and returns a function that reports its outcome.
        due: when its time is over, in seconds of the loop's clock.
        give_back: called when the call is over; gives back a permit that no thread has used.
    """

    __slots__ = ("context", "due", "give_back", "run", "value")

    def __init__(
        self,
        value: Any,
        run: Callable[[], Told],
        due: float,
        give_back: Callable[[], object] | None = None,
    ) -> None:
        self.is_over = False
        self.give_back = give_back
        self.value = value
        self.run: Callable[[], Told] | None = run
        self.context: Context | None = copy_context()
        """A copy of the caller's context; variables that the call sets stay in it."""
        self.due = due


class ThreadPool:
    """Threads that take calls in the order in which they were requested, one each at a time.

    The pool has no more threads than calls at a time. Before a thread takes a call, it wakes or
    starts another thread for the next one: if its own call takes time, the other goes on; if not,
    the same thread runs a complete queue of calls.
    """

    def __init__(self) -> None:
        self.present: dict[Call, None] = {}
        """Requested calls that are not over."""
        self.on_over: Callable[[], None] = lambda: None
        """Called in the thread of a call when the call is over."""
        self._keeping: set[Call] = set()
        """Present calls that have not returned yet: each of them occupies a thread."""
        self._waiting: deque[Call] = deque()
        self._idle: deque[threading.Lock] = deque()
        """Locked locks that idle threads wait for."""
        self._coming: deque[None] = deque()
        """One item for each woken or started thread that has not looked for a call yet."""
        self._threads: set[threading.Thread] = set()
        self._hiring = threading.Lock()
        self._closed = False

    def ask(self, call: Call) -> None:
        """Queue `call` for a thread.

        Raises:
            RuntimeError: the pool has no thread, and the system allows none.
        """
        self.present[call] = None
        self._keeping.add(call)
        self._waiting.append(call)
        try:
            self._see_to(len(self._waiting))
        except RuntimeError:
            self.withdraw()
            raise

    def _see_to(self, waiting: int) -> None:
        """Wake or start a thread, if too few are on their way for so many calls.

        Two are enough: each wakes the next one before it takes a call.
        """
        if len(self._coming) < min(waiting, _MOST_COMING):
            self._send_for_one()

    def take(self) -> Call:
        """Take the call that has waited longest.

        Raises:
            IndexError: no call waits.
        """
        return self._waiting.popleft()

    def withdraw(self) -> None:
        """Withdraw all calls that have not begun, the last one first, so that none overtakes."""
        while self._waiting:
            with suppress(IndexError):
                self._end(self._waiting.pop())

    def withdraw_one(self, call: Call) -> bool:
        """Withdraw a call that has not begun; return whether it was withdrawn."""
        try:
            self._waiting.remove(call)
        except (ValueError, IndexError):  # The call runs, or threads take calls at this moment.
            return False
        self._end(call)
        return True

    def _send_for_one(self) -> None:
        try:
            gate = self._idle.pop()
        except IndexError:
            self._start_one()
        else:
            self._coming.append(None)  # first: the woken thread takes the item out
            gate.release()

    def _start_one(self) -> None:
        with self._hiring:  # Threads also wake other threads.
            # With as many threads as calls, each call is about to have its thread.
            if len(self._threads) >= len(self._keeping):
                return
            thread = threading.Thread(target=self._work, name="asyncwait-call", daemon=True)
            self._threads.add(thread)
        self._coming.append(None)
        try:
            thread.start()
        except RuntimeError:  # The system allows no more threads: the existing ones suffice.
            self._coming.pop()
            self._threads.discard(thread)
            if not self._threads:
                raise

    def _work(self) -> None:
        gate = threading.Lock()
        gate.acquire()
        self._coming.pop()
        while not self._closed:
            self._see_to(len(self._waiting) - 1)  # Before taking a call: calls begin in order.
            try:
                call = self.take()
            except IndexError:
                self._rest(gate)
                continue
            self._run(call)
            del call  # Its results may be emitted long before the next call.
        self._threads.discard(threading.current_thread())

    def _rest(self, gate: threading.Lock) -> None:
        self._idle.append(gate)
        # An earlier call found no idle thread, and perhaps as many threads as calls.
        if self._waiting or self._closed:
            try:
                self._idle.remove(gate)
            except ValueError:
                pass  # Another thread releases the lock at this moment.
            else:
                return
        gate.acquire()
        self._coming.pop()

    def _run(self, call: Call) -> None:
        assert call.context is not None
        assert call.run is not None
        tell = call.context.run(call.run)
        # Before the report: after it the loop may queue a call, for which this thread is free.
        self._keeping.discard(call)
        tell()
        self._end(call)

    def _end(self, call: Call) -> None:
        call.is_over = True
        self._keeping.discard(call)
        self.present.pop(call, None)
        give_back = call.give_back
        call.value = call.context = call.run = call.give_back = None
        if give_back is not None:
            give_back()
        self.on_over()

    def running(self) -> list[Any]:
        """Return the values of the calls that are not over, in the order of their calls."""
        values = [(call, call.value) for call in list(self.present)]
        return [value for call, value in values if not call.is_over]  # looked at after its value

    def close(self) -> None:
        """End all threads; those that run a call end after it."""
        self._closed = True
        while self._idle:
            with suppress(IndexError):
                gate = self._idle.pop()
                self._coming.append(None)
                gate.release()
