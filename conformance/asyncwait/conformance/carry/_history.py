"""The events of a run of lanes, in their order."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct

from asyncwait.conformance.carry._plan import Plan, lane_name
from asyncwait.spec.carry import Finished, Identity, InFlight, LaneState, Outcome, Row, Visit


class Opened(Struct, frozen=True):
    """A visit of a lane began.

    Args:
        number: of the visit.
        batch: counted from 0; its stamp is another number.
        is_second: the batch has visited the lane before, in the same attempt.
        is_late: its batch is over.
    """

    number: int
    lane: str
    batch: int
    stamp: int
    is_second: bool
    is_late: bool
    state: LaneState
    rows: tuple[Row, ...]


class Began(Struct, frozen=True):
    """A host receives a visit.

    Args:
        number: of the visit.
        host: number of this life: after its death, the host has another number.
        visit: the request.
        at: the time of the clock.
    """

    number: int
    host: int
    visit: Visit
    at: float


class Holds(Struct, frozen=True):
    """A host began a visit: the identities with a call or a result for the lane."""

    number: int
    held: frozenset[Identity]


class Called(Struct, frozen=True):
    """A host began a call."""

    number: int
    host: int
    lane: str
    version: str
    item: InFlight


class Ended(Struct, frozen=True):
    """A call ended by itself; its result is its number."""

    number: int
    is_failed: bool
    at: float


class Cancelled(Struct, frozen=True):
    """A host cancelled a call."""

    number: int


class Answered(Struct, frozen=True):
    """A host answered a visit; with None, no task waited for the answer any more."""

    number: int
    answer: Mapping[Identity, Outcome] | None
    at: float


class Left(Struct, frozen=True):
    """A visit of a lane ended well: its outputs and the state after it."""

    number: int
    outputs: tuple[Finished, ...]
    state: LaneState


class Sunk(Struct, frozen=True):
    """A sink has taken the output of a batch from a lane.

    Args:
        is_again: it has taken the batch before, and takes the output again.
    """

    batch: int
    lane: str
    outputs: tuple[Finished, ...]
    is_again: bool


class HostLost(Struct, frozen=True):
    """A host died, and all its calls with it."""

    host: int


Event: TypeAlias = (
    Opened | Began | Holds | Called | Ended | Cancelled | Answered | Left | Sunk | HostLost
)
E = TypeVar("E")


class History:
    """The events of a run, each at its number.

    Args:
        plan: the plan of the run.
    """

    def __init__(self, plan: Plan) -> None:
        self.mode = plan.terms.mode
        self.capacity = plan.terms.capacity
        self.skew = plan.terms.skew
        self.lanes = plan.terms.lanes
        self.came_in = Counter(
            (lane_name(at), row.record) for batch in plan.batches for at, row in batch.rows
        )
        """Number of times that each record of each lane came in."""
        self.events: list[Event] = []
        self.calls: dict[int, Called] = {}
        self.visits: dict[int, Opened] = {}
        self.asked: dict[int, Began] = {}
        """The request to a host, by the number of the visit."""
        self._by_kind: dict[type, list[tuple[int, Any]]] = {}

    def add(self, event: Event) -> None:
        """Record an event."""
        self._by_kind.setdefault(type(event), []).append((len(self.events), event))
        self.events.append(event)
        match event:
            case Called():
                self.calls[event.number] = event
            case Opened():
                self.visits[event.number] = event
            case Began():
                self.asked[event.number] = event
            case _:
                pass

    def of(self, kind: type[E]) -> Sequence[tuple[int, E]]:
        """Return all events of a kind, each behind its number."""
        return self._by_kind.get(kind, [])

    def running(
        self,
    ) -> Iterator[tuple[int, Event, Collection[Called], Collection[Began]]]:
        """Yield each event behind its number, with the calls and visits that run after it."""
        running: dict[int, Called] = {}
        served: dict[int, Began] = {}
        for at, event in enumerate(self.events):
            match event:
                case Called():
                    running[event.number] = event
                case Ended() | Cancelled():
                    running.pop(event.number, None)
                case HostLost():
                    running = {n: call for n, call in running.items() if call.host != event.host}
                case Began():
                    served[event.number] = event
                case Answered():
                    served.pop(event.number, None)
                case _:
                    pass
            yield at, event, running.values(), served.values()

    def call_of(self, result: bytes) -> Called | None:
        """Return the call that gave a result."""
        return self.calls.get(int(result)) if result.isdigit() else None

    def taken_by(self, left: Left) -> tuple[Finished, ...]:
        """Return the wanted records that a visit has finished."""
        wanted = {item.identity for item in self.asked[left.number].visit.wanted}
        return tuple(each for each in left.state.finished if each.identity in wanted)
