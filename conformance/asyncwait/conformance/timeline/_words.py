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

MARK = ">>>"
"""Stands before what is wrong."""


def show(element: Element) -> str:
    """Return an element in a few characters."""
    match element:
        case Record():
            stamp = "" if element.timestamp is None else f"@{element.timestamp}"
            key = "" if element.key is None else f"/{element.key}"
            return f"{element.value!r}{stamp}{key}"
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
    return ", ".join(map(repr, given)) or "nothing"


def how_ended(event: CallEnded) -> str:
    """Return what a call came to."""
    return f"gave {values(event.results)}" if event.how == "returned" else event.how


def ending_of(ending: Ending) -> str:
    """Return how a leg ended, with its error."""
    error = " ".join(filter(None, (ending.error, ending.detail))).rstrip()
    return f"{ending.how}: {error}" if error else ending.how


def printable(text: str) -> str:
    """Return `text` without what would change how its neighbours are shown.

    Control characters, and those that turn the direction of writing, are written as escapes: a
    value or an error is whatever its author made it.
    """
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
