"""State of a leg each time its clock is about to move: work that is open then stays open.

Events of one instant have no order except cause before effect, so nothing is judged within an
instant. When the clock moves, everything that could be done in that instant has been done, or is
being held back.

Each property of a rest holds from one moment to another: a record is called and not gone, a marker
was taken and is not out. Moments are numbered; a span begins with moment `since` and ends before
moment `until`. Each question is answered for all moments in one pass, so that its cost grows with
spans and moments only, and no check goes through the elements again at each moment.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import partial
from heapq import heappop, heappush
from itertools import accumulate, chain, islice, starmap
from operator import add, sub
from typing import Any, NamedTuple, TypeAlias, TypeVar

from msgspec import Struct

from asyncwait.conformance.judging._link import SnapshotOut
from asyncwait.conformance.judging._observe import NEVER, Facts, Item, key_of
from asyncwait.spec import LatencyMarker
from asyncwait.spec.scenario import (
    Blocked,
    SinkGaveUp,
    SinkLeft,
    SinkTook,
    SinkWaits,
    SnapshotAsked,
)

_T = TypeVar("_T")

Span: TypeAlias = tuple[int, int]
"""Moments from the first until before the second; empty unless the first is smaller."""


def count(spans: Iterable[Span], moments: int) -> list[int]:
    """Return the number of `spans` that contain each of `moments` moments."""
    changes = [0] * (moments + 1)
    for since, until in spans:
        if since < until:
            changes[since] += 1
            changes[until] -= 1
    return list(accumulate(changes[:moments]))


def first(spans: Sequence[tuple[Span, _T]], moments: int) -> list[_T | None]:
    """Return the first of `spans`, in their order, that contains each of `moments` moments."""
    if not spans:
        return [None] * moments
    beginning: list[list[int]] = [[] for _ in range(moments + 1)]
    for number, ((since, until), _) in enumerate(spans):
        if since < until:
            beginning[since].append(number)
    found: list[_T | None] = []
    holding: list[int] = []
    for moment in range(moments):
        for number in beginning[moment]:
            heappush(holding, number)
        while holding and spans[holding[0]][0][1] <= moment:
            heappop(holding)
        found.append(spans[holding[0]][1] if holding else None)
    return found


_WAITING = {SinkWaits, SinkTook, SinkGaveUp}
"""Events that begin or end a wait of the consumer."""


_OVER = {"failed", "hung", "livelock"}
"""Endings after which the operator does nothing more: it has closed, or is torn down."""


class Moment(NamedTuple):
    """The end of an instant, its last event, the next event, and whether the consumer waits."""

    at: float
    seq: int
    until: float
    waiting: bool


class Moments:
    """Moments at which the clock of a leg moved, until its consumer leaves, by number.

    Attributes:
        all: in order.
    """

    def __init__(self, facts: Facts) -> None:
        self.all = tuple(_moments(facts))
        self.never = len(self.all)
        self._ats = [moment.at for moment in self.all]
        self._seqs = [moment.seq for moment in self.all]

    def at(self, at: float) -> int:
        """Return the first moment at or after `at` ms."""
        return bisect_left(self._ats, at)

    def after(self, seq: int) -> int:
        """Return the first moment after an event; number -1 is before all events."""
        return bisect_left(self._seqs, seq)

    def after_output(self, seq: int) -> int:
        """Return the first moment after an output; number -1 is no output."""
        return self.never if seq < 0 else self.after(seq)


def _moments(facts: Facts) -> Iterator[Moment]:
    events, end_at = facts.observed.events, facts.observed.ending.at
    waiting = False
    over_at = end_at if facts.observed.ending.how in _OVER else NEVER
    times = chain((event.at for event in islice(events, 1, None)), [end_at])
    for seq, (event, then) in enumerate(zip(events, times, strict=False)):
        kind = type(event)
        if kind is SinkLeft or event.at >= over_at:
            return
        if kind in _WAITING:
            waiting = kind is SinkWaits
        # A blocked loop is no rest: it may not have run yet in this instant.
        if then > event.at and kind is not Blocked:
            yield Moment(event.at, seq, then, waiting and end_at > event.at)


class Stay(NamedTuple):
    """A record or fence, and the moments from which on it is present, called, decided and gone.

    `is_free` and `is_next` are for key-ordered mode: the moments from which on all earlier records
    with its key are decided, and are gone.
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

    An element without results goes when it is decided and its turn has come: in ordered mode when
    nothing stands before it, else when no fence and no record with its key does.
    """
    turn, mode = 0, facts.observed.mode
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
            # A record that failed without a call takes a slot as if it was called at that time.
            called = decided if item.call is None else moments.after(item.call.seq)
            yield Stay(item, since, called, decided, until, is_free, is_next)
            if is_keyed:
                lines[key] = max(is_free, decided), max(is_next, until)


class Slots(NamedTuple):
    """Elements that take slots at one moment, without records that are not called."""

    undecided: int
    finished: int
    possible: int


class Waiting(NamedTuple):
    """Records that wait for room at one moment."""

    has_room: bool
    for_room: Item | None
    maybe_for_room: Item | None


def waiting(
    there: Sequence[Stay],
    callable_first: Sequence[Item | None],
    slots: Sequence[Slots],
    capacity: int,
    free: int,
) -> Iterator[Waiting]:
    """Yield the records that wait for room at each moment."""
    items = {stay.item.pos: stay.item for stay in there}
    changes = _changes(there, len(slots))
    places: list[int] = []
    for (begins, ends), first, taken in zip(changes, callable_first, slots, strict=True):
        for pos in begins:
            insort(places, pos)
        for pos in ends:
            del places[bisect_left(places, pos)]
        sure = taken.undecided + max(0, taken.finished - free)
        possible = taken.undecided + max(0, taken.possible - free)
        before = len(places) if first is None else bisect_right(places, first.pos) - 1
        yield Waiting(
            before + possible < capacity,
            _at(places, items, capacity - sure),
            _at(places, items, capacity - possible),
        )


def _changes(there: Sequence[Stay], moments: int) -> list[tuple[list[int], list[int]]]:
    changes: list[tuple[list[int], list[int]]] = [([], []) for _ in range(moments)]
    for stay in there:
        until = min(stay.called, stay.until)
        if stay.item.is_record and stay.since < until:
            changes[stay.since][0].append(stay.item.pos)
            if until < moments:
                changes[until][1].append(stay.item.pos)
    return changes


def _at(places: Sequence[int], items: dict[int, Item], number: int) -> Item | None:
    number = max(0, number)
    return items[places[number]] if number < len(places) else None


class Rest(Struct, frozen=True, eq=False):
    """One moment at which a leg's clock moved.

    An element is *present* if it was restored or taken, is a record or fence, and is not gone. A
    record without results is gone once it is decided, in its turn at the latest.

    Args:
        at: the instant that ends, in ms.
        until: the instant of the next event, or of the leg's end.
        in_flight: number of present records that must count; in unordered mode records without
            results may be gone already.
    """

    at: float
    seq: int
    until: float
    waiting: bool
    failed: bool
    known: int
    present: int
    restored: int
    fences: int
    called: int
    in_flight: int
    undecided: int
    uncalled: int
    first_uncalled: Item | None
    first_for_room: Item | None
    has_room: bool
    emittable: Item | None
    input_is_due: bool
    input_is_over: bool
    snapshot_owed: Item | None
    request_owed: int | None
    marker_owed: Item | None
    overtaking: int


_Answers: TypeAlias = dict[str, Sequence[Any]]
"""Fields of Rest, each with its values at all moments."""


def rests(
    facts: Facts, items: Sequence[Item], snapshots: Sequence[SnapshotOut], fail_at: float
) -> tuple[Rest, ...]:
    """Return the leg's moments of rest, in order, until its consumer leaves.

    Args:
        facts: the leg.
        items: the inputs with their decisions and outputs.
        snapshots: the Snapshots that came out.
        fail_at: ms, when the first failure was decided.
    """
    moments = Moments(facts)
    there = tuple(stays(facts, items, moments))
    are_lost = lost(facts, items)
    if facts.observed.ending.how == "finished":  # A record that was never called did not wait.
        are_lost |= {item.pos for item in items if item.is_record and item.call is None}
    present = _present(facts, there, moments, are_lost)
    answers: _Answers = {
        **{name: [getattr(each, name) for each in moments.all] for name in Moment._fields},
        "failed": [fail_at <= moment.at for moment in moments.all],
        "emittable": tuple(_emittable(facts, there, moments)),
        **present,
        **_source(facts, items, moments),
        **_owed(facts, items, snapshots, moments, present.pop("maybe_for_room")),
    }
    columns = [answers[name] for name in Rest.__struct_fields__]
    return tuple(starmap(Rest, zip(*columns, strict=True)))


_LOSES = {"finished", "crashed", "left", "failed"}


def lost(facts: Facts, items: Sequence[Item]) -> frozenset[int]:
    """Return the places of records that were never called although a later record was.

    These records do not count as waiting for their calls: ORD-5 reports them. In a leg that does
    not come to its end they count, because such a record may be the reason.
    """
    waits_otherwise = facts.scenario.batch is not None or facts.scenario.limits
    if facts.observed.ending.how not in _LOSES or waits_otherwise:
        return frozenset()
    by_key = facts.observed.mode == "key-ordered"
    called: set[Any] = set()
    found = []
    for item in reversed(items):
        if item.is_record:
            line = key_of(item) if by_key else None
            if item.call is not None:
                called.add(line)
            elif line in called:
                found.append(item.pos)
    return frozenset(found)


def _present(
    facts: Facts, there: Sequence[Stay], moments: Moments, are_lost: frozenset[int]
) -> _Answers:
    """Count the present elements, and find the first record that waits for its call."""
    counted = partial(count, moments=moments.never)
    records = [stay for stay in there if stay.item.is_record]
    wait = [s for s in records if s.item.pos not in are_lost]
    uncalled = [((max(s.since, s.is_free), min(s.called, s.until)), s.item) for s in wait]
    called = counted((max(s.since, s.called), s.until) for s in records)
    silent = [s for s in records if s.item.results == () and facts.observed.mode != "ordered"]
    gone = counted((max(s.since, s.called, s.decided), s.until) for s in silent)
    fences = counted((s.since, s.until) for s in there if s.item.is_fence)
    undecided = counted((max(s.since, s.called), min(s.decided, s.until)) for s in records)
    in_flight = list(map(sub, called, gone))
    finished = list(map(sub, in_flight, undecided))
    possible = list(map(sub, map(add, called, fences), undecided))
    slots = list(map(Slots, undecided, finished, possible))
    # With batches and limits a record also waits for others or a permit; other rules judge that.
    waits_otherwise = facts.scenario.batch is not None or bool(facts.scenario.limits)
    first_uncalled = first([] if waits_otherwise else uncalled, moments.never)
    return {
        "present": counted((s.since, s.until) for s in there),
        "restored": counted((s.since, s.until) for s in there if s.item.index is None),
        "fences": fences,
        "called": called,
        "in_flight": in_flight,
        "undecided": undecided,
        "uncalled": counted((s.since, min(s.called, s.until)) for s in records),
        "first_uncalled": first_uncalled,
        **_room(facts, there, first_uncalled, slots),
    }


def _room(
    facts: Facts, there: Sequence[Stay], first_uncalled: Sequence[Item | None], slots: list[Slots]
) -> _Answers:
    capacity, free = facts.observed.capacity, facts.scenario.max_held or 0
    is_keyed, limits = facts.observed.mode == "key-ordered", facts.scenario.limits
    if is_keyed or facts.scenario.batch is not None or limits:
        found = [*waiting(there, first_uncalled, slots, capacity, free)]
        return {
            "has_room": [each.has_room for each in found],
            "first_for_room": [each.for_room for each in found],
            "maybe_for_room": [each.maybe_for_room for each in found],
        }
    taken = (each.undecided + max(0, each.possible - free) for each in slots)
    return {
        "has_room": [each < capacity for each in taken],
        "first_for_room": first_uncalled,
        "maybe_for_room": first_uncalled,
    }


def _emittable(facts: Facts, there: Sequence[Stay], moments: Moments) -> Iterator[Item | None]:
    """Yield the element that could come out: the head in ordered mode, else one behind no fence.

    In key-ordered mode no record with its key stands before it, either.
    """
    heads = first([((s.since, s.until), s.item) for s in there], moments.never)
    fences = first([((s.since, s.until), s.item) for s in there if s.item.is_fence], moments.never)
    decided = [s for s in there if s.item.results]
    spans = [((max(s.since, s.decided, s.is_next), s.until), s.item) for s in decided]
    ready = first(spans, moments.never)
    for head, fence, item in zip(heads, fences, ready, strict=True):
        if head is None or head is fence or head is item:
            yield head
        elif item is None or facts.observed.mode == "ordered":
            yield None
        else:
            yield item if fence is None or item.pos < fence.pos else None


def _source(facts: Facts, items: Sequence[Item], moments: Moments) -> _Answers:
    seqs = [item.seq for item in items]
    known = [bisect_right(seqs, moment.seq) for moment in moments.all]
    read_before = facts.observed.first_index - bisect_right(seqs, -1)
    inputs, began_at = facts.scenario.inputs, facts.began_at
    ends_at = facts.scenario.source_ends_at - began_at
    due, over = [], []
    for moment, number in zip(moments.all, known, strict=True):
        following = read_before + number
        due.append(following < len(inputs) and inputs[following].at - began_at <= moment.at)
        over.append(following == len(inputs) and ends_at <= moment.at)
    return {"known": known, "input_is_due": due, "input_is_over": over}


def _owed(
    facts: Facts,
    items: Sequence[Item],
    snapshots: Sequence[SnapshotOut],
    moments: Moments,
    for_room: Sequence[Item | None],
) -> _Answers:
    out: dict[int | None, int] = {
        s.checkpoint_id: moments.after(s.seq) for s in reversed(snapshots)
    }

    def until_out(seq: int, checkpoint_id: int | None) -> Span:
        return moments.after(seq), out.get(checkpoint_id, moments.never)

    requests = [
        (until_out(seq, e.checkpoint_id), e.checkpoint_id) for seq, e in facts.seen(SnapshotAsked)
    ]
    asking = (item for item in items if item.checkpoint_id is not None)
    barriers = [(until_out(item.seq, item.checkpoint_id), item) for item in asking]
    markers = [
        ((moments.after(i.seq), moments.after_output(i.emitted_seq)), i)
        for i in items
        if isinstance(i.element, LatencyMarker)
    ]
    behind = zip(first(barriers, moments.never), for_room, strict=True)
    return {
        "snapshot_owed": [b if b and (u is None or b.pos < u.pos) else None for b, u in behind],
        "request_owed": first(requests, moments.never),
        "marker_owed": first(markers, moments.never),
        "overtaking": count((span for span, _ in barriers + markers), moments.never),
    }
