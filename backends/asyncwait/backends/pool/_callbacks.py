"""The callback form: outcomes arrive from any thread and are decided on the loop."""

from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, TypeAlias

from asyncwait.backends.pool._bell import door_of_loop
from asyncwait.backends.pool._core import Core
from asyncwait.backends.pool._order import Entry

Outcome: TypeAlias = Callable[[Core, Entry], None]
"""What decides a record when it is called with it."""


class PoolResultFuture:
    """Where the function puts the outcome of one record; the first one counts."""

    __slots__ = ("_entry", "_inbox", "completed")

    def __init__(self, inbox: "Inbox", entry: Entry) -> None:
        self._inbox = inbox
        self._entry = entry
        self.completed = False
        """Whether there is an outcome, decided upon or not."""

    def complete(self, results: Iterable[Any]) -> None:
        """Decide the record with `results`."""
        self._put(lambda core, entry: core.settle(entry, results))

    def complete_with(self, supplier: Callable[[], Iterable[Any]]) -> None:
        """Decide the record with what `supplier` returns; it is called on the operator's loop."""
        self._put(lambda core, entry: core.settle(entry, supplier()))

    def complete_exceptionally(self, error: BaseException) -> None:
        """Decide the record with `error`."""
        self._put(lambda core, entry: core.call_raised(entry, _as_error(error)))

    def _put(self, outcome: Outcome) -> None:
        self.completed = True
        self._inbox.put(self._entry, outcome)


class Inbox:
    """Outcomes that wait for the loop; many of them share one wake-up.

    Args:
        wake: called on the loop when there is something to process.
        beat: decides a record whose deadline has passed, and tells so.
    """

    def __init__(self, wake: Callable[[], None], beat: Callable[[Entry], bool]) -> None:
        self._wake = wake
        self._beat = beat
        self._outcomes: deque[tuple[Entry, Outcome]] = deque()
        self._door = door_of_loop()
        self._armed = False
        self._closed = False

    def future(self, entry: Entry) -> PoolResultFuture:
        """Return where the outcome of `entry` goes."""
        return PoolResultFuture(self, entry)

    def put(self, entry: Entry, outcome: Outcome) -> None:
        """Hand in an outcome, from any thread."""
        if self._closed:
            return
        self._outcomes.append((entry, outcome))
        if not self._armed:
            self._armed = True
            with suppress(RuntimeError):  # The loop is gone, and the operator with it.
                self._door(self._arrive)

    def _arrive(self) -> None:
        # Cleared before anything is taken out: what comes later than this arms it again.
        self._armed = False
        self._wake()

    def process(self, core: Core) -> None:
        """Decide what the outcomes say, in the order of their arrival."""
        outcomes = self._outcomes
        while outcomes:
            entry, outcome = outcomes.popleft()
            if entry.results is not None or core.closed or self._beat(entry):
                continue
            try:
                outcome(core, entry)
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException as error:
                core.call_raised(entry, error)

    def close(self) -> None:
        """Ignore whatever comes from now on."""
        self._closed = True
        self._outcomes.clear()


def _as_error(error: object) -> BaseException:
    if isinstance(error, BaseException):
        return error
    return TypeError(f"complete_exceptionally() takes an exception, got {error!r}")
