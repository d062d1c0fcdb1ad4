"""What is wrong with a row, or with what the function gives for one."""

from typing import Any

from asyncwait.backends.journal import KeptFailure
from asyncwait.spec import AsyncWaitError, OperatorError
from asyncwait.spec.texts import one_line

_LONGEST = 2_000


class SchemaMismatch(AsyncWaitError, TypeError):
    """A result does not fit the schema: its fields, or the type of a value.

    It is no error that another attempt would mend, so that `retry` passes it over.
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
    cause = error.__cause__ or error
    kind = (
        cause.failure.kind
        if isinstance(cause, KeptFailure)
        else one_line(type(cause).__name__, _LONGEST)
    )
    return {"type": kind, "message": str(error), "attempts": error.attempts}
