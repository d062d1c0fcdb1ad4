"""Contract of calls that are carried from one micro-batch to the next; its rules are in CARRY.

A *lane* is a part of the stream whose records keep their order. Its state, one value of bytes, is
authoritative. Each micro-batch makes one or two *visits* of the lane: one with its rows, and one
because a timer fired. A visit emits the results that the previous state holds, asks a *host* for
the results of the records in flight, and writes the state for the next batch. A host is a process
that holds calls and results between batches; records that it loses are called again.
"""

from collections.abc import Mapping
from typing import NamedTuple, Protocol, TypeAlias

import msgspec
from msgspec import Struct

from asyncwait.spec._config import Mode
from asyncwait.spec._errors import AsyncWaitError, InvalidConfig
from asyncwait.spec.checks import is_number, is_whole, require_whole
from asyncwait.spec.exports import claim_exports
from asyncwait.spec.texts import shown


class Identity(NamedTuple):
    """Identity of a record in its lane: unique, and the same in every replay of its batch.

    Args:
        digest: digest of the record's bytes.
        stamp: stamp of the batch that brought the record.
        occurrence: number of earlier records with these bytes in that batch.
    """

    digest: bytes
    stamp: int
    occurrence: int


class Row(Struct, frozen=True, gc=False):
    """A record of a batch.

    Args:
        record: its bytes, which only the function understands.
        key: key for its order, as bytes; used in key-ordered mode only.
        time: its event time in ms; None if the record has none, or the event time is not used.
    """

    record: bytes
    key: bytes = b""
    time: int | None = None


class InFlight(Struct, frozen=True, array_like=True, gc=False):
    """A record of a lane whose result is missing, or waits for its place in the order."""

    identity: Identity
    record: bytes
    key: bytes = b""
    time: int | None = None


class Finished(Struct, frozen=True, array_like=True, gc=False):
    """The result of a record, as bytes; the next batch emits it.

    A program needs the key to move the lane and repeat the calls without emitted results.
    """

    identity: Identity
    result: bytes
    key: bytes = b""


class LaneState(Struct, frozen=True, array_like=True):
    """State of a lane between two visits.

    Args:
        stamp: stamp of the batch that wrote the state; None before the first batch.
        in_flight: records in flight, in the order of the lane.
        finished: results that this batch finished, in the order of the output.
        lanes: number of lanes of the stream; None in states that do not have it.
    """

    stamp: int | None = None
    in_flight: tuple[InFlight, ...] = ()
    finished: tuple[Finished, ...] = ()
    lanes: int | None = None

    @property
    def identities(self) -> list[Identity]:
        """Identities of all records that are in flight or finished."""
        in_flight = [item.identity for item in self.in_flight]
        return in_flight + [each.identity for each in self.finished]


class Terms(Struct, frozen=True):
    """Options that all visits of all lanes share.

    Args:
        version: version of the function, as any text; results of another version are not used.
        mode: "ordered", "unordered" or "key-ordered", each within a lane.
        capacity: largest number of calls of a lane at a time, and of its records in flight after a
            visit.
        budget: seconds that a visit waits for results; it waits longer only for room, and for
            records whose event time lags.
        skew: ms by which the event time of a record in flight after a visit may lag the newest
            record that was in flight before, or came with the visit; None for no bound.
        lanes: number of lanes of the stream, which determines the lane of a record.

    Raises:
        InvalidConfig: an argument is out of its range.
    """

    version: str
    mode: Mode = "ordered"
    capacity: int = 100
    budget: float = 0.2
    skew: int | None = None
    lanes: int = 1

    def __post_init__(self) -> None:
        require_whole("capacity", self.capacity)
        require_whole("lanes", self.lanes)
        if not is_number(self.budget) or not self.budget >= 0:
            raise InvalidConfig.of("budget", self.budget, "a number of seconds >= 0")
        if self.skew is not None and (not is_whole(self.skew) or self.skew < 0):
            raise InvalidConfig.of("skew", self.skew, "a whole number >= 0, or None")


class Visit(Struct, frozen=True):
    """Request of a visit to a host.

    Args:
        lane: name of the lane, unique among all lanes of the host.
        terms: options of the visit.
        wanted: all records in flight in the lane, with the rows of the batch, in order.
        kept: records that an earlier visit of the same batch finished. The host keeps their
            results, because the batch may be replayed, and begins no call for them.
        awaited: wanted records whose event time lags: before the visit ends, they must be finished
            and have reached their place in the order.
    """

    lane: str
    terms: Terms
    wanted: tuple[InFlight, ...]
    kept: tuple[Identity, ...] = ()
    awaited: tuple[Identity, ...] = ()


class Failed(Struct, frozen=True):
    """The outcome of a call that fails its visit.

    Args:
        reason: what happened, as the end of a sentence.
    """

    reason: str


Outcome: TypeAlias = bytes | Failed
"""A result as bytes, or a failure. A handler's answer to a failure is a result, too."""


class Host(Protocol):
    """Process that runs the calls of lanes and keeps their results."""

    def visit(self, visit: Visit) -> Mapping[Identity, Outcome]:
        """Return the outcomes of finished wanted records, in ordered mode up to the first gap.

        First the host forgets and cancels the records that the visit does not want. It calls the
        wanted records that it does not have, in the order of the lane; in key-ordered mode, one
        record of each key at a time. Then it waits until all are finished, or a call fails, or the
        budget is over with at most `capacity` unfinished records, none of them awaited. It keeps
        the results that it returns, but not the failures.
        """
        ...


class VisitFailed(AsyncWaitError):
    """A call failed, and its visit with it: nothing is emitted and the state does not change.

    Args:
        lane: name of the lane.
        item: the record whose call failed.
        reason: what happened.
    """

    def __init__(self, lane: str, item: InFlight, reason: str) -> None:
        super().__init__(f"lane {lane}: record {shown(item.record)}: {reason}")
        self.lane = lane
        self.item = item
        self.reason = reason

    def __reduce__(self) -> "tuple[type[VisitFailed], tuple[str, InFlight, str]]":
        return type(self), (self.lane, self.item, self.reason)


class LanesChanged(AsyncWaitError):
    """A stream with records in flight continues with another number of lanes.

    Two records of one key could then be in different lanes, and the second overtake the first.

    Args:
        before: the number of lanes when the records were read.
        now: the number of lanes of the visit.
    """

    def __init__(self, before: int, now: int) -> None:
        super().__init__(f"records are in flight in {before} lanes, and now there are {now}")
        self.before = before
        self.now = now

    def __reduce__(self) -> "tuple[type[LanesChanged], tuple[int, int]]":
        return type(self), (self.before, self.now)


class LaneStateUnreadable(AsyncWaitError, ValueError):
    """The bytes are not the state of a lane, or have a version that is not supported."""


_VERSION = b"\x01"
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(LaneState).decode


def encode_lane(state: LaneState) -> bytes:
    """Return a state as bytes: a byte for the version, and MessagePack."""
    return _VERSION + _encode(state)


def decode_lane(data: bytes) -> LaneState:
    """Return the state that `data` encodes.

    Raises:
        LaneStateUnreadable: `data` is not the state of a lane.
    """
    if data[:1] != _VERSION:
        raise LaneStateUnreadable(f"expected version 1 of a lane's state, got {data[:1]!r}")
    try:
        return _decode(data[1:])
    except msgspec.DecodeError as error:
        raise LaneStateUnreadable(f"no state of a lane: {error}") from error


__all__ = [
    "Failed",
    "Finished",
    "Host",
    "Identity",
    "InFlight",
    "LaneState",
    "LaneStateUnreadable",
    "LanesChanged",
    "Outcome",
    "Row",
    "Terms",
    "Visit",
    "VisitFailed",
    "decode_lane",
    "encode_lane",
]

claim_exports(__name__)
