"""What a run comes to, without what is open in it: the order inside a segment, and all times."""

import json
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct

from asyncwait.spec._elements import (
    LatencyMarker,
    Record,
    Snapshot,
    Watermark,
    WatermarkStatus,
)
from asyncwait.spec.scenario import Scenario, SinkTook, Trace

Segment: TypeAlias = Annotated[
    tuple[Record | Watermark | WatermarkStatus, ...],
    Meta(description="Records between two fences, or a fence alone."),
]


class Outcome(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a run comes to.

    Args:
        how: the consumer sees the stream "finished", or it gets an error, so the operator "failed".
        order: inside a segment records come out as they are "given", or in "any" order.
        output: what comes out, segment by segment, latency markers and snapshots left out; null
            where the time of a failure decides how much comes out before it.
        error: class name of the error that the consumer gets; empty for none.
        record: the input record that the error names.
    """

    how: Literal["finished", "failed"]
    order: Literal["given", "any"]
    output: tuple[Segment, ...] | None = None
    error: str = ""
    record: Record | None = None

    def differs(self, scenario: Scenario, trace: Trace) -> str:
        """Return how a run comes to something else; empty if it does not.

        Args:
            scenario: whose outcome this is.
            trace: of the run.
        """
        seen = outcome_of(scenario, trace)
        if seen is None:
            return f"expected it to be {self.how}, it {trace.legs[-1].ending.how}"
        for name in ("how", "error", "record"):
            expected, got = (_said(getattr(each, name)) for each in (self, seen))
            if expected != got:
                return f"expected {name} {expected}, got {got}"
        return "" if self.output is None else self._output_differs(seen.output or ())

    def _output_differs(self, seen: tuple[Segment, ...]) -> str:
        assert self.output is not None
        for number, (expected, got) in enumerate(zip(self.output, seen, strict=False)):
            ours, theirs = _canonical(expected), _canonical(got)
            if self.order == "any":
                ours, theirs = sorted(ours), sorted(theirs)
            if ours != theirs:
                return f"segment {number}: expected {', '.join(ours)}, got {', '.join(theirs)}"
        if len(self.output) == len(seen):
            return ""
        return f"expected {len(self.output)} segments, got {len(seen)}"


def outcome_of(scenario: Scenario, trace: Trace) -> Outcome | None:
    """Return what a run has come to; None if it did not end by itself, or in several legs.

    Args:
        scenario: that was played.
        trace: of the run.
    """
    leg = trace.legs[-1]
    if len(trace.legs) > 1:
        return None
    match leg.ending.how:
        case "finished" | "failed" as how:
            taken = [event.element for event in leg.events if isinstance(event, SinkTook)]
            order: Literal["given", "any"] = "given" if scenario.mode == "ordered" else "any"
            return Outcome(how, order, _segments(taken), leg.ending.error, leg.ending.record)
        case _:
            return None


def _segments(taken: list[Any]) -> tuple[Segment, ...]:
    segments: list[list[Any]] = [[]]
    for element in taken:
        match element:
            case Record():
                segments[-1].append(element)
            case Watermark() | WatermarkStatus():
                segments += [[element], []]
            case LatencyMarker() | Snapshot() | _:
                pass
    return tuple(tuple(segment) for segment in segments if segment)


def _canonical(segment: Segment) -> list[str]:
    """Return the elements as text that is the same for what is the same JSON."""
    encoded = (json.loads(msgspec.json.encode(element)) for element in segment)
    return [json.dumps(element, sort_keys=True) for element in encoded]


def _said(value: object) -> str:
    return msgspec.json.encode(value).decode()
