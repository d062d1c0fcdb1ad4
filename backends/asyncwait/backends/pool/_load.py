"""A call that records with one key share, and what it comes to for each of them."""

from collections.abc import Callable
from typing import Any, ClassVar

from msgspec import Struct

from asyncwait.backends.pool._order import Entry
from asyncwait.backends.pool._workers import Worker
from asyncwait.spec import InvalidResult, OperatorError, Record
from asyncwait.toolkit import NoAnswer, Permit, cause_or_self, collect_results, settled, uncosted


class Load(Struct, eq=False):
    """One call of the function for the records of a key, each of which may leave it alone.

    It stands for the worker of their entries.

    Args:
        place: the stand-in of the key; `NULL_KEY` for a call that no record shares.
        value: which the function is called with.
        close: called when the last record has left.
        is_ahead: whether it began before a record needed it; it runs on until a record has left it.
        is_open: whether others may join.
        first: the record that has begun it; None if it runs in the background.
        entries: those that have joined; some may have left, of which few are decided.
        staying: how many have not.
        began: when the function was called, in seconds of the loop's clock.
        worker: who runs it.
        entry: the load itself, while the function runs.
        permit: the permit for the call, or the request for one; None without limits, and when the
            call has begun.
    """

    scope: ClassVar[tuple[()]] = ()
    """There is something to cancel."""

    place: Any
    value: Any
    close: "Callable[[Load], object]"
    is_ahead: bool = False
    is_open: bool = True
    first: Entry | None = None
    entries: list[Entry] = []
    most: int = 64
    staying: int = 0
    began: float = 0.0
    worker: Worker | None = None
    entry: "Load | None" = None
    permit: Permit | None = None

    def join(self, entry: Entry) -> None:
        """Have a record wait for it."""
        entry.worker = self
        if not (self.entries or self.is_ahead):
            self.first = entry
        if len(self.entries) >= self.most:  # A load that hangs may be left often.
            self.entries = [each for each in self.entries if each.results is None]
            self.most = 64 + 2 * len(self.entries)
        self.entries.append(entry)
        self.staying += 1

    def forget(self) -> None:
        """Hold nothing of what it was for: its records, which may have been emitted, hold it."""
        self.entries.clear()
        self.value = self.first = None

    @property
    def is_wanted(self) -> bool:
        """True while records wait for the load, or it runs ahead of demand."""
        return self.staying > 0 or (self.is_ahead and not self.entries)

    @property
    def lingers(self) -> bool:
        """Whether a record that has left waits for its end before another call (RETRY-10).

        While others wait for it, it may join again.
        """
        return self.entry is not None and not self.is_wanted

    def cancel(self) -> bool:
        """Have one record leave; tell whether it was the last, so that the call is cancelled."""
        self.staying -= 1
        if self.is_wanted:
            return False
        self.close(self)
        if self.entry is None:  # It has not begun, or is over.
            return False
        assert self.worker is not None
        return self.worker.cancel()

    def is_begun_by(self, entry: Entry) -> bool:
        """Tell whether a record has begun it, and not joined."""
        return self.first is entry


def results_of_load(load: Load, returned: Any, *, single: bool) -> tuple[Any, ...]:
    """Return the results that a call has given.

    Args:
        load: whose call it was.
        returned: by the function.
        single: whether that is the one result, and no collection.

    Raises:
        NoAnswer: it is no collection.
        WrongFunction: it is unfinished work.
        BaseException: what reading it has raised.
    """
    if single:
        return (settled("fn", uncosted(returned)),)
    try:
        return collect_results(Record(load.value), returned)
    except InvalidResult as error:  # of a record that stands for all that share the load
        raise NoAnswer(error.reason) from None
    except OperatorError as error:
        raise cause_or_self(error) from None
