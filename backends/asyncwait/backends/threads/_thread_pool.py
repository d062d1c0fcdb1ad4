"""Daemon threads that run calls."""

import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, copy_context
from typing import Any, TypeAlias

from asyncwait.backends.pool import RunningCall

_MOST_COMING = 2
"""Threads that are sent for at a time: of more, most would wait for their turn of the interpreter,
and keep the loop waiting for its own."""

Told: TypeAlias = Callable[[], object]
"""Hands in what a call has come to."""


class Call(RunningCall):
    """One call on its way through a thread.

    Args:
        value: the argument; None when it is over.
        run: runs it, wherever that is, and returns what tells of it.
        due: when its time is over, in seconds of the loop's clock.
        give_back: called when the call is over; gives the permit back that no thread has used.
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
    """Threads that take calls in the order in which they were asked for, one each at a time.

    There are no more than there are calls at a time. A thread sees to it that another one is on its
    way to the next call before it takes one: if its own takes time, the other goes on; if not, the
    same thread runs a whole queue of calls.
    """

    def __init__(self) -> None:
        self.present: dict[Call, None] = {}
        """Calls that were asked for and are not over."""
        self.on_over: Callable[[], None] = lambda: None
        """Called, in its thread, when a call is over."""
        self._keeping: set[Call] = set()
        """Those of them that have not returned yet: each of these keeps a thread."""
        self._waiting: deque[Call] = deque()
        self._idle: deque[threading.Lock] = deque()
        """Locked locks that idle threads wait for."""
        self._coming: deque[None] = deque()
        """One item for each woken or started thread that has not looked for a call yet."""
        self._threads: set[threading.Thread] = set()
        self._hiring = threading.Lock()
        self._closed = False

    def ask(self, call: Call) -> None:
        """Have `call` run by a thread, as soon as one comes to it.

        Raises:
            RuntimeError: there is none, and the system gives none.
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
        """Send for a thread, if for so many calls too few are on their way.

        Two are enough: each sends for the next one before it takes a call.
        """
        if len(self._coming) < min(waiting, _MOST_COMING):
            self._send_for_one()

    def take(self) -> Call:
        """Take the call that has waited longest.

        Raises:
            IndexError: none waits.
        """
        return self._waiting.popleft()

    def withdraw(self) -> None:
        """Have no call run that has not begun; from the last one, so that none overtakes one."""
        while self._waiting:
            with suppress(IndexError):
                self._end(self._waiting.pop())

    def withdraw_one(self, call: Call) -> bool:
        """Have this call not run, if it has not begun; return whether that is so."""
        try:
            self._waiting.remove(call)
        except (ValueError, IndexError):  # It runs; or others take theirs just now.
            return False
        self._end(call)
        return True

    def _send_for_one(self) -> None:
        try:
            gate = self._idle.pop()
        except IndexError:
            self._start_one()
        else:
            self._coming.append(None)  # first: it is taken out when the thread has come
            gate.release()

    def _start_one(self) -> None:
        with self._hiring:  # Threads send for others, too.
            # If there are as many threads as calls, each of these is about to have one.
            if len(self._threads) >= len(self._keeping):
                return
            thread = threading.Thread(target=self._work, name="asyncwait-call", daemon=True)
            self._threads.add(thread)
        self._coming.append(None)
        try:
            thread.start()
        except RuntimeError:  # The system gives no more of them: those that are there will do.
            self._coming.pop()
            self._threads.discard(thread)
            if not self._threads:
                raise

    def _work(self) -> None:
        gate = threading.Lock()
        gate.acquire()
        self._coming.pop()
        while not self._closed:
            self._see_to(len(self._waiting) - 1)  # Before it takes one: they begin in their order.
            try:
                call = self.take()
            except IndexError:
                self._rest(gate)
                continue
            self._run(call)
            del call  # What it holds may be long emitted when the next one comes.
        self._threads.discard(threading.current_thread())

    def _rest(self, gate: threading.Lock) -> None:
        self._idle.append(gate)
        # A call that came before found no idle thread, and maybe as many threads as calls.
        if self._waiting or self._closed:
            try:
                self._idle.remove(gate)
            except ValueError:
                pass  # Another thread releases it just now.
            else:
                return
        gate.acquire()
        self._coming.pop()

    def _run(self, call: Call) -> None:
        assert call.context is not None
        assert call.run is not None
        tell = call.context.run(call.run)
        # Before the report, after which the loop may ask at once: this thread is free for the call.
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
        """Send all threads home; those that run a call go when that is over."""
        self._closed = True
        while self._idle:
            with suppress(IndexError):
                gate = self._idle.pop()
                self._coming.append(None)
                gate.release()
