"""Errors of rows: their number, the share that may fail, and the errors that a journal stores."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from asyncwait.backends.journal import Attempt, Failure, JournalError, KeptFailure
from asyncwait.backends.journal._failures import is_open
from asyncwait.backends.services import transient
from asyncwait.backends.services._causes import cause_of, kind_of, most_frequent, tell_causes
from asyncwait.backends.spark.progress._figures import NAMED
from asyncwait.spec import (
    AsyncWaitError,
    CallFailed,
    CallTimedOut,
    InvalidConfig,
    OperatorError,
    Retry,
)
from asyncwait.spec.checks import is_number, require_whole
from asyncwait.spec.limits import NotCalled
from asyncwait.toolkit import cause_or_self


class SchemaMismatch(AsyncWaitError, TypeError):
    """A result does not fit the schema: its fields, or the type of a value.

    `retry` ignores it, because another attempt would not help.
    """


class TooManyFailed(AsyncWaitError):
    """More rows of a task have finally failed than `fail_after` allows: see `Share`.

    The message has the share, the counts, and the most frequent causes.
    """


class UnreadableRow(AsyncWaitError, ValueError):
    """A row has no Python values: the bytes of a text are not UTF-8."""


class EvaluatedTwice(UserWarning):
    """An action evaluates its input twice, so that each row is called twice.

    So do `orderBy`, `repartitionByRange` and some joins, which sample their input first. The
    warning is missing on Spark Connect, in actions of RDDs such as `foreach`, and for a union of a
    DataFrame with itself.
    """


def told_of(error: OperatorError) -> dict[str, Any]:
    cause = error if isinstance(error, CallTimedOut) else cause_or_self(error)
    kind = cause.failure.kind if isinstance(cause, KeptFailure) else kind_of(cause)
    return {"type": kind, "message": str(error), "attempts": error.attempts}


def cause_behind(error: OperatorError) -> str:
    """Return the cause under which a failed row counts; a stored failure keeps its first cause."""
    cause = cause_or_self(error)
    if isinstance(error, CallTimedOut) and cause is not error:
        return f"{kind_of(error)} ({cause_of(cause)})"
    return cause.failure.cause if isinstance(cause, KeptFailure) else cause_of(cause)


class Share(Struct, frozen=True):
    """The share of a task's rows that may finally fail: `fail_after=Share(0.05, of=1000)`.

    A task fails as soon as a row fails, at least `of` of its rows are decided, and more than this
    share of them has failed; the task is also checked at its end. Each task counts its own rows, so
    a task with fewer than `of` rows never fails early. A row has finally failed when `on_error` is
    called for it, whatever it returns. Rows from a journal count as well: stored results as decided
    rows, and stored failures as failed rows.

    The first failed task ends the job. A cluster first makes several attempts at the task
    (`spark.task.maxFailures`, 4), each of which calls again, except for results in a journal.

    Args:
        share: of the decided rows; 0 for none.
        of: number of decided rows before a task can fail early.

    Raises:
        InvalidConfig: an argument is out of its range.
    """

    share: float
    of: int = 1_000

    def __post_init__(self) -> None:
        if not is_number(self.share) or not 0 <= self.share < 1:
            raise InvalidConfig.of("share", self.share, "a number >= 0 and below 1")
        require_whole("of", self.of)


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

    def count(self, _row: Any, error: OperatorError) -> None:
        """Count a failure; raise `TooManyFailed` for a failure too many."""
        self._causes[cause_behind(error)] += 1
        self.judge(1)  # this row is not decided yet

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


class Failures:
    """Stores failures that no further call would change, if the journal stores failures."""

    def __init__(self, attempt: Attempt, retry: Retry | None, *, keeps_all: bool = False) -> None:
        self._attempt = attempt
        self._keeps_all = keeps_all
        self._may_pass = transient if retry is None else retry.on_error

    def keep(self, row: Any, error: OperatorError) -> None:
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
