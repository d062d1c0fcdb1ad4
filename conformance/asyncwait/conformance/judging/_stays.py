"""Which elements are there at which moments of rest: the moments, and who comes and goes when."""

from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

from asyncwait.conformance.judging._observe import NEVER, Facts, Item, key_of
from asyncwait.spec.scenario import Blocked, SinkGaveUp, SinkLeft, SinkTook, SinkWaits

_WAITING = {SinkWaits, SinkTook, SinkGaveUp}
"""What begins or ends a wait of the consumer."""


class Moment(NamedTuple):
    """An instant that ends, the number of its last event, and whether the consumer waits."""

    at: float
    seq: int
    waiting: bool


class Moments:
    """The moments at which the clock of a leg moved, until its consumer leaves, by number.

    Attributes:
        all: in order.
        never: the number of none, behind all others.
    """

    def __init__(self, facts: Facts) -> None:
        self.all = tuple(_moments(facts))
        self.never = len(self.all)
        self._ats = [moment.at for moment in self.all]
        self._seqs = [moment.seq for moment in self.all]

    def at(self, at: float) -> int:
        """Return the first moment at which so many ms have passed."""
        return bisect_left(self._ats, at)

    def after(self, seq: int) -> int:
        """Return the first moment after an event; number -1 was before all others."""
        return bisect_left(self._seqs, seq)

    def after_output(self, seq: int) -> int:
        """Return the first moment after an output; number -1 is none."""
        return self.never if seq < 0 else self.after(seq)


def _moments(facts: Facts) -> Iterator[Moment]:
    events, end_at = facts.leg.events, facts.leg.ending.at
    waiting = False
    failed_at = end_at if facts.leg.ending.how == "failed" else NEVER
    times = chain((event.at for event in islice(events, 1, None)), [end_at])
    for seq, (event, then) in enumerate(zip(events, times, strict=False)):
        kind = type(event)
        if kind is SinkLeft or event.at >= failed_at:
            return
        if kind in _WAITING:
            waiting = kind is SinkWaits
        # A blocked loop is no rest: whatever is open in this instant may have had no turn yet.
        if then > event.at and kind is not Blocked:
            yield Moment(event.at, seq, waiting and end_at > event.at)


class Stay(NamedTuple):
    """A record or fence, and the moments from which on it is there, called, decided and gone.

    In key-ordered mode also those from which on all before it that have its key are decided, and
    are gone.
    """

    item: Item
    since: int
    called: int
    decided: int
    until: int
    is_free: int = 0
    is_next: int = 0


def stays(facts: Facts, items: Sequence[Item], moments: Moments) -> Iterator[Stay]:
    """Yield when each record and fence comes and goes, in input order.

    Those without results go once they are decided and it is their turn: in ordered mode when
    nothing stands before them any more, else when no fence does, and none that has their key.
    """
    turn, mode = 0, facts.leg.mode
    lines: dict[Hashable, tuple[int, int]] = {}
    for item in items:
        if item.is_stored:
            since, decided = moments.after(item.seq), moments.at(item.decided_at)
            until = moments.after_output(item.emitted_seq)
            is_keyed = mode == "key-ordered" and item.is_record
            key = key_of(item) if is_keyed else None
            is_free, is_next = lines.get(key, (0, 0)) if is_keyed else (0, 0)
            if item.results == ():
                until = max(since, decided, turn, is_next)
            if item.is_fence or mode == "ordered":
                turn = max(turn, until)
            called = moments.never if item.call is None else moments.after(item.call.seq)
            yield Stay(item, since, called, decided, until, is_free, is_next)
            if is_keyed:
                lines[key] = max(is_free, decided), max(is_next, until)
