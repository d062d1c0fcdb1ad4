"""What is wrong with a row, or with what the function gives for one."""

from typing import Any

from asyncwait.backends.journal import KeptFailure
from asyncwait.backends.services._causes import cause_of, kind_of
from asyncwait.spec import AsyncWaitError, CallTimedOut, OperatorError
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
    """Return what the error column holds."""
    cause = error if isinstance(error, CallTimedOut) else cause_or_self(error)
    kind = cause.failure.kind if isinstance(cause, KeptFailure) else kind_of(cause)
    return {"type": kind, "message": str(error), "attempts": error.attempts}


def cause_behind(error: OperatorError) -> str:
    """Return what a row that has failed is counted as; one that is kept as it was at first."""
    cause = cause_or_self(error)
    if isinstance(error, CallTimedOut) and cause is not error:
        return f"{kind_of(error)} ({cause_of(cause)})"
    return cause.failure.cause if isinstance(cause, KeptFailure) else cause_of(cause)
