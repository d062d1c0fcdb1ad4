"""Causes of many errors, with their counts, as people read them."""

from collections import Counter
from collections.abc import Mapping

from asyncwait.spec.texts import one_line
from asyncwait.toolkit import causes, status_of

OTHER = "other"
"""Stands for all causes that are not named."""


def kind_of(error: BaseException) -> str:
    """Return the name of an error's class, as it may be printed."""
    return one_line(type(error).__name__)


def cause_of(error: BaseException) -> str:
    """Return what an error is counted as: its class, and the HTTP status behind it."""
    return cause_named(kind_of(error), status_behind(error))


def cause_named(kind: str, status: int | None) -> str:
    """Return the same where class and status are known."""
    return kind if status is None else f"{kind} {status}"


def status_behind(error: BaseException) -> int | None:
    """Return the HTTP status of an error, or of one behind it; None if there is none."""
    try:
        found = map(status_of, causes(error))
        return next((status for status in found if status is not None), None)
    except Exception:  # of a property of the user's class
        return None


def most_frequent(counts: Mapping[str, int], most: int) -> dict[str, int]:
    """Return the causes that are most frequent, these first, and behind them the rest as other.

    Args:
        counts: how often there was each.
        most: so many are named.
    """
    named = Counter({cause: count for cause, count in counts.items() if cause != OTHER})
    frequent = dict((+named).most_common(most))
    rest = sum(counts.values()) - sum(frequent.values())
    return {**frequent, OTHER: rest} if rest else frequent


def tell_causes(counts: Mapping[str, int]) -> list[str]:
    """Say of each cause how often there was it."""
    return [f"{count:,} {one_line(cause)}" for cause, count in counts.items()]
