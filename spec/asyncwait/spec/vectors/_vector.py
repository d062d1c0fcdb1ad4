"""Vectors: a scenario, its rules, and its only legal outcome, if any; their files and schema.

`schema.json` beside this file holds the schema; `python -m asyncwait.spec.vectors` prints it.
"""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct

from asyncwait.spec._elements import LatencyMarker, Record, Snapshot, Watermark, WatermarkStatus
from asyncwait.spec._errors import InvalidConfig
from asyncwait.spec.scenario import Scenario, SinkTook, Trace
from asyncwait.spec.scenario._limits import decoded
from asyncwait.spec.scenario._schema import described_parts, schema_of

Segment: TypeAlias = Annotated[
    tuple[Record | Watermark | WatermarkStatus, ...],
    Meta(description="Records between two fences, or a fence alone."),
]


class Outcome(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Outcome of a run.

    Args:
        how: the stream "finished", or the consumer receives an error, so the operator "failed".
        order: order of the records inside a segment: as "given", or "any" order.
        output: the output, segment by segment, without latency markers and snapshots; null where
            the time of a failure decides the length of the output before it.
        error: class name of the error that the consumer receives; empty for none.
        record: the input record that the error names.
    """

    how: Literal["finished", "failed"]
    order: Literal["given", "any"]
    output: tuple[Segment, ...] | None = None
    error: str = ""
    record: Record | None = None

    def differs(self, scenario: Scenario, trace: Trace) -> str:
        """Return a description of how a run differs from this outcome; empty if it does not.

        Args:
            scenario: the scenario of this outcome.
            trace: trace of the run.
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
    """Return the outcome of a run; None if it did not end by itself, or has several legs.

    Args:
        scenario: the played scenario.
        trace: trace of the run.
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
    encoded = (json.loads(msgspec.json.encode(element)) for element in segment)
    return [json.dumps(element, sort_keys=True) for element in encoded]


def _said(value: object) -> str:
    return msgspec.json.encode(value).decode()


FORMAT = 1
"""The supported version of the files."""


class Vector(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A scenario, and the rules that it proves.

    Args:
        name: name, unique among all vectors.
        sentence: description of the case.
        rules: ids of the rules.
        needs: names of the profiles and capabilities that a backend needs to play it unchanged.
        scenario: the scenario to play.
        outcome: the only outcome that the rules allow; null if they allow several, so that a run
            can only be judged by the rules.
    """

    name: str
    sentence: str
    rules: tuple[str, ...]
    needs: tuple[str, ...]
    scenario: Scenario
    outcome: Outcome | None = None


class VectorFile(Struct, frozen=True, forbid_unknown_fields=True):
    """The vectors of one area.

    Args:
        format: version of this format; another version may have other fields.
        spec: version of the specification whose rules they prove.
        area: id of the area, for example "ORD".
        vectors: vectors in the order in which the area declares them.
    """

    format: Annotated[int, Meta(ge=FORMAT, le=FORMAT)]
    spec: str
    area: str
    vectors: tuple[Vector, ...]


def vectors_to_json(file: VectorFile) -> bytes:
    """Return `file` as JSON, each vector on a line of its own."""
    head = {"format": file.format, "spec": file.spec, "area": file.area}
    lines = ",\n".join(msgspec.json.encode(vector).decode() for vector in file.vectors)
    return f'{json.dumps(head)[:-1]}, "vectors": [\n{lines}\n]}}\n'.encode()


class _Written(Struct):
    """The version in a file; other fields are ignored."""

    format: int = 0


def vectors_from_json(data: bytes) -> VectorFile:
    """Read vectors from JSON.

    Raises:
        InvalidConfig: `data` is not JSON, has another format, or breaks the schema or a limit; the
            message says which.
    """
    breaks = "the vectors break their schema"
    written: _Written = decoded(data, _Written, breaks, "the vectors are not JSON")
    if written.format != FORMAT:
        raise InvalidConfig.of("format", written.format, f"{FORMAT}, the format of this version")
    read: VectorFile = decoded(data, VectorFile, breaks, "the vectors are not JSON")
    return read


def shipped_vectors() -> Mapping[str, VectorFile]:
    """Return the vectors that come with the specification, by the name of their file."""
    found = {each.name: each for each in files("asyncwait.spec.vectors").joinpath("data").iterdir()}
    return {name: vectors_from_json(found[name].read_bytes()) for name in sorted(found)}


_ABOUT = "A file of vectors: scenarios, the rules they prove, and what they come to."


def schema_text() -> str:
    """Return the text of the schema's file."""
    (whole,), parts = described_parts(VectorFile)
    return json.dumps(schema_of("asyncwait: vectors", _ABOUT, whole, parts), indent=2) + "\n"
