"""One attempt at a batch: its visits, from the states before it."""

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from asyncwait.conformance.carry._history import History, Left, Opened
from asyncwait.conformance.carry._plan import Batch, Trouble, lane_name
from asyncwait.conformance.carry._world import AttemptLost, World
from asyncwait.spec.carry import (
    Finished,
    Identity,
    LanesChanged,
    Outcome,
    Row,
    Terms,
    Visit,
    VisitFailed,
    decode_lane,
    encode_lane,
)
from asyncwait.toolkit import Lane

STAMPS = 10
"""Difference between the stamps of two batches."""


def nothing() -> None:
    """Do nothing."""


def dies() -> None:
    """Raise the error of a killed task."""
    raise AttemptLost


class Played(Struct, frozen=True):
    """A batch, with the states before it.

    Args:
        number: counted from 0.
        batch: its rows and troubles.
        lane_class: plays the visits.
        terms: of all visits.
        states: of the lanes before the batch, as bytes.
    """

    number: int
    batch: Batch
    lane_class: type[Lane]
    terms: Terms
    states: Mapping[str, bytes]

    def visits(self) -> Iterator[tuple[str, list[Row], bool]]:
        """Yield each visited lane, its rows, and whether it is its second visit."""
        rows: dict[str, list[Row]] = {}
        for at, row in self.batch.rows:
            rows.setdefault(lane_name(at), []).append(row)
        for lane, of_lane in rows.items():
            yield lane, of_lane, False
        for lane, state in self.states.items() if self.batch.timer else ():
            if self.lane(lane).wants_timer(decode_lane(state)):
                yield lane, [], lane in rows

    def lane(self, name: str) -> Lane:
        """Return the player of a lane's visits."""
        return self.lane_class(name, self.terms)


class Attempt:
    """An attempt at a batch, and its outcome.

    Args:
        played: the batch.
        world: has the hosts.
        history: records the events.
        place: of the host.
        turned: rows come in reverse order.
        is_late: the batch is over.
    """

    def __init__(
        self,
        played: Played,
        world: World,
        history: History,
        *,
        place: int = 0,
        turned: bool = False,
        is_late: bool = False,
    ) -> None:
        self._played = played
        self._world = world
        self._history = history
        self._place = place
        self._turned = turned
        self._is_late = is_late
        self.outputs: dict[str, tuple[Finished, ...]] = {}
        self.states = dict(played.states)
        """States as bytes, after the visits."""

    def play(self, trouble: Trouble | None = None, amid: Callable[[], None] = nothing) -> bool:
        """Play all visits; return whether all succeeded.

        Args:
            trouble: of the last visit, if any.
            amid: called while a host serves the first visit.
        """
        visits = list(self._played.visits())
        try:
            for place, (lane, rows, is_second) in enumerate(visits):
                befalls = trouble if place == len(visits) - 1 else None
                self._visit(lane, rows[::-1] if self._turned else rows, is_second, befalls, amid)
                amid = nothing
        except (AttemptLost, LanesChanged, VisitFailed):
            return False
        return True

    def _visit(
        self,
        name: str,
        rows: list[Row],
        is_second: bool,  # noqa: FBT001 - as it comes
        befalls: Trouble | None,
        amid: Callable[[], None],
    ) -> None:
        number, stamp = len(self._history.visits), self._played.number * STAMPS
        state = decode_lane(self.states[name])
        self._history.add(
            Opened(
                number,
                name,
                self._played.number,
                stamp,
                is_second,
                self._is_late,
                state,
                tuple(rows),
            )
        )
        client = _Client(self._world, self._place, number, befalls, amid)
        outputs, after = self._played.lane(name).visit(state, stamp, rows, client)
        self._history.add(Left(number, outputs, after))
        self.outputs[name] = self.outputs.get(name, ()) + outputs
        self.states[name] = encode_lane(after)


class _Client(Struct, frozen=True):
    """A host, as one visit sees it."""

    world: World
    place: int
    number: int
    befalls: Trouble | None
    amid: Callable[[], None]

    def visit(self, visit: Visit) -> dict[Identity, Outcome]:
        amid = dies if self.befalls == "killed amid" else self.amid
        answer = self.world.visit(self.place, self.number, visit, amid)
        if self.befalls == "answer lost":
            raise AttemptLost
        return answer
