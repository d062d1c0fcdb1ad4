"""A call that records with one key share, and its outcome for each of them."""

from collections.abc import Callable
from typing import Any, ClassVar

from msgspec import Struct

from asyncwait.backends.pool._order import Entry
from asyncwait.backends.pool._workers import Worker
from asyncwait.spec import InvalidResult, OperatorError, Record
from asyncwait.toolkit import NoAnswer, Permit, cause_or_self, collect_results, settled, uncosted


class Load(Struct, eq=False):
    """One call of the function for the records of a key, each of which may leave it alone.

    It is the worker of their entries.

    Args:
        place: the stand-in of the key; `NULL_KEY` for a call that no record shares.
        value: the argument of the function.
        close: called when the last record has left.
        is_ahead: whether it began before a record needed it; it runs on until a record has left it.
        is_open: whether other records may join.
        first: the record that began it; None if it runs in the background.
        entries: the records that have joined; some may have left, of which few are decided.
        staying: number of records that have not left.
        began: when the function was called, in seconds of the loop's clock.
        worker: the worker that runs it.
        entry: the load itself, while the function runs.
        permit: the permit for the call, or the request for one; None without limits, and when the
            call has begun.
    """

    scope: ClassVar[tuple[()]] = ()
    """Not None, because the call can be cancelled."""

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
        """Add a record that waits for the load."""
        entry.worker = self
        if not (self.entries or self.is_ahead):
            self.first = entry
        if len(self.entries) >= self.most:  # A load that hangs may be left often.
            self.entries = [each for each in self.entries if each.results is None]
            self.most = 64 + 2 * len(self.entries)
        self.entries.append(entry)
        self.staying += 1

    def forget(self) -> None:
        """Drop its records, which may have been emitted and refer to it."""
        self.entries.clear()
        self.value = self.first = None

    @property
    def is_wanted(self) -> bool:
        """True while records wait for the load, or it runs ahead of demand."""
        return self.staying > 0 or (self.is_ahead and not self.entries)

    @property
    def lingers(self) -> bool:
        """Whether a record that has left waits for its end before another call (RETRY-10).

        While other records wait for the load, the record may join again.
        """
        return self.entry is not None and not self.is_wanted

    def cancel(self) -> bool:
        """Remove one record; return whether it was the last one, so that the call is cancelled."""
        self.staying -= 1
        if self.is_wanted:
            return False
        self.close(self)
        if self.entry is None:  # The call has not begun, or is over.
            return False
        assert self.worker is not None
        return self.worker.cancel()


def results_of_load(load: Load, returned: Any, *, single: bool) -> tuple[Any, ...]:
    """Return the results of a call.

    Args:
        load: the load of the call.
        returned: the return value of the function.
        single: whether `returned` is the one result, and no collection.

    Raises:
        NoAnswer: `returned` is no collection.
        WrongFunction: `returned` is unfinished work.
        BaseException: the error of reading `returned`.
    """
    if single:
        return (settled("fn", uncosted(returned)),)
    try:
        return collect_results(Record(load.value), returned)
    except InvalidResult as error:  # for a record that represents all records of the load
        raise NoAnswer(error.reason) from None
    except OperatorError as error:
        raise cause_or_self(error) from None
