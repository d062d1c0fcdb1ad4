"""What a call comes to, and how a function in callback form says so."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import anyio

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
    """

    error: BaseException
    at: float


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


def must_pass(error: BaseException) -> bool:
    """Say whether `error` is meant for the whole program, be it alone or in a group."""
    if isinstance(error, BaseExceptionGroup):
        return error.subgroup((KeyboardInterrupt, SystemExit)) is not None
    return isinstance(error, KeyboardInterrupt | SystemExit)


def was_asked_for(error: BaseException) -> bool:
    """Say whether `error` is a cancellation that the operator, or somebody outside, asked for.

    If user code has made it up, the scope that it arrives in is not cancelled, and it is an error
    like any other (FAIL-5).
    """
    if not isinstance(error, anyio.get_cancelled_exc_class()):
        return False
    return anyio.current_effective_deadline() == -math.inf
