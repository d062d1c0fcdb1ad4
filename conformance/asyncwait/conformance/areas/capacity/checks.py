"""CAP: the elements that an operator takes in, and the use of its room."""

from collections.abc import Iterator, Mapping
from itertools import islice

from asyncwait.conformance.judging import Finding, Item, LegHistory, Rest, bounded, holds, leg_check


@leg_check("CAP-1")
def records_in_flight_stay_within_capacity(leg: LegHistory) -> Iterator[Finding]:
    """When time goes on, at most `capacity` plus `max_held` records are called and not gone."""
    what = f"records in flight, capacity {leg.room}"
    yield from bounded(leg, leg.room, what, lambda rest: 0 if rest.failed else rest.in_flight)


@leg_check("CAP-2")
def undecided_calls_stay_within_capacity(leg: LegHistory) -> Iterator[Finding]:
    """When time goes on, at most `capacity` records are called and undecided."""
    what = f"undecided calls, capacity {leg.capacity}"
    yield from bounded(leg, leg.capacity, what, lambda rest: rest.undecided)


@leg_check("CAP-3")
def at_most_one_element_waits_for_room(leg: LegHistory) -> Iterator[Finding]:
    """While a record waits for room, at most one element of the source waits: it, or another."""
    out = {s.barrier.pos: s.seq for s in reversed(leg.snapshots) if s.barrier is not None}
    for rest in leg.rests:
        if rest.failed:
            return
        if (first := rest.first_for_room) is not None:
            if (second := _second_that_waits(leg, first, rest, out)) is not None:
                yield f"{second} was taken though {first} waits for room", rest.at
            yield None
        elif not rest.has_room and rest.input_is_due:
            yield None  # No record waits: an operator need not read ahead.


def _second_that_waits(
    leg: LegHistory, first: Item, rest: Rest, snapshots: Mapping[int, int]
) -> Item | None:
    """Return the second element of the source that waits, counted from `first` on."""
    restored = 0 if leg.observed.restored is None else len(leg.observed.restored.in_flight)
    taken = (leg.items[pos] for pos in range(max(first.pos, restored), rest.known))
    out = ((item, snapshots.get(item.pos, item.emitted_seq)) for item in taken)
    waiting = (item for item, seq in out if not -1 < seq <= rest.seq)
    return next(islice(waiting, 1, None), None)


@leg_check("CAP-4")
def room_is_used_while_the_consumer_waits(leg: LegHistory) -> Iterator[Finding]:
    """When time goes on for a waiting consumer, room or elements to fill it are missing."""
    for rest in leg.waits:
        if rest.has_room:
            if (unused := _unused(leg, rest)) is not None:
                yield unused
            if rest.called:
                yield None
    yield from holds(item.call is not None and item.call.at > item.at for item in leg.records)


def _unused(leg: LegHistory, rest: Rest) -> Finding:
    """Return an element that could be admitted; in key-ordered mode other rules judge calls."""
    first = rest.first_uncalled
    if first is not None and not (leg.key_ordered and (rest.called or first in leg.behind_of_key)):
        return f"{first} is not called though there is room", rest.at
    if rest.input_is_due and not leg.may_stop:
        return "the operator has room and does not take the next element of the source", rest.at
    return None


@leg_check("CAP-5")
def watermarks_and_statuses_take_slots(leg: LegHistory) -> Iterator[Finding]:
    """Records and fences inside are at most `capacity`, and one more that waits for room."""

    def inside(rest: Rest) -> int:
        # All restored elements are inside from the start; the trace hides which are admitted.
        if not rest.fences or rest.failed or rest.restored:
            return 0
        return rest.fences + rest.in_flight + rest.uncalled

    yield from bounded(leg, leg.room + 1, f"elements are inside, capacity {leg.room}", inside)


@leg_check("CAP-6")
def markers_and_snapshots_do_not_pile_up(leg: LegHistory) -> Iterator[Finding]:
    """When time goes on without a waiting consumer, few markers and barriers wait inside."""
    what = f"markers and snapshots wait, capacity {leg.capacity}"

    def overtaking(rest: Rest) -> int:
        return 0 if rest.failed or rest.waiting else rest.overtaking

    yield from bounded(leg, leg.capacity + 1, what, overtaking)


_UNNOTICED = 64
"""Number of objects that may be left over at the end of any stream, in variables of idle tasks."""


_FEW = 2
"""Bytes for each element; caches and queues of a loop may hide smaller leaks."""


@leg_check("CAP-7")
def what_came_out_is_not_kept(leg: LegHistory) -> Iterator[Finding]:
    """In a long stream, hardly any object stays alive after it came out."""
    if not leg.scenario.tracked:
        return
    most = _UNNOTICED + len(leg.outputs) // 8
    if leg.observed.kept > most:
        text = f"{leg.observed.kept} values and results are kept of a stream of {len(leg.records)}"
        yield text, leg.end_at
    elif leg.observed.grown >= _FEW:
        text = f"{leg.observed.grown:g} bytes are kept of each of {len(leg.outputs)} elements"
        yield text, leg.end_at
    elif leg.records and leg.ran_to_its_end:
        yield None
