"""Player of a plan: hosts on a clock that jumps, attempts at batches, and the batches in turn."""

import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from types import SimpleNamespace
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from asyncwait.conformance.carry._history import (
    Answered,
    Began,
    Called,
    Cancelled,
    Ended,
    History,
    Holds,
    HostLost,
    Left,
    Opened,
    Sunk,
)
from asyncwait.conformance.carry._plan import BETWEEN, Batch, Calls, Plan, Trouble, lane_name
from asyncwait.spec.carry import (
    Failed,
    Finished,
    Identity,
    InFlight,
    LanesChanged,
    LaneState,
    Outcome,
    Row,
    Terms,
    Visit,
    VisitFailed,
    decode_lane,
    encode_lane,
)

OpenLane: TypeAlias = Callable[[str, Terms], Any]
"""Function that returns a lane with a name and terms, which plays visits."""

OpenTable: TypeAlias = Callable[[Callable[..., Any], Callable[[Any], object]], Any]
"""Function that returns the table of a host's calls, which begins and cancels calls."""

CANCELLED = b"nothing"
"""Outcome of a cancelled call."""


class AttemptLost(Exception):
    """The task that visits a lane dies, or does not get its answer."""


class Stuck(Exception):
    """A host waits, and nothing can happen any more."""


class World:
    """Two hosts at a time, and the calls of all hosts so far.

    Args:
        calls: the calls of each record.
        table_class: holds the calls of a host.
        history: records the events.
    """

    def __init__(
        self, calls: Mapping[bytes, Calls], table_class: OpenTable, history: History
    ) -> None:
        self.now = 0.0
        self.history = history
        self._calls = calls
        self._table_class = table_class
        self._made = Counter[bytes]()
        self._under_way: dict[int, tuple[Any, Called, Outcome]] = {}
        self._ends: list[tuple[float, int]] = []
        self._lives = 0
        self._hosts = [self._host(), self._host()]

    def _host(self) -> tuple[int, Any]:
        self._lives += 1
        table = self._table_class(partial(self._start, self._lives), self._cancel)
        return self._lives, table

    def lose(self, place: int) -> None:
        """Kill a host; another host takes its place at once."""
        host, table = self._hosts[place]
        self._under_way = {n: call for n, call in self._under_way.items() if call[0] is not table}
        self.history.add(HostLost(host))
        self._hosts[place] = self._host()

    def _start(self, host: int, lane: str, version: str, item: InFlight) -> Called:
        number = len(self.history.calls)
        called = Called(number, host, lane, version, item)
        does, made = self._calls[item.record], self._made[item.record]
        self._made[item.record] += 1
        table = next(table for life, table in self._hosts if life == host)
        outcome = Failed(str(number)) if made < does.fails else b"%d" % number
        self._under_way[number] = table, called, outcome
        heapq.heappush(self._ends, (self.now + does.takes[made % len(does.takes)], number))
        self.history.add(called)
        return called

    def _cancel(self, called: Called) -> None:
        """Cancel a call, which still ends at its time, without a result."""
        table, *_ = self._under_way[called.number]
        self._under_way[called.number] = table, called, CANCELLED
        self.history.add(Cancelled(called.number))

    def visit(
        self,
        place: int,
        number: int,
        visit: Visit,
        *,
        amid: Callable[[], object],
        is_lost: bool,
    ) -> dict[Identity, Outcome]:
        """Have a host serve a visit.

        Args:
            place: of the host.
            number: of the visit.
            visit: the request to the host.
            amid: called while the host serves the visit; it may raise `AttemptLost`.
            is_lost: the answer is lost.

        Raises:
            AttemptLost: no task gets the answer.
            Stuck: the host waits for ever.
        """
        host, table = self._hosts[place]
        self.history.add(Began(number, host, visit, self.now))
        served = table.begin(visit)
        self.history.add(Holds(number, table.held(visit.lane)))
        end = self.now + visit.terms.budget
        try:
            amid()
        except AttemptLost:
            table.abandon(served)
            self.history.add(Answered(number, None, self.now))
            raise
        while not served.is_over(is_late=self.now >= end):
            self._pass(end)
        answer: dict[Identity, Outcome] = table.answer(served)
        self.history.add(Answered(number, answer, self.now))
        if is_lost:
            raise AttemptLost
        return answer

    def _pass(self, until: float) -> None:
        while self._ends and self._ends[0][1] not in self._under_way:
            heapq.heappop(self._ends)
        late = self.now >= until
        if late and not self._ends:
            raise Stuck
        if self._ends and (late or self._ends[0][0] <= until):
            self._end(*heapq.heappop(self._ends))
        else:
            self.now = until

    def _end(self, at: float, number: int) -> None:
        self.now = max(self.now, at)
        table, called, outcome = self._under_way.pop(number)
        if outcome is not CANCELLED:
            self.history.add(Ended(number, isinstance(outcome, Failed), self.now))
        table.completed(called.lane, called.version, called.item.identity, called, outcome)

    def rest(self, pause: float) -> None:
        """Let time pass between two attempts; hosts go on."""
        until = self.now + pause
        while self.now < until:
            self._pass(until)


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
    lane_class: OpenLane
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

    def lane(self, name: str) -> Any:
        """Return the player of a lane's visits."""
        return self.lane_class(name, self.terms)


class Attempt(Struct):
    """The outcome of an attempt at a batch: outputs of lanes, and their states as bytes."""

    outputs: dict[str, tuple[Finished, ...]]
    states: dict[str, bytes]


MOST_BATCHES = 40
"""Batches after those with rows: a lane that is not empty by then never will be."""

MOST_ATTEMPTS = 12
"""Attempts after those with trouble: if all fail, the next would fail, too."""

PAUSE = 2
"""Pause after an attempt, in units of the clock."""


def play_plan(plan: Plan, lane_class: OpenLane, table_class: OpenTable) -> History:
    """Return the history of a played plan.

    Args:
        plan: the plan.
        lane_class: plays the visits of lanes.
        table_class: holds the calls of a host.
    """
    player = _Player(plan, lane_class, table_class)
    with suppress(Stuck):  # Records that are not out yet are lost.
        player.play()
    return player.history


class _Player:
    def __init__(self, plan: Plan, lane: OpenLane, table: OpenTable) -> None:
        self._plan = plan
        self._lane_class = lane
        self._terms = plan.terms
        self.history = History(plan)
        self._world = World(plan.calls, table, self.history)
        lanes = sorted({lane for lane, _ in self.history.came_in})
        self._states = dict.fromkeys(lanes, encode_lane(LaneState()))
        self._past: list[Played] = []
        self._sunk: set[int] = set()
        self._place = 0
        self._turned = False

    def play(self) -> None:
        for batch in self._plan.batches:
            self._batch(batch)
        for _ in range(MOST_BATCHES):
            if not any(self._played(Batch(timer=True)).visits()):
                return
            self._batch(Batch(timer=True))

    def _divided_anew(self, batch: Batch) -> Played | None:
        """Return a batch whose rows go to other lanes; None if no record is in flight.

        The first batch of a run visits every lane that holds a record. The rows of other lanes are
        left out: to them the new number is the first one.
        """
        holding = {name for name, state in self._states.items() if decode_lane(state).identities}
        if not holding:
            return None
        lanes = sorted({at for each in self._plan.batches for at, _ in each.rows})
        turned = dict(zip(lanes, lanes[1:] + lanes[:1], strict=True))
        rows = ((turned[at], row) for at, row in batch.rows)
        kept = tuple((at, row) for at, row in rows if lane_name(at) in holding)
        terms = replace(self._terms, lanes=self._terms.lanes + 1)
        return replace(self._played(replace(batch, rows=kept, timer=True)), terms=terms)

    def _played(self, batch: Batch) -> Played:
        return Played(len(self._past), batch, self._lane_class, self._terms, self._states)

    def _batch(self, batch: Batch) -> None:
        for trouble in (*batch.troubles, *[None] * MOST_ATTEMPTS):
            if trouble in BETWEEN:
                self._between(trouble)
                continue
            played = self._divided_anew(batch) if trouble == "other lanes" else self._played(batch)
            if played is None:
                continue
            attempt = self._tried(played, trouble)
            if attempt is None or trouble == "dies early":
                continue
            self._sink(played.number, attempt)
            if trouble != "dies late" or self._plan.sink == "skips":
                if trouble == "late visit after":
                    self._late()
                self._stand(played, attempt)
                return
        raise Stuck

    def _between(self, trouble: Trouble | None) -> None:
        match trouble:
            case "host killed":
                self._world.lose(self._place)
            case "moved":
                self._place = 1 - self._place
            case "other order":
                self._turned = not self._turned
            case _:
                self._terms = replace(self._terms, version=f"{self._terms.version}'")

    def _tried(self, played: Played, trouble: Trouble | None) -> Attempt | None:
        """Return an attempt, with parts of a twin in place of its own; None if all failed."""
        twin: Attempt | None = None

        def play_twin() -> None:
            nonlocal twin
            place = 1 - self._place if trouble == "twin elsewhere" else self._place
            twin = self._attempt(played, place=place, turned=not self._turned)

        has_twin = trouble is not None and trouble.startswith("twin")
        amid = play_twin if has_twin else self._late if trouble == "late visit amid" else nothing
        attempt = self._attempt(played, trouble, amid, turned=self._turned)
        self._world.rest(PAUSE)
        if attempt is None or twin is None:
            return attempt or twin
        if trouble == "twin gives output":
            attempt.outputs = twin.outputs
        else:
            attempt.states = twin.states
        return attempt

    def _attempt(
        self,
        played: Played,
        trouble: Trouble | None = None,
        amid: Callable[[], object] = nothing,
        *,
        place: int | None = None,
        turned: bool = False,
        is_late: bool = False,
    ) -> Attempt | None:
        """Play all visits of a batch; return None if one failed.

        Args:
            played: the batch.
            trouble: of the last visit, if any.
            amid: called while a host serves the first visit.
            place: of the host; None for the present one.
            turned: rows come in reverse order.
            is_late: the batch is over.
        """
        attempt = Attempt({}, dict(played.states))
        visits, stamp = list(played.visits()), played.number * STAMPS
        try:
            for at, (name, came, is_second) in enumerate(visits):
                number, state = len(self.history.visits), decode_lane(attempt.states[name])
                rows = tuple(came[::-1] if turned else came)
                about = number, name, played.number, stamp, is_second, is_late
                self.history.add(Opened(*about, state, rows))
                befalls = trouble if at == len(visits) - 1 else None
                host: Any = SimpleNamespace(
                    visit=partial(
                        self._world.visit,
                        self._place if place is None else place,
                        number,
                        amid=dies if befalls == "killed amid" else amid,
                        is_lost=befalls == "answer lost",
                    )
                )
                outputs, after = played.lane(name).visit(state, stamp, rows, host)
                self.history.add(Left(number, outputs, after))
                attempt.outputs[name] = attempt.outputs.get(name, ()) + outputs
                attempt.states[name] = encode_lane(after)
                amid = nothing
        except (AttemptLost, LanesChanged, VisitFailed):
            return None
        return attempt

    def _late(self) -> None:
        if self._past:
            self._attempt(self._past[-1], is_late=True)

    def _sink(self, number: int, attempt: Attempt) -> None:
        again = number in self._sunk
        if again and self._plan.sink != "repeats":
            return
        self._sunk.add(number)
        for lane, outputs in attempt.outputs.items():
            self.history.add(Sunk(number, lane, outputs, again))

    def _stand(self, played: Played, attempt: Attempt) -> None:
        self._past.append(played)
        self._states = attempt.states
