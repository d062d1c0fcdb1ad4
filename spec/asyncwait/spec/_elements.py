"""What flows into the operator and out of it."""

from typing import Annotated, Any, TypeAlias

from msgspec import Meta, Struct

from asyncwait.spec.texts import shown

LOWEST, HIGHEST = -(2**63), 2**63 - 1
"""Of the numbers in elements: they have 64 bits."""

Number: TypeAlias = Annotated[int, Meta(extra_json_schema={"minimum": LOWEST, "maximum": HIGHEST})]


class Record(Struct, frozen=True, tag="record", omit_defaults=True, forbid_unknown_fields=True):
    """One datum of the stream.

    Args:
        value: the user's value; opaque to the operator, which never copies, compares or hashes it,
            and doesn't keep it once the record is emitted.
        timestamp: event time in milliseconds, a whole number of 64 bits, negative ones included;
            None where the stream has none.
        key: the user's key, as opaque; None where the stream has none. In key-ordered mode it is
            looked up as in a dict, or, if it has no hash, compared with others that have none.
    """

    value: Any
    timestamp: Number | None = None
    key: Any = None

    def __str__(self) -> str:
        when = "" if self.timestamp is None else f" @ {self.timestamp}"
        key = "" if self.key is None else f" (key {shown(self.key)})"
        return f"Record {shown(self.value)}{when}{key}"


class Watermark(Struct, frozen=True, tag="watermark", forbid_unknown_fields=True):
    """No later record has a timestamp at or below this one.

    Args:
        timestamp: event time in milliseconds.
    """

    timestamp: Number


class WatermarkStatus(Struct, frozen=True, tag="status", forbid_unknown_fields=True):
    """The stream sends no watermarks for a while, or sends them again.

    Args:
        idle: whether it stops; if not, it begins again.
    """

    idle: bool


class LatencyMarker(
    Struct, frozen=True, tag="latency", omit_defaults=True, forbid_unknown_fields=True
):
    """A probe that measures the way through a pipeline; it overtakes what waits.

    Args:
        marked_at: the clock of its sender, in milliseconds.
        source: who sent it.
    """

    marked_at: Number
    source: str = ""


class Barrier(Struct, frozen=True, tag="barrier", forbid_unknown_fields=True):
    """Asks for a snapshot of everything that came before it.

    Args:
        checkpoint_id: the number that the snapshot will carry.
    """

    checkpoint_id: Number


Stored: TypeAlias = Record | Watermark | WatermarkStatus
"""What a snapshot can hold."""


class Snapshot(Struct, frozen=True, tag="snapshot", omit_defaults=True, forbid_unknown_fields=True):
    """What an operator must be given to go on where it stood.

    It stands for its barrier in the output, and is accepted as a barrier in the input.

    Args:
        checkpoint_id: of the barrier, or of the request, that asked for it.
        in_flight: the inputs taken and not yet emitted, in input order, with multiplicity.
        read: number of input elements taken; only in snapshots that were requested, because a
            barrier's own place in the input says the same.
        upstream: the snapshot that came in as this one's barrier, in a chain of operators.
    """

    checkpoint_id: Number
    in_flight: tuple[Stored, ...] = ()
    read: Number | None = None
    upstream: "Snapshot | None" = None


Element: TypeAlias = Record | Watermark | WatermarkStatus | LatencyMarker | Barrier | Snapshot
"""Everything that can be read from the source or handed to the consumer."""
