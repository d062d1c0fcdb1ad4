"""Rows that have finally failed: their number, and those that a journal stores."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from asyncwait.backends.journal import Attempt, Failure, JournalError, KeptFailure
from asyncwait.backends.journal._failures import is_open
from asyncwait.backends.services import transient
from asyncwait.backends.services._causes import OTHER, most_frequent, tell_causes
from asyncwait.backends.spark.frame._errors import Share, TooManyFailed, cause_behind
from asyncwait.backends.spark.frame._rows import InputRow
from asyncwait.backends.spark.progress._figures import NAMED
from asyncwait.spec import CallFailed, OperatorError, Retry
from asyncwait.spec.limits import NotCalled

_MOST_CAUSES = 1_000
"""Number of causes that a task distinguishes: a function may make a class for each error."""


class FailedRows:
    """Counts the rows of a task that have finally failed, whatever their treatment.

    Args:
        allowed: number of rows that may fail; None for any number.
        decided: returns the number of decided rows; called on the loop.
    """

    def __init__(self, allowed: Share | None = None, decided: Callable[[], int] = int) -> None:
        self._allowed = allowed
        self._decided = decided
        self._causes = Counter[str]()

    @property
    def causes(self) -> dict[str, int]:
        """The number of failed rows by cause; for any thread."""
        return dict(self._causes)

    def behind(self, keep: Callable[[InputRow, OperatorError], Any]) -> Callable[..., None]:
        """Return a function that receives each failure after `keep`.

        It raises `TooManyFailed` for a failure too many.
        """

        def seen(row: InputRow, error: OperatorError) -> None:
            keep(row, error)
            self._count(cause_behind(error))
            self.judge(1)  # this row is not decided yet

        return seen

    def judge(self, more: int = 0) -> None:
        """Check that not too many rows have failed.

        Raises:
            TooManyFailed: more rows have failed than allowed.
        """
        if (allowed := self._allowed) is None:
            return
        failed, decided = self._causes.total(), self._decided() + more
        if decided >= allowed.of and failed / decided > allowed.share:
            told = ", ".join(tell_causes(most_frequent(self._causes, NAMED)))
            raise TooManyFailed(
                f"{failed:,} of {decided:,} rows of this task have failed, more than "
                f"fail_after={allowed} allows: {told}"
            )

    def _count(self, cause: str) -> None:
        is_known = cause in self._causes or len(self._causes) < _MOST_CAUSES
        self._causes[cause if is_known else OTHER] += 1


class Failures:
    """Stores failures that no further call would change, if the journal stores failures."""

    def __init__(self, attempt: Attempt, retry: Retry | None, *, keeps_all: bool = False) -> None:
        self._attempt = attempt
        self._keeps_all = keeps_all
        self._may_pass = transient if retry is None else retry.on_error

    def keep(self, row: InputRow, error: OperatorError) -> None:
        """Store a failure in the journal; describe a failure from the journal as at first.

        Raises:
            JournalError: the failure can't be stored.
        """
        cause = error.__cause__
        if isinstance(cause, KeptFailure):
            was = cause.failure
            error.__init__(error.record, was.reason, was.attempts)  # type: ignore[misc]
        elif self._attempt.keeps_failures and self._is_final(error):
            try:
                self._attempt.add_failure(Failure.of(row.key, error))
            except OSError as raised:
                raise JournalError(f"the journal can't be written: {raised}") from raised

    def _is_final(self, error: OperatorError) -> bool:
        cause = error.__cause__
        if self._keeps_all:
            return not isinstance(cause, NotCalled | JournalError)
        try:
            if not isinstance(error, CallFailed) or is_open(cause):
                return False
            return not self._may_pass(cause)  # type: ignore[arg-type]
        except Exception:  # An error of the predicate, which the operator has reported.
            return False
