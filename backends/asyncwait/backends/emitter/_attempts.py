"""One of the calls for a record, as it is seen by what reports its outcome."""

from collections.abc import Callable
from typing import Any

from asyncwait.backends.emitter._entries import Entry
from asyncwait.backends.emitter._records import Records


class Attempt:
    """The last call of a record that has begun, until there is another one.

    From then on nothing counts any more that it comes to (RETRY-9).
    """

    def __init__(self, entry: Entry, records: Records) -> None:
        self.entry = entry
        self._number = entry.attempts
        self._records = records

    @property
    def value(self) -> Any:
        """What the function is called with."""
        record: Any = self.entry.element
        return record.value

    @property
    def is_last(self) -> bool:
        """Whether its record was not called again since."""
        return self.entry.attempts == self._number

    def answer(self, supply: Callable[[], Any], at: float) -> None:
        """Report what gives the results of the call; see `Records.answer`."""
        if self.is_last:
            self._records.answer(self.entry, supply, at)

    def fail(self, error: BaseException, at: float, *, besides: bool = False) -> None:
        """Report an error that the call has raised or given; see `Records.fail`."""
        if self.is_last:
            self._records.fail(self.entry, error, at, besides=besides)
