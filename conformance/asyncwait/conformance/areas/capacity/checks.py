"""CAP: how much is taken in, and that it is made use of."""

from collections.abc import Iterator

from asyncwait.conformance.judging import Finding, LegHistory, Rest, leg_check
from asyncwait.spec import LatencyMarker


@leg_check("CAP-1")
def records_in_flight_stay_within_capacity(leg: LegHistory) -> Iterator[Finding]:
    """When time goes on, at most `capacity` records are called and not gone."""
    for rest in leg.rests:
        if (called := rest.in_flight()) and not rest.failed:
            if len(called) > leg.capacity:
                yield f"{len(called)} records in flight, capacity {leg.capacity}", rest.at
                return
            yield None


@leg_check("CAP-2")
def undecided_calls_stay_within_capacity(leg: LegHistory) -> Iterator[Finding]:
    """When time goes on, at most `capacity` records are called and undecided."""
    for rest in leg.rests:
        if undecided := rest.undecided():
            if len(undecided) > leg.capacity:
                yield f"{len(undecided)} undecided calls, capacity {leg.capacity}", rest.at
                return
            yield None


@leg_check("CAP-3")
def at_most_one_element_waits_for_room(leg: LegHistory) -> Iterator[Finding]:
    """While a record waits for room, no element of the source waits but that or one other."""
    for rest in leg.rests:
        if rest.failed:
            return
        if uncalled := rest.uncalled():
            first = uncalled[0]
            taken = [item for item in leg.items if item.index is not None and item.seq <= rest.seq]
            waiting = [item for item in taken if item.pos >= first.pos]
            if len(waiting) > 1:
                yield f"{waiting[1]} was taken though {first} waits for room", rest.at
                return
            yield None


@leg_check("CAP-4")
def room_is_used_while_the_consumer_waits(leg: LegHistory) -> Iterator[Finding]:
    """When time goes on for a waiting consumer, there is no room or nothing to fill it."""
    for rest in leg.rests:
        if rest.waiting and not rest.failed and rest.has_room():
            unused = _unused(rest)
            if unused is not None:
                yield unused
                return
            if rest.called():
                yield None
    for item in leg.records:
        if item.call is not None and item.call.at > item.at:
            yield None  # It waited for room, and room came.


def _unused(rest: Rest) -> Finding:
    """Return what could have been admitted."""
    if uncalled := rest.uncalled():
        return f"{uncalled[0]} is not called though there is room", rest.at
    if rest.next_input_is_due():
        return "the source has an element, there is room, and nobody takes it", rest.at
    return None


@leg_check("CAP-5")
def watermarks_and_statuses_take_slots(leg: LegHistory) -> Iterator[Finding]:
    """Records and fences inside are `capacity` at most, and one more that waits for room."""
    for rest in leg.rests:
        fences = [item for item in rest.present if item.is_fence]
        # Restored elements are all there from the start, and which are admitted can't be seen.
        if fences and not rest.failed and all(item.index is not None for item in rest.present):
            inside = len(fences) + len(rest.in_flight()) + len(rest.uncalled())
            if inside > leg.capacity + 1:
                yield f"{inside} elements are inside, capacity {leg.capacity}", rest.at
                return
            yield None


@leg_check("CAP-6")
def markers_and_snapshots_do_not_pile_up(leg: LegHistory) -> Iterator[Finding]:
    """When time goes on without the consumer, few markers and barriers are taken and not out."""
    for rest in leg.rests:
        if rest.failed or rest.waiting:
            continue
        if overtaking := _not_out(leg, rest):
            if overtaking > leg.capacity + 1:
                yield f"{overtaking} markers and snapshots wait, capacity {leg.capacity}", rest.at
                return
            yield None


def _not_out(leg: LegHistory, rest: Rest) -> int:
    """Count the markers and barriers that were taken by now and have not come out."""
    out = {o.element.checkpoint_id for o in leg.snapshots if o.seq <= rest.seq}  # type: ignore[union-attr]
    taken = [item for item in leg.items if item.seq <= rest.seq]
    markers = [item for item in taken if isinstance(item.element, LatencyMarker)]
    return sum(not -1 < item.emitted_seq <= rest.seq for item in markers) + sum(
        item.is_barrier and item.element.checkpoint_id not in out  # type: ignore[union-attr]
        for item in taken
    )
