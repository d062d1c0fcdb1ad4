"""An error of the operator as its consumer sees it, as data."""

from asyncwait.spec import OperatorError
from asyncwait.spec.scenario import Ending


def describe_failure(
    error: BaseException, at: float, source_error: BaseException | None = None
) -> Ending:
    """Return the ending of a leg whose consumer got `error` at the time `at` (ms)."""
    return Ending(
        "failed",
        at,
        error=type(error).__name__,
        record=error.record if isinstance(error, OperatorError) else None,
        cause="" if error.__cause__ is None else type(error.__cause__).__name__,
        unchanged=error is source_error,
        detail=str(error),
    )
