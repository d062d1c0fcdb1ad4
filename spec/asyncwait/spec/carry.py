"""The contract of what is carried from one micro-batch to the next; its rules are those of CARRY.

A *lane* is a part of the stream whose records keep their order. Its state, one value of bytes, is
the truth. Each micro-batch plays a *visit* of the lane, or two: one with its rows, and one because
a timer fired. A visit emits what the state before the batch calls finished, asks a *host* for what
is in flight, and leaves the state for the next batch. A host is a process that holds calls and
results between batches; whatever it loses is called again.
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
    """Which record of a lane it is: the same in every playing of its batch, and no other's.

    Args:
        digest: of the record's bytes.
        stamp: of the batch that brought it.
        occurrence: how many records with these bytes were before it in that batch.
    """

    digest: bytes
    stamp: int
    occurrence: int


class Row(Struct, frozen=True, gc=False):
    """A record, as a batch brings it.

    Args:
        record: its bytes, which only the function understands.
        key: by which it is ordered, as bytes; of meaning in key-ordered mode alone.
        time: its event time in ms; None where it has none, or nobody asks.
    """

    record: bytes
    key: bytes = b""
    time: int | None = None


class InFlight(Struct, frozen=True, array_like=True, gc=False):
    """A record of a lane whose result is not there, or not in its turn."""

    identity: Identity
    record: bytes
    key: bytes = b""
    time: int | None = None


class Finished(Struct, frozen=True, array_like=True, gc=False):
    """The result of a record, as bytes; it comes out with the next batch.

    It keeps the record's key for whoever moves the lane, and calls again for what is not out.
    """

    identity: Identity
    result: bytes
    key: bytes = b""


class LaneState(Struct, frozen=True, array_like=True):
    """What is known of a lane between two visits.

    Args:
        stamp: of the batch that wrote it; None before the first.
        in_flight: in the order of the lane.
        finished: what that batch has finished, in the order in which it comes out.
        lanes: into which the stream was divided; None in states that do not know.
    """

    stamp: int | None = None
    in_flight: tuple[InFlight, ...] = ()
    finished: tuple[Finished, ...] = ()
    lanes: int | None = None

    @property
    def identities(self) -> list[Identity]:
        """Those of all that is in flight or finished."""
        in_flight = [item.identity for item in self.in_flight]
        return in_flight + [each.identity for each in self.finished]


class Terms(Struct, frozen=True):
    """What all visits of all lanes have in common.

    Args:
        version: of the function, by any text; results of another version are not taken.
        mode: "ordered", "unordered" or "key-ordered", each within a lane.
        capacity: calls of a lane that run at a time at most, and its records that are in flight
            after a visit.
        budget: seconds that a visit waits for results, and longer only for room, and for what lags.
        skew: ms by which the event time of what is in flight after a visit may lag the newest that
            the visit has found in flight, or was brought; None for any.
        lanes: into which the stream is divided, and so which lane a record belongs to.

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
    """What a visit tells a host.

    Args:
        lane: its name, unique among all that visit the host.
        terms: of the visit.
        wanted: all that is in flight in the lane, with the rows of the batch, in order.
        kept: what an earlier visit of the same batch has finished. Its results are kept, because
            the batch may be played again, and no call begins for it.
        awaited: of what is wanted, what has to be finished, and in its turn, before the visit ends:
            its event time lags.
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
"""A result as bytes. What a handler makes of a failure is a result, too."""


class Host(Protocol):
    """Where the calls of lanes run, and where their results are kept."""

    def visit(self, visit: Visit) -> Mapping[Identity, Outcome]:
        """Return the outcomes of what is wanted and finished, in ordered mode up to a gap.

        It forgets and cancels first what the visit does not want. It calls what is wanted and not
        there, in the order of the lane; in key-ordered mode, one of each key at a time. Then it
        waits until everything is finished, or a call fails, or the budget is over, at most
        `capacity` are left, and nothing that is awaited. It keeps what it answers, but for
        failures.
        """
        ...


class VisitFailed(AsyncWaitError):
    """A call failed, and its visit with it: nothing is emitted and the state stays as it was.

    Args:
        lane: its name.
        item: whose call it was.
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
    """A stream with records in flight goes on with another number of lanes.

    A record that follows another one of its key would then be in another lane, and overtake it.

    Args:
        before: the number of lanes with which the records came in.
        now: the number of lanes of the visit.
    """

    def __init__(self, before: int, now: int) -> None:
        super().__init__(f"records are in flight in {before} lanes, and now there are {now}")
        self.before = before
        self.now = now

    def __reduce__(self) -> "tuple[type[LanesChanged], tuple[int, int]]":
        return type(self), (self.before, self.now)


class LaneStateUnreadable(AsyncWaitError, ValueError):
    """The bytes are no state of a lane, or that of a version that this one does not know."""


_VERSION = b"\x01"
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(LaneState).decode


def encode_lane(state: LaneState) -> bytes:
    """Return a state as bytes: a byte for the version, and MessagePack."""
    return _VERSION + _encode(state)


def decode_lane(data: bytes) -> LaneState:
    """Return the state that `data` stands for.

    Raises:
        LaneStateUnreadable: it is none.
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
