"""Visits of a lane: functions from a state, rows and a host's answer to results and a new state."""

from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import blake2b

from asyncwait.spec.carry import (
    Failed,
    Finished,
    Host,
    Identity,
    InFlight,
    LanesChanged,
    LaneState,
    Outcome,
    Row,
    Terms,
    Visit,
    VisitFailed,
)

DIGEST_BYTES = 16


class Lane:
    """The visits of a lane, each a function of a state.

    Args:
        name: name, unique among all lanes that visit the same host.
        terms: options of all visits.
    """

    def __init__(self, name: str, terms: Terms) -> None:
        self.name = name
        self.terms = terms

    def visit(
        self, state: LaneState, stamp: int, rows: Iterable[Row], host: Host, /
    ) -> tuple[tuple[Finished, ...], LaneState]:
        """Return the results to emit, and the new state.

        Args:
            state: state after the last visit.
            stamp: unique stamp of the micro-batch, the same in every replay.
            rows: rows of the batch, in the order of the lane.
            host: host of the calls.

        Raises:
            LanesChanged: records are in flight that were read with another number of lanes.
            VisitFailed: a call has failed; the host calls again at the next visit.
        """
        self.require_lanes(state)
        flight = (*state.in_flight, *self.identified(state, stamp, rows))
        visit = self.asks(state, stamp, flight)
        answer = host.visit(visit)
        taken = self.takes(flight, answer)
        gone = {item.identity for item in taken}
        left = tuple(item for item in flight if item.identity not in gone)
        held = self.holds(state, stamp)
        return self.emits(state, stamp), self.after(stamp, left, (*held, *taken))

    def require_lanes(self, state: LaneState) -> None:
        """Refuse a state with another number of lanes, before a call of the visit begins.

        Raises:
            LanesChanged: records are in flight that were read with another number of lanes.
        """
        if state.lanes not in (None, self.terms.lanes) and self.wants_timer(state):
            assert state.lanes is not None
            raise LanesChanged(state.lanes, self.terms.lanes)

    def after(
        self, stamp: int, in_flight: tuple[InFlight, ...], finished: tuple[Finished, ...] = (), /
    ) -> LaneState:
        """Return the state after a visit, with the number of lanes."""
        return LaneState(stamp, in_flight, finished, self.terms.lanes)

    def restored(self, stamp: int, rows: Iterable[Row]) -> LaneState:
        """Return the first state of a lane that begins with rows of a snapshot.

        Args:
            stamp: stamp, like the stamp of a micro-batch before the first.
            rows: rows in the order of the lane.
        """
        return self.after(stamp, tuple(self.identified(LaneState(), stamp, rows)))

    def identified(
        self, state: LaneState, stamp: int, rows: Iterable[Row], /
    ) -> Iterable[InFlight]:
        """Yield the records of rows with their identities.

        The occurrences include records that an earlier visit of the batch has brought.
        """
        seen = Counter(each.digest for each in state.identities if each.stamp == stamp)
        for row in rows:
            digest = blake2b(row.record, digest_size=DIGEST_BYTES).digest()
            yield InFlight(Identity(digest, stamp, seen[digest]), row.record, row.key, row.time)
            seen[digest] += 1

    def asks(self, state: LaneState, stamp: int, flight: tuple[InFlight, ...]) -> Visit:
        """Return the visit for the host."""
        held = tuple(each.identity for each in self.holds(state, stamp))
        return Visit(self.name, self.terms, flight, held, self.lagging(flight))

    def lagging(self, flight: tuple[InFlight, ...]) -> tuple[Identity, ...]:
        """Return the records whose event time lags the newest by more than the skew."""
        skew = self.terms.skew
        times = {} if skew is None else {item.identity: item.time for item in flight}
        known = {identity: time for identity, time in times.items() if time is not None}
        if skew is None or not known:
            return ()
        oldest = max(known.values()) - skew
        return tuple(identity for identity, time in known.items() if time < oldest)

    def emits(self, state: LaneState, stamp: int) -> tuple[Finished, ...]:
        """Return the results to emit: the results of an earlier batch, which can't change."""
        return () if state.stamp == stamp else state.finished

    def holds(self, state: LaneState, stamp: int) -> tuple[Finished, ...]:
        """Return the results of an earlier visit of this batch, which the next batch emits."""
        return state.finished if state.stamp == stamp else ()

    def wants_timer(self, state: LaneState) -> bool:
        """Return whether the lane needs another visit even without rows."""
        return bool(state.in_flight or state.finished)

    def takes(
        self, flight: Iterable[InFlight], answer: Mapping[Identity, Outcome]
    ) -> tuple[Finished, ...]:
        """Return the finished records whose results may come out.

        Raises:
            VisitFailed: a call has failed, at any place in the order.
        """
        flight = tuple(flight)
        for item in flight:
            if isinstance(outcome := answer.get(item.identity), Failed):
                raise VisitFailed(self.name, item, outcome.reason)
        taken: list[Finished] = []
        held_up: set[bytes] = set()
        for item in flight:
            outcome = answer.get(item.identity)
            if outcome is None:
                if self.terms.mode == "ordered":
                    break
                held_up.add(item.key)
            elif self.terms.mode == "unordered" or item.key not in held_up:
                assert isinstance(outcome, bytes)
                taken.append(Finished(item.identity, outcome, item.key))
        return tuple(taken)
