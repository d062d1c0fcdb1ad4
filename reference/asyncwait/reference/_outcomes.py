"""Outcomes of calls, and the future that a function in callback form completes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class Returned:
    """Outcome of a call with results.

    Args:
        given: the results; or a function that returns them.
        at: time of the outcome, in seconds of the loop's clock.
        is_supplied: whether `given` is a function, to be called on the operator's loop; it may
            raise.
    """

    given: Any
    at: float
    is_supplied: bool = False


@dataclass(frozen=True, slots=True)
class Raised:
    """Outcome of a call with an error.

    Args:
        error: an error of any class (FAIL-5).
        at: time of the outcome, in seconds of the loop's clock.
        by_callback: whether a call in callback form itself raised: such an error fails the operator
            even if the call has completed its record before (FAIL-1).
    """

    error: BaseException
    at: float
    by_callback: bool = False


Outcome: TypeAlias = Returned | Raised


class Completion:
    """The `ResultFuture` of one record, which a function in callback form completes.

    Each completion is a mail, from any thread; the first completion decides the record (RES-4,
    RES-5). When the operator is over, a completion does nothing: the client's thread could not
    handle an error (departs from Flink's CO-15).

    Args:
        send: sends a mail with an outcome.
        clock: clock of the loop.
    """

    def __init__(self, send: Callable[[Outcome], object], clock: Callable[[], float]) -> None:
        self.send = send
        self.clock = clock

    def complete(self, results: Any) -> None:
        """Decide the record with `results`."""
        self.send(Returned(results, self.clock()))

    def complete_with(self, supplier: Callable[[], Any]) -> None:
        """Decide the record with the results of `supplier`, called on the operator's loop."""
        self.send(Returned(supplier, self.clock(), is_supplied=True))

    def complete_exceptionally(self, error: BaseException) -> None:
        """Decide the record with `error`."""
        self.send(Raised(error, self.clock()))
