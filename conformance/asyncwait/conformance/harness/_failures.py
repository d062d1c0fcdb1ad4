"""An error of the operator as its consumer sees it, as data."""

from collections.abc import Callable, Iterable
from typing import TypeAlias

import asyncwait.spec
from asyncwait.conformance.harness._telling import no_element, text_of, traceback_of
from asyncwait.spec import AsyncWaitError, OperatorError, Record
from asyncwait.spec.scenario import Ending

Named: TypeAlias = Callable[[Record], tuple[Record, int | None]]


def describe_failure(
    error: BaseException,
    at: float,
    raised: Iterable[BaseException] = (),
    passing: Iterable[BaseException] = (),
    named: Named = lambda record: (record, None),
) -> Ending:
    """Return the ending of a leg whose consumer got `error`.

    Args:
        error: the very object.
        at: when, in ms.
        raised: the errors that calls have raised by plan.
        passing: those that hooks and the source have raised by plan.
        named: how a record that the error names is noted, and its number, if that is known.
    """
    unchanged = any(error is one for one in passing)
    expected = unchanged or isinstance(error, AsyncWaitError)
    record, number = _record(error, named)
    return Ending(
        "failed",
        at,
        error=_name(error),
        record=record,
        number=number,
        attempts=0 if record is None else _attempts(error),
        cause=_cause(error.__cause__, list(raised)),
        unchanged=unchanged,
        detail=text_of(error),
        traceback="" if expected else traceback_of(error),
    )


def _record(error: BaseException, named: Named) -> tuple[Record | None, int | None]:
    """Return the record that `error` names, if it names one, and its number, if that is known."""
    record = error.record if isinstance(error, OperatorError) else None
    if not isinstance(record, Record):
        return None, None
    record, number = named(record)
    return (None, None) if no_element(record) else (record, number)


def _attempts(error: BaseException) -> int:
    attempts = getattr(error, "attempts", 0)
    return attempts if isinstance(attempts, int) and attempts > 0 else 0


def _name(error: BaseException) -> str:
    """Name the class of `error`; one that only has the name of ours is not ours."""
    name = type(error).__name__
    ours = getattr(asyncwait.spec, name, None)
    return name if ours in {None, type(error)} else f"{type(error).__module__}.{name}"


def _cause(cause: BaseException | None, raised: list[BaseException]) -> str:
    """Name the class of the cause; one that only looks like what was raised is not that."""
    if cause is None:
        return ""
    name = type(cause).__name__
    if getattr(cause, "planned_cause", cause.__cause__) is not cause.__cause__:
        return f"{name} without its cause"
    alike = [one for one in raised if type(one) is type(cause)]
    return name if not alike or any(cause is one for one in alike) else f"another {name}"


__all__ = ["describe_failure"]
