"""Functions that block, and what tests of calls in threads do with them."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from remains import wait_until

from asyncwait.backends.threads import key_ordered_wait, ordered_wait, unordered_wait

WAITS: dict[str, Any] = {
    "ordered": ordered_wait,
    "unordered": unordered_wait,
    "key-ordered": lambda *args, **options: key_ordered_wait(*args, key=hash, **options),
}
"""The plain forms of all modes, each of which takes what the others take."""

SECONDS = 20.0
"""A wait that takes so long has failed."""


def ours() -> list[str]:
    names = (thread.name for thread in threading.enumerate())
    return sorted(name for name in names if name.startswith("asyncwait-"))


def await_event(event: threading.Event) -> None:
    assert event.wait(SECONDS), "nobody has set the event"


class Gated:
    """A function whose call waits until the gate of its value is opened; it gives that back.

    Args:
        opened: values whose gates are open.

    Attributes:
        began: the values of all calls, as they began.
        ended: the values of those that have ended.
        most: the most calls that ran at a time.
        threads: the threads that ran any.
    """

    def __init__(self, *opened: Any) -> None:
        self._lock = threading.Lock()
        self._gates: dict[Any, threading.Event] = {}
        self._all_open = False
        self._running = 0
        self.began: list[Any] = []
        self.ended: list[Any] = []
        self.most = 0
        self.threads: set[threading.Thread] = set()
        self.open_for(*opened)

    def __call__(self, value: Any) -> Any:
        with self._lock:
            self.began.append(value)
            self.threads.add(threading.current_thread())
            self._running += 1
            self.most = max(self.most, self._running)
        await_event(self._gate(value))
        with self._lock:
            self._running -= 1
            self.ended.append(value)
        return value

    def _gate(self, value: Any) -> threading.Event:
        with self._lock:
            gate = self._gates.setdefault(value, threading.Event())
            if self._all_open:
                gate.set()
            return gate

    def open_for(self, *values: Any) -> None:
        for value in values:
            self._gate(value).set()

    def open_all(self) -> None:
        with self._lock:
            self._all_open = True
            for gate in self._gates.values():
                gate.set()

    def until_began(self, count: int) -> None:
        wait_until(lambda: len(self.began) >= count)

    @contextmanager
    def opened_later(self, is_time: Callable[[], bool] = lambda: True) -> Iterator[None]:
        """Open all gates, from another thread, once it is time to; at the end it has happened."""

        def open_then() -> None:
            wait_until(is_time)
            self.open_all()

        thread = threading.Thread(target=open_then)
        thread.start()
        try:
            yield
        finally:
            thread.join()
