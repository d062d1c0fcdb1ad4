"""Causes of many errors, with their counts, as text for people."""

from collections import Counter
from collections.abc import Mapping

from asyncwait.spec.texts import one_line
from asyncwait.toolkit import causes, status_of

OTHER = "other"
"""Name for all causes without a count of their own."""


def kind_of(error: BaseException) -> str:
    """Return the printable name of an error's class."""
    return one_line(type(error).__name__)


def cause_of(error: BaseException) -> str:
    """Return the cause by which an error is counted: its class, with its HTTP status if any."""
    return cause_named(kind_of(error), status_behind(error))


def cause_named(kind: str, status: int | None) -> str:
    """Return the cause of a known class and status."""
    return kind if status is None else f"{kind} {status}"


def status_behind(error: BaseException) -> int | None:
    """Return the first HTTP status among an error and its causes; None without a status."""
    try:
        found = map(status_of, causes(error))
        return next((status for status in found if status is not None), None)
    except Exception:  # raised by a property of the user's class
        return None


def most_frequent(counts: Mapping[str, int], most: int) -> dict[str, int]:
    """Return the most frequent causes first, and after them the sum of the others.

    Args:
        counts: number of errors of each cause.
        most: number of named causes.
    """
    named = Counter({cause: count for cause, count in counts.items() if cause != OTHER})
    frequent = dict((+named).most_common(most))
    rest = sum(counts.values()) - sum(frequent.values())
    return {**frequent, OTHER: rest} if rest else frequent


def tell_causes(counts: Mapping[str, int]) -> list[str]:
    """Return a text with the count of each cause."""
    return [f"{count:,} {one_line(cause)}" for cause, count in counts.items()]
