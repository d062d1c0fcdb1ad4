"""Vectors: a scenario, the rules it is about, the outcome where that is one; files, and a schema.

`schema.json` beside this file holds it; `python -m asyncwait.spec.vectors` prints it anew.
"""

import json
from collections.abc import Iterator, Mapping
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
    encoded = (json.loads(msgspec.json.encode(element)) for element in segment)
    return [json.dumps(element, sort_keys=True) for element in encoded]


def _said(value: object) -> str:
    return msgspec.json.encode(value).decode()


FORMAT = 1
"""The version of the files that is written and read here."""


class Vector(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A scenario, and what it proves.

    Args:
        name: unique among all vectors.
        sentence: what it shows.
        rules: ids of the rules that it is about.
        needs: names of the profiles and capabilities without which it can't be played as it stands.
        scenario: what is played.
        outcome: what it comes to, if all that keep the rules come to the same; null otherwise,
            where a run can only be judged.
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
        format: version of this form; another one may have other fields.
        spec: version of the specification whose rules they prove.
        area: id of the area, "ORD".
        vectors: in the order in which the area declares them.
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
    """The version of a file, whatever else there is in it."""

    format: int = 0


def vectors_from_json(data: bytes) -> VectorFile:
    """Read vectors from JSON.

    Raises:
        InvalidConfig: not JSON, another format, or it breaks the schema or a limit; the message
            says which.
    """
    breaks = "the vectors break their schema"
    written: _Written = decoded(data, _Written, breaks, "the vectors are not JSON")
    if written.format != FORMAT:
        raise InvalidConfig.of("format", written.format, f"{FORMAT}, the one that is read here")
    read: VectorFile = decoded(data, VectorFile, breaks, "the vectors are not JSON")
    return read


def shipped_vectors() -> Mapping[str, VectorFile]:
    """Return the vectors that come with the specification, by the name of their file."""
    return {name: vectors_from_json(data) for name, data in _shipped()}


def _shipped() -> Iterator[tuple[str, bytes]]:
    folder: Any = files("asyncwait.spec.vectors").joinpath("data")
    for file in sorted(folder.iterdir(), key=lambda file: str(file.name)):
        yield file.name, file.read_bytes()


_ABOUT = "A file of vectors: scenarios, the rules they prove, and what they come to."


def schema_text() -> str:
    """Return the schema as it is written to its file."""
    (whole,), parts = described_parts(VectorFile)
    return json.dumps(schema_of("asyncwait: vectors", _ABOUT, whole, parts), indent=2) + "\n"
