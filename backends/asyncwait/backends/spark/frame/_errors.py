"""Errors of rows, and the share of rows that may fail."""

from typing import Any

from msgspec import Struct

from asyncwait.backends.journal import KeptFailure
from asyncwait.backends.services._causes import cause_of, kind_of
from asyncwait.spec import AsyncWaitError, CallTimedOut, InvalidConfig, OperatorError
from asyncwait.spec.checks import is_number, require_whole
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
