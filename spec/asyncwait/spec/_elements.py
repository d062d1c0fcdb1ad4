"""Elements of the operator's input and output."""

from typing import Annotated, Any, TypeAlias

from msgspec import Meta, Struct

from asyncwait.spec.texts import shown

LOWEST, HIGHEST = -(2**63), 2**63 - 1
"""Bounds of the numbers in elements, which have 64 bits."""

Number: TypeAlias = Annotated[int, Meta(extra_json_schema={"minimum": LOWEST, "maximum": HIGHEST})]


class Record(Struct, frozen=True, tag="record", omit_defaults=True, forbid_unknown_fields=True):
    """One datum of the stream.

    Args:
        value: the user's value; opaque to the operator, which never copies, compares or hashes it,
            and doesn't keep it once the record is emitted.
        timestamp: event time in milliseconds, a whole number of 64 bits, which may be negative;
            None where the stream has no timestamps.
        key: the user's key, as opaque as the value; None where the stream has no keys. In
            key-ordered mode the operator looks it up as in a dict, or compares a key without a hash
            with the other keys without a hash.
    """

    value: Any
    timestamp: Number | None = None
    key: Any = None

    def __str__(self) -> str:
        when = "" if self.timestamp is None else f" @ {self.timestamp}"
        key = "" if self.key is None else f" (key {shown(self.key)})"
        return f"Record {shown(self.value)}{when}{key}"


class Watermark(Struct, frozen=True, tag="watermark", forbid_unknown_fields=True):
    """Statement that no later record has a timestamp at or below this timestamp.

    Args:
        timestamp: event time in milliseconds.
    """

    timestamp: Number


class WatermarkStatus(Struct, frozen=True, tag="status", forbid_unknown_fields=True):
    """Statement that the stream sends no watermarks for a while, or sends them again.

    Args:
        idle: True if the watermarks stop, False if they begin again.
    """

    idle: bool


class LatencyMarker(
    Struct, frozen=True, tag="latency", omit_defaults=True, forbid_unknown_fields=True
):
    """Probe that measures the latency of a pipeline; it overtakes waiting elements.

    Args:
        marked_at: time of the sender's clock, in milliseconds.
        source: name of the sender.
    """

    marked_at: Number
    source: str = ""


class Barrier(Struct, frozen=True, tag="barrier", forbid_unknown_fields=True):
    """Request for a snapshot of everything that came before it.

    Args:
        checkpoint_id: the number that the snapshot will carry.
    """

    checkpoint_id: Number


Stored: TypeAlias = Record | Watermark | WatermarkStatus
"""Elements that a snapshot can hold."""


class Snapshot(Struct, frozen=True, tag="snapshot", omit_defaults=True, forbid_unknown_fields=True):
    """State from which another operator can continue the stream.

    It takes the place of its barrier in the output, and counts as a barrier in the input.

    Args:
        checkpoint_id: number of the barrier, or of the request, that asked for the snapshot.
        in_flight: the inputs taken and not yet emitted, in input order, with multiplicity.
        read: number of input elements taken; only in snapshots that were requested, because a
            barrier's own place in the input says the same.
        upstream: in a chain of operators, the input snapshot that served as the barrier.
    """

    checkpoint_id: Number
    in_flight: tuple[Stored, ...] = ()
    read: Number | None = None
    upstream: "Snapshot | None" = None


Element: TypeAlias = Record | Watermark | WatermarkStatus | LatencyMarker | Barrier | Snapshot
"""Elements that the source can give or the consumer can receive."""
