"""What a call comes to, and how a function in callback form says so."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class Returned:
    """A call came to results.

    Args:
        given: the results; or a function that gives them.
        at: when the call came to them, in seconds of the loop's clock.
        is_supplied: whether it is a function, to be called on the operator's loop; it may raise.
    """

    given: Any
    at: float
    is_supplied: bool = False


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


class Completion:
    """The `ResultFuture` of one record, which a function in callback form completes.

    Each completion is a mail, whatever thread it comes from; the first one decides the record
    (RES-4, RES-5). When the operator is over it does nothing: the client's thread could do
    nothing about an error (departs from Flink's CO-15).

    Args:
        send: sends a mail with an outcome.
        clock: the loop's.
    """

    def __init__(self, send: Callable[[Outcome], object], clock: Callable[[], float]) -> None:
        self.send = send
        self.clock = clock

    def complete(self, results: Any) -> None:
        """Decide the record with `results`."""
        self.send(Returned(results, self.clock()))

    def complete_with(self, supplier: Callable[[], Any]) -> None:
        """Decide the record with what `supplier` returns; it is called on the operator's loop."""
        self.send(Returned(supplier, self.clock(), is_supplied=True))

    def complete_exceptionally(self, error: BaseException) -> None:
        """Decide the record with `error`."""
        self.send(Raised(error, self.clock()))
