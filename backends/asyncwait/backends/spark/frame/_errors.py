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

    It is no error that another attempt would mend, so that `retry` passes it over.
    """


class TooManyFailed(AsyncWaitError):
    """More rows of a task have failed for good than `fail_after` allows: see `Share`.

    The message has the share, the counts, and the most frequent causes.
    """


class UnreadableRow(AsyncWaitError, ValueError):
    """A row can't be given to the function: the bytes of a text are not UTF-8."""


class EvaluatedTwice(UserWarning):
    """An action evaluates its input twice, so that each row is called for twice.

    So do `orderBy`, `repartitionByRange` and some joins, which sample their input first. It is not
    noticed on Spark Connect, in actions of RDDs such as `foreach`, nor where a DataFrame is in a
    union with itself.
    """


def told_of(error: OperatorError) -> dict[str, Any]:
    cause = error if isinstance(error, CallTimedOut) else cause_or_self(error)
    kind = cause.failure.kind if isinstance(cause, KeptFailure) else kind_of(cause)
    return {"type": kind, "message": str(error), "attempts": error.attempts}


def cause_behind(error: OperatorError) -> str:
    """Return the cause that a failed row counts for; a stored failure counts as at first."""
    cause = cause_or_self(error)
    if isinstance(error, CallTimedOut) and cause is not error:
        return f"{kind_of(error)} ({cause_of(cause)})"
    return cause.failure.cause if isinstance(cause, KeptFailure) else cause_of(cause)


class Share(Struct, frozen=True):
    """The share of a task's rows that may fail for good: `fail_after=Share(0.05, of=1000)`.

    A task fails as soon as a row fails, at least `of` of its rows are decided, and more than this
    share of them has failed; and at its end, if that is so then. Each task counts its own rows, so
    one with fewer than `of` is never ended early. A row has failed for good when `on_error` is
    asked about it, whatever comes of that. What a journal has counts as well: results as rows that
    are decided, and the failures that it keeps as rows that have failed.

    A job ends with its first task that fails. A cluster makes several attempts at that before
    (`spark.task.maxFailures`, 4), each of which calls again; not for what is in a journal.

    Args:
        share: of the rows that are decided; 0 for none.
        of: rows that have to be decided before anything is judged.

    Raises:
        InvalidConfig: an argument is out of its range.
    """

    share: float
    of: int = 1_000

    def __post_init__(self) -> None:
        if not is_number(self.share) or not 0 <= self.share < 1:
            raise InvalidConfig.of("share", self.share, "a number >= 0 and below 1")
        require_whole("of", self.of)
