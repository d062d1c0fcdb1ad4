"""What stands in a timeline, in words."""

from collections.abc import Iterable
from typing import Any

from asyncwait.spec import (
    Barrier,
    Element,
    LatencyMarker,
    Record,
    Snapshot,
    Watermark,
    WatermarkStatus,
)
from asyncwait.spec.scenario import CallEnded, Ending
from asyncwait.spec.texts import one_line, shown

MARK = ">>>"
"""Stands before what is wrong."""

LONGEST = 1_000
"""Characters of an error, or of a line of a timeline that is read event by event."""


def show(element: Element) -> str:
    """Return an element in a few characters."""
    match element:
        case Record():
            stamp = "" if element.timestamp is None else f"@{element.timestamp}"
            key = "" if element.key is None else f"/{one_line(element.key)}"
            return f"{shown(element.value)}{stamp}{key}"
        case Watermark():
            return f"watermark {element.timestamp}"
        case WatermarkStatus():
            return "idle" if element.idle else "active"
        case LatencyMarker():
            return f"marker {element.marked_at}"
        case Barrier():
            return f"barrier {element.checkpoint_id}"
        case Snapshot():
            stored = ", ".join(map(show, element.in_flight))
            return f"snapshot {element.checkpoint_id} [{stored}]"


def values(given: Iterable[Any]) -> str:
    """Return results in a few characters."""
    return ", ".join(map(shown, given)) or "nothing"


def how_ended(event: CallEnded) -> str:
    """Return what a call came to."""
    return f"gave {values(event.results)}" if event.how == "returned" else event.how


def ending_of(ending: Ending) -> str:
    """Return how a leg ended, with its error."""
    error = one_line(" ".join(filter(None, (ending.error, ending.detail))), LONGEST)
    return f"{ending.how}: {error}" if error else ending.how
