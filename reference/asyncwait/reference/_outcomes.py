"""What a call comes to, and how a function in callback form says so."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from asyncwait.reference._queues import RecordEntry
from asyncwait.reference._timers import Post


@dataclass(frozen=True, slots=True)
class Returned:
    """A call came to results.

    Args:
        supply: gives the results; called on the operator's loop, and may raise.
        at: when the call came to them, in seconds of the loop's clock.
    """

    supply: Callable[[], Any]
    at: float


@dataclass(frozen=True, slots=True)
class Raised:
    """A call came to an error.

    Args:
        error: of whatever kind (FAIL-5).
        at: when the call came to it, in seconds of the loop's clock.
        by_callback: the call itself raised it, in callback form: it may have completed its record
            before, and fails the operator all the same (FAIL-1).
    """

    error: BaseException
    at: float
    by_callback: bool = False


Outcome: TypeAlias = Returned | Raised
OnOutcome: TypeAlias = Callable[[RecordEntry, Outcome], Any]


class Completion:
    """The `ResultFuture` of one record, which a function in callback form completes.

    Each completion is a mail, whatever thread it comes from; the first one decides the record
    (RES-4, RES-5). When the operator is over it does nothing: the client's thread could do
    nothing about an error (departs from Flink's CO-15).

    Args:
        entry: the record's.
        clock: the loop's.
        post: sends a mail.
        on_outcome: the mail.
    """

    def __init__(
        self, entry: RecordEntry, clock: Callable[[], float], post: Post, on_outcome: OnOutcome
    ) -> None:
        self._entry = entry
        self._clock = clock
        self._post = post
        self._on_outcome = on_outcome

    def complete(self, results: Any) -> None:
        """Decide the record with `results`."""
        self._send(Returned(lambda: results, self._clock()))

    def complete_with(self, supplier: Callable[[], Any]) -> None:
        """Decide the record with what `supplier` returns; it is called on the operator's loop."""
        self._send(Returned(supplier, self._clock()))

    def complete_exceptionally(self, error: BaseException) -> None:
        """Decide the record with `error`."""
        self._send(Raised(error, self._clock()))

    def _send(self, outcome: Outcome) -> None:
        self._post(lambda: self._on_outcome(self._entry, outcome))
