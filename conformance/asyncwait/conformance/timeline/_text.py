"""The timeline of a run as text, time from top to bottom, and words of its parts."""

from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import Any

from asyncwait.conformance.judging import Violation, figure_text
from asyncwait.spec import (
    Barrier,
    Element,
    LatencyMarker,
    Record,
    Snapshot,
    Watermark,
    WatermarkStatus,
)
from asyncwait.spec.scenario import (
    Blocked,
    CallCancelled,
    CallEnded,
    CallStarted,
    Closed,
    Ending,
    Event,
    FailureAsked,
    FiguresRead,
    HandlerAsked,
    HookRun,
    Leg,
    Misuse,
    Scenario,
    SinkGaveUp,
    SinkLeft,
    SinkTook,
    SinkWaits,
    SnapshotAsked,
    SourceAsked,
    SourceClosed,
    SourceEnded,
    Taken,
    Trace,
)
from asyncwait.spec.texts import one_line, printable, shortened, shown

WIDTHS = (24, 34)
"""Widths of the columns for input and calls; output takes the rest."""

LONGEST = 1_000
"""Longest line, in characters: values are unbounded."""


def draw(scenario: Scenario, trace: Trace, violation: Violation | None = None) -> list[str]:
    """Return a timeline of `trace`, with a mark at `violation`.

    Columns: milliseconds, input, calls, output.
    """
    lines: list[str] = []
    for number, leg in enumerate(trace.legs):
        if len(trace.legs) > 1:
            lines.append(f"leg {number + 1} ({leg.mode}, capacity {leg.capacity})")
        mark = violation if violation is not None and violation.leg == number else None
        lines += _draw_leg(scenario, leg, mark)
    return list(map(bounded, lines))


def bounded(line: str) -> str:
    """Return a line that fits a terminal, whatever values it shows."""
    return shortened(printable(line), LONGEST)


def _draw_leg(scenario: Scenario, leg: Leg, violation: Violation | None) -> Iterator[str]:
    yield HEAD
    marked = violation is None
    last = ""
    last_wait = _last_wait(leg)
    for event in sorted(leg.events, key=attrgetter("at")):  # An answer may be noted late.
        if not marked and violation is not None and event.at > violation.at:
            yield f"{violation.at:>6g}  {MARK} {violation.text}"
            marked = True
        if isinstance(event, _UNTOLD) and event is not last_wait:
            continue
        cells = _cells(scenario, event)
        at = f"{event.at:g}"
        yield _row("" if at == last else at, *cells)
        last = at
    ending = leg.ending
    if not marked and violation is not None:
        yield f"{violation.at:>6g}  {MARK} {violation.text}"
    yield f"{ending.at:>6g}  {ending_of(ending)}"


def _row(at: str, source: str, calls: str, sink: str) -> str:
    return f"{at:>6}  {source:<{WIDTHS[0]}}{calls:<{WIDTHS[1]}}{sink}".rstrip()


HEAD = _row("ms", "input", "calls", "output")
"""The names of the columns."""


def event_line(scenario: Scenario, event: Event) -> str:
    """Return the line of an event alone in a timeline, whatever its kind."""
    return _row(f"{event.at:g}", *_cells(scenario, event))


_UNTOLD = (SourceAsked, SinkWaits, Closed)
"""Events that a timeline leaves out, because later events imply them."""


def _cells(scenario: Scenario, event: Event) -> tuple[str, str, str]:
    match event:
        case SourceAsked():
            return "(asked)", "", ""
        case Taken():
            return show(scenario.inputs[event.index].element), "", ""
        case SourceEnded():
            return "error" if event.raised else "end", "", ""
        case SourceClosed():
            return "closed", "", ""
        case CallStarted():
            return "", f"#{event.call} {shown(event.value)} called{in_batch(event.batch)}", ""
        case CallCancelled():
            return "", f"#{event.call} cancelled", ""
        case CallEnded():
            ended = "ended" if event.how == "cancelled" else how_ended(event)
            return "", f"#{event.call} {ended}", ""
        case HandlerAsked():
            return "", f"timeout({shown(event.value)}) asked", ""
        case FailureAsked():
            return "", f"failure({shown(event.value)}, {event.error}) asked", ""
        case HookRun():
            return "", event.hook, ""
        case Blocked():
            return "", f"(the loop is blocked until {event.until:g})", ""
        case Misuse():
            return "", f"({event.detail}: {event.what})", ""
        case SinkTook():
            return "", "", show(event.element)
        case FiguresRead():
            return "", "", f"({figures(event)})"
        case SnapshotAsked():
            return "", "", f"(snapshot {event.checkpoint_id} requested)"
        case SinkGaveUp():
            return "", "", "(gave up waiting)"
        case SinkLeft():
            return "", "", "(left, raising)" if event.raising else "(left)"
        case SinkWaits():
            return "", "", "(waits)"
        case Closed():
            return "", "", "(context left)"


def _last_wait(leg: Leg) -> Event | None:
    """Return the last wait if nothing ends it: the elements imply the other waits."""
    for event in reversed(leg.events):
        if isinstance(event, SinkTook | SinkGaveUp | SinkLeft):
            return None
        if isinstance(event, SinkWaits):
            return event
    return None


MARK = ">>>"
"""Prefix of a violation."""


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
    """Return the outcome of a call in words."""
    return f"gave {values(event.results)}" if event.how == "returned" else event.how


_LETTERS = "ABCDGHJKMNPQRSUVWXYZ"
"""The letters of batches, none of them a letter of a mark; they repeat after a while."""


def in_batch(number: int | None) -> str:
    """Return the batch of a call in words; empty if it is in none."""
    return "" if number is None else f" in batch {_LETTERS[number % len(_LETTERS)]}"


def ending_of(ending: Ending) -> str:
    """Return the ending of a leg, with its error."""
    error = one_line(" ".join(filter(None, (ending.error, ending.detail))), LONGEST)
    return f"{ending.how}: {error}" if error else ending.how


def figures(event: FiguresRead) -> str:
    """Return the figures that were read, without those that are 0."""
    told = {name: getattr(event, name) for name in event.__struct_fields__ if name != "at"}
    there = [
        f"{name} {figure_text(figure)}"
        for name, figure in told.items()
        if (any(figure) if isinstance(figure, tuple) else figure)
    ]
    return ", ".join(there) or "all 0"
