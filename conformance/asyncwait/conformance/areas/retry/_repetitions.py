"""Repeated calls of each record, and records whose repeated call is missing."""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise

from msgspec import Struct

from asyncwait.conformance.judging import NEVER, Call, Item, LegHistory, Outcome


class Repetition(Struct, frozen=True, eq=False):
    """One call that repeats another call."""

    item: Item
    before: Call
    call: Call
    reason: Outcome

    @property
    def since(self) -> float:
        """Earliest start of the call, in ms."""
        return self.reason.since

    @property
    def until(self) -> float:
        """Latest start of the call, in ms."""
        return self.reason.until

    def __str__(self) -> str:
        return f"call {self.call.number} of {self.item}"


def repetitions(leg: LegHistory) -> Iterator[Repetition]:
    """Yield each call that repeats another call of its record with reason."""
    for item in leg.records:
        for number, (before, call) in enumerate(pairwise(item.attempts), 1):
            reason = leg.outcome(before, number)
            assert reason is not None
            yield Repetition(item, before, call, reason)


def owed(leg: LegHistory) -> Iterator[tuple[Item, float]]:
    """Yield each record that must be called again, and the latest start of that call, in ms."""
    for item in leg.records:
        if item.last is not None and item.decided_at == NEVER:
            end = leg.outcome(item.last, len(item.attempts))
            if end is not None and not end.stands:
                yield item, end.until


def not_repeated(leg: LegHistory) -> Iterator[tuple[Item, str, float]]:
    """Yield each record whose repeated call is missing, with a text and the time; see `owed`."""
    waits = Waits(leg)
    for item, until in owed(leg):
        late = waits.beyond(until)
        if leg.ending.error == "CallFailed" and leg.named == frozenset({item}):
            yield item, "was given up, and attempts are left", leg.end_at
        elif leg.ran_to_its_end:
            yield item, "was not called again, and the stream ended", leg.end_at
        elif late < leg.deadline(item):
            yield item, "was not called again when its back-off was over", late


class Waits:
    """Finds when time moved on for a waiting consumer; rests end in their order."""

    def __init__(self, leg: LegHistory) -> None:
        # With batches, a call also waits for other records, which no back-off bounds.
        self._over_at = leg.over_at if leg.scenario.batch is None else -NEVER
        self._rests = leg.waits
        self._ends = [rest.until for rest in self._rests]

    def beyond(self, until: float, seq: float = NEVER) -> float:
        """Return when time first moved beyond `until`; NEVER if it did not.

        Args:
            until: ms, when an event is due.
            seq: number of that event; NEVER if it did not happen.
        """
        number = bisect_right(self._ends, until)
        if until >= self._over_at or number == len(self._ends) or self._rests[number].seq >= seq:
            return NEVER
        return max(self._rests[number].at, until)
