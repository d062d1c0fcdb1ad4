"""The state of a leg each time its clock is about to move: what is still open then is open.

Within one instant things have no order but cause before effect, so nothing is judged there. When
time goes on, everything that could be done in that instant has been done, or is being held back.
"""

from collections.abc import Iterator
from functools import cached_property

from asyncwait.conformance.judging._history import LinkedLeg
from asyncwait.conformance.judging._items import NEVER, Item
from asyncwait.spec import LatencyMarker
from asyncwait.spec.scenario import (
    Scenario,
    SinkGaveUp,
    SinkLeft,
    SinkTook,
    SinkWaits,
    SnapshotAsked,
    Trace,
)


class Rest:
    """One moment at which a leg's clock moved.

    Args:
        history: the leg.
        at: the instant that ends, in ms.
        seq: number of its last event.
        waiting: whether the consumer waits for an element.
    """

    __slots__ = ("at", "history", "present", "seq", "waiting")

    def __init__(self, history: LinkedLeg, at: float, seq: int, *, waiting: bool) -> None:
        self.history = history
        self.at = at
        self.seq = seq
        self.waiting = waiting
        self.present = self._present()
        """Records and fences taken (or restored) and not yet gone, in input order."""

    def _present(self) -> list[Item]:
        """A record without results goes by itself once decided, in its turn at the latest."""
        present: list[Item] = []
        for item in self.history.items:
            if item.seq > self.seq:
                break
            if not (item.is_record or item.is_fence) or -1 < item.emitted_seq <= self.seq:
                continue
            if not self._is_silent(item) or self._has_before(present):
                present.append(item)
        return present

    def _is_silent(self, item: Item) -> bool:
        return item.results == () and item.decided_at <= self.at

    def _has_before(self, present: list[Item]) -> bool:
        """Whether it is not yet the turn of what comes behind `present`."""
        return bool(present) if self.history.ordered else any(i.is_fence for i in present)

    @property
    def failed(self) -> bool:
        """Whether a failure was decided by now."""
        return self.history.fail_at <= self.at

    def called(self) -> list[Item]:
        """Records with a call that are still present."""
        return [i for i in self.present if i.call is not None and i.call.seq <= self.seq]

    def in_flight(self) -> list[Item]:
        """The records that must count: in unordered mode silent ones may be gone already."""
        ordered = self.history.ordered
        return [i for i in self.called() if ordered or not self._is_silent(i)]

    def uncalled(self) -> list[Item]:
        """Records present whose call has not started."""
        return [
            i for i in self.present if i.is_record and (i.call is None or i.call.seq > self.seq)
        ]

    def undecided(self) -> list[Item]:
        """Records with a call that nothing has decided yet."""
        return [i for i in self.called() if i.decided_at > self.at]

    def slots(self) -> int:
        """The most slots that may be taken: called records, and watermarks and statuses."""
        return len(self.called()) + sum(item.is_fence for item in self.present)

    def has_room(self) -> bool:
        """Whether one more record may be admitted, however watermarks are counted."""
        return self.slots() < self.history.capacity

    def emittable(self) -> Item | None:
        """Return an element that could come out now and has not."""
        for item in self.present:
            if item.is_fence:
                return item if item is self.present[0] else None
            if item.results and item.decided_at <= self.at:
                return item
            if self.history.ordered:
                return None
        return None

    def next_input_is_due(self) -> bool:
        """Whether the source has an element that the operator has not taken."""
        history = self.history
        taken = sum(item.index is not None and item.seq <= self.seq for item in history.items)
        index = history.leg.first_index + taken
        inputs = history.scenario.inputs
        return index < len(inputs) and inputs[index].at - history.began_at <= self.at

    def input_is_over(self) -> bool:
        """Whether the source has no more to give, and would say so."""
        history = self.history
        taken = sum(item.index is not None and item.seq <= self.seq for item in history.items)
        rest = len(history.scenario.inputs) - history.leg.first_index - taken
        return not rest and history.scenario.source_ends_at - history.began_at <= self.at

    def snapshot_owed(self) -> str | None:
        """Return which snapshot has been asked for and not been emitted, or None.

        A barrier behind a record that waits for room waits with it.
        """
        history = self.history
        out = {o.element.checkpoint_id for o in history.snapshots if o.seq <= self.seq}  # type: ignore[union-attr]
        behind = min((item.pos for item in self.uncalled()), default=NEVER)
        for item in history.items:
            read = item.is_barrier and item.seq <= self.seq and item.pos < behind
            if read and item.element.checkpoint_id not in out:  # type: ignore[union-attr]
                return str(item)
        return None

    def request_owed(self) -> int | None:
        """Return the id of a snapshot requested and not emitted, or None."""
        history = self.history
        out = {o.element.checkpoint_id for o in history.snapshots if o.seq <= self.seq}  # type: ignore[union-attr]
        for event in history.events[: self.seq + 1]:
            if isinstance(event, SnapshotAsked) and event.checkpoint_id not in out:
                return event.checkpoint_id
        return None

    def marker_owed(self) -> Item | None:
        """Return a latency marker that was taken and not passed on, or None."""
        for item in self.history.items:
            waits = item.emitted_seq == -1 or item.emitted_seq > self.seq
            if isinstance(item.element, LatencyMarker) and item.seq <= self.seq and waits:
                return item
        return None


def rests(history: LinkedLeg) -> Iterator[Rest]:
    """Yield the leg's moments of rest, in order, until its consumer leaves."""
    events = history.events
    waiting = False
    for seq, event in enumerate(events):
        if isinstance(event, SinkWaits):
            waiting = True
        elif isinstance(event, SinkTook | SinkGaveUp):
            waiting = False
        elif isinstance(event, SinkLeft):
            return
        following = events[seq + 1].at if seq + 1 < len(events) else history.end_at
        if following > event.at:
            yield Rest(history, event.at, seq, waiting=waiting and history.end_at > event.at)


class LegHistory(LinkedLeg):
    """One leg, indexed, with its moments of rest."""

    @cached_property
    def rests(self) -> list[Rest]:
        """The moments at which the clock moved."""
        return list(rests(self))


class History:
    """A whole trace, indexed once for all checks.

    Args:
        scenario: what was planned.
        trace: what was observed.
        way: which of the possible explanations to choose; 0 is the likeliest.
    """

    def __init__(self, scenario: Scenario, trace: Trace, way: int = 0) -> None:
        self.scenario = scenario
        self.trace = trace
        self.ways = 1
        """How many explanations there are; see `LinkedLeg`."""
        self.legs: list[LegHistory] = []
        began_at = 0
        for number, leg in enumerate(trace.legs):
            history = LegHistory(scenario, leg, began_at, way // self.ways)
            self.legs.append(history)
            self.ways *= history.ways
            if number < len(scenario.crashes):
                began_at += scenario.crashes[number].at
