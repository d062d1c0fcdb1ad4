"""What PyFlink imports as `threading`: its threads take turns, and wait by the loop's clock.

Whoever makes one of these runs in a thread of the stage. A thread gives its turn away nowhere but
where it waits; so nobody is seen in the middle of anything.
"""

import threading
from collections import deque
from collections.abc import Callable

from asyncwait.backends.pyflink._stage import Actor, Alarm, here


class Lock:
    """One that the same thread may take again: `Lock` and `RLock` are used alike by PyFlink."""

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
        """Let go of it altogether; return what to take it again by."""
        depth, self._depth, self._owner = self._depth, 0, None
        return depth

    def taken_again(self, depth: int) -> None:
        """Take what was given back."""
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
        """Wait to be notified; whoever waits no longer than so many seconds waits again then."""
        notes: list[None] = []
        self._waiting.append(notes)
        depth = self._lock.given_back()
        is_notified = self._stage.wait(lambda: bool(notes), timeout)
        self._lock.taken_again(depth)
        if not is_notified:
            self._waiting.remove(notes)
        return is_notified

    def notify(self) -> None:
        """Let the one go on that has waited longest."""
        if self._waiting:
            self._waiting.popleft().append(None)

    def notify_all(self) -> None:
        """Let all go on that wait."""
        while self._waiting:
            self.notify()


class Event:
    """Something that happens once."""

    def __init__(self) -> None:
        self._stage = here()
        self._is_set = False

    def set(self) -> None:
        """Say that it has happened."""
        self._is_set = True

    def wait(self) -> bool:
        """Wait until it has happened."""
        return self._stage.wait(lambda: self._is_set)


class Thread:
    """A thread of PyFlink's; what it does is its method `run`."""

    daemon = False

    def __init__(self) -> None:
        self._stage = here()
        self._actor: Actor | None = None

    def start(self) -> None:
        """Have it begin at its turn."""
        self._actor = self._stage.start(self.run)

    def run(self) -> None:
        """Do what it is for."""

    def join(self, timeout: float | None = None) -> None:
        """Wait until it has come to its end, for so many seconds at most."""
        if (actor := self._actor) is None:
            return
        if timeout is None:
            self._stage.wait(lambda: actor.is_over)
        else:
            self._stage.wait_at_most(lambda: actor.is_over, timeout)


class Timer:
    """A thread that begins with a wait.

    Args:
        interval: for so many seconds; more than a thread can wait for ends it, as in Python.
    """

    def __init__(self, interval: float, function: Callable[[], object]) -> None:
        self._stage = here()
        self._interval, self._function = interval, function
        self._is_cancelled = False
        self._alarm: Alarm | None = None

    def start(self) -> None:
        """Have the wait begin; there is a thread for it only when that is over."""
        if self._interval < threading.TIMEOUT_MAX:
            self._alarm = self._stage.ring(self._interval, self._fire)

    def cancel(self) -> None:
        """Have it call nobody, if it has not."""
        self._is_cancelled = True
        if self._alarm is not None:
            self._stage.errand(self._alarm.cancel)

    def _fire(self) -> None:
        self._stage.start(self._run)

    def _run(self) -> None:
        if not self._is_cancelled:
            self._function()


RLock = Lock
