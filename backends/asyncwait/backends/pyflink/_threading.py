"""Replacement of `threading` for PyFlink: its threads take turns, and wait by the loop's clock.

These objects are made in a thread of the stage. A thread gives its turn away only where it waits,
so no other thread sees it in the middle of a step.
"""

import threading
from collections import deque
from collections.abc import Callable

from asyncwait.backends.flink._stage import Actor, Alarm, here


class Lock:
    """A lock that its owner may take again: PyFlink uses `Lock` and `RLock` alike."""

    def __init__(self) -> None:
        self._stage = here()
        self._owner: int | None = None
        self._depth = 0

    def __enter__(self) -> None:
        me = threading.get_ident()
        if self._owner != me:
            self._stage.wait(lambda: self._owner is None)
            self._owner = me
        self._depth += 1

    def __exit__(self, *error: object) -> None:
        self._depth -= 1
        if self._depth <= 0:
            self._owner = None

    def given_back(self) -> int:
        """Release the lock completely; return the depth for `taken_again`."""
        depth, self._depth, self._owner = self._depth, 0, None
        return depth

    def taken_again(self, depth: int) -> None:
        """Take the lock again, `depth` times."""
        self._stage.wait(lambda: self._owner is None)
        self._owner, self._depth = threading.get_ident(), depth


class Condition:
    """Lets a thread wait until another one notifies it."""

    def __init__(self, lock: Lock) -> None:
        self._stage, self._lock = here(), lock
        self._waiting: deque[list[None]] = deque()

    def __enter__(self) -> None:
        self._lock.__enter__()

    def __exit__(self, *error: object) -> None:
        self._lock.__exit__(*error)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for a notification, at most `timeout` seconds; return whether one came."""
        notes: list[None] = []
        self._waiting.append(notes)
        depth = self._lock.given_back()
        is_notified = self._stage.wait(lambda: bool(notes), timeout)
        self._lock.taken_again(depth)
        if not is_notified:
            self._waiting.remove(notes)
        return is_notified

    def notify(self) -> None:
        """Notify the thread that has waited longest."""
        if self._waiting:
            self._waiting.popleft().append(None)

    def notify_all(self) -> None:
        """Notify all waiting threads."""
        while self._waiting:
            self.notify()


class Event:
    """An event that happens once."""

    def __init__(self) -> None:
        self._stage = here()
        self._is_set = False

    def set(self) -> None:
        """Set the event."""
        self._is_set = True

    def wait(self) -> bool:
        """Wait until the event is set."""
        return self._stage.wait(lambda: self._is_set)


class Thread:
    """A thread of PyFlink's, which runs its method `run`."""

    daemon = False

    def __init__(self) -> None:
        self._stage = here()
        self._actor: Actor | None = None

    def start(self) -> None:
        """Start the thread, which begins at its turn."""
        self._actor = self._stage.start(self.run)

    def run(self) -> None:
        """Do the thread's work."""

    def join(self, timeout: float | None = None) -> None:
        """Wait until the thread has ended, at most `timeout` seconds."""
        if (actor := self._actor) is None:
            return
        if timeout is None:
            self._stage.wait(lambda: actor.is_over)
        else:
            self._stage.wait_at_most(lambda: actor.is_over, timeout)


class Timer:
    """A thread that begins with a wait.

    Args:
        interval: seconds to wait; a time longer than a thread can wait ends it, as in Python.
    """

    def __init__(self, interval: float, function: Callable[[], object]) -> None:
        self._stage = here()
        self._interval, self._function = interval, function
        self._is_cancelled = False
        self._alarm: Alarm | None = None

    def start(self) -> None:
        """Start the wait; the thread is made only when the wait is over."""
        if self._interval < threading.TIMEOUT_MAX:
            self._alarm = self._stage.ring(self._interval, self._fire)

    def cancel(self) -> None:
        """Prevent the call, if it has not been made."""
        self._is_cancelled = True
        if self._alarm is not None:
            self._stage.errand(self._alarm.cancel)

    def _fire(self) -> None:
        self._stage.start(self._run)

    def _run(self) -> None:
        if not self._is_cancelled:
            self._function()


RLock = Lock
