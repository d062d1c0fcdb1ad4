"""CAP: how much is taken in, and that it is made use of."""

from collections.abc import Iterator

from asyncwait.conformance.judging import Finding, Item, LegHistory, Rest, leg_check


@leg_check("CAP-1")
def records_in_flight_stay_within_capacity(leg: LegHistory) -> Iterator[Finding]:
    """When time goes on, at most `capacity` records are called and not gone."""
    for rest in leg.rests:
        if rest.in_flight and not rest.failed:
            if rest.in_flight > leg.capacity:
                yield f"{rest.in_flight} records in flight, capacity {leg.capacity}", rest.at
                return
            yield None


@leg_check("CAP-2")
def undecided_calls_stay_within_capacity(leg: LegHistory) -> Iterator[Finding]:
    """When time goes on, at most `capacity` records are called and undecided."""
    for rest in leg.rests:
        if rest.undecided:
            if rest.undecided > leg.capacity:
                yield f"{rest.undecided} undecided calls, capacity {leg.capacity}", rest.at
                return
            yield None


@leg_check("CAP-3")
def at_most_one_element_waits_for_room(leg: LegHistory) -> Iterator[Finding]:
    """While a record waits for room, no element of the source waits but that or one other."""
    for rest in leg.rests:
        if rest.failed:
            return
        if (first := rest.first_uncalled) is not None:
            second = _second_that_waits(leg, first)
            if second < rest.known:
                yield f"{leg.items[second]} was taken though {first} waits for room", rest.at
                return
            yield None


def _second_that_waits(leg: LegHistory, first: Item) -> int:
    """Return the place of the second element of the source that is not before `first`."""
    restored = 0 if leg.restored is None else len(leg.restored.in_flight)
    return max(first.pos, restored) + 1


@leg_check("CAP-4")
def room_is_used_while_the_consumer_waits(leg: LegHistory) -> Iterator[Finding]:
    """When time goes on for a waiting consumer, there is no room or nothing to fill it."""
    for rest in leg.rests:
        if rest.waiting and not rest.failed and rest.has_room:
            unused = _unused(rest)
            if unused is not None:
                yield unused
                return
            if rest.called:
                yield None
    for item in leg.records:
        if item.call is not None and item.call.at > item.at:
            yield None  # It waited for room, and room came.


def _unused(rest: Rest) -> Finding:
    """Return what could have been admitted."""
    if rest.first_uncalled is not None:
        return f"{rest.first_uncalled} is not called though there is room", rest.at
    if rest.input_is_due:
        return "the source has an element, there is room, and nobody takes it", rest.at
    return None


@leg_check("CAP-5")
def watermarks_and_statuses_take_slots(leg: LegHistory) -> Iterator[Finding]:
    """Records and fences inside are `capacity` at most, and one more that waits for room."""
    for rest in leg.rests:
        # Restored elements are all there from the start, and which are admitted can't be seen.
        if rest.fences and not rest.failed and not rest.restored:
            inside = rest.fences + rest.in_flight + rest.uncalled
            if inside > leg.capacity + 1:
                yield f"{inside} elements are inside, capacity {leg.capacity}", rest.at
                return
            yield None


@leg_check("CAP-6")
def markers_and_snapshots_do_not_pile_up(leg: LegHistory) -> Iterator[Finding]:
    """When time goes on without the consumer, few markers and barriers are taken and not out."""
    for rest in leg.rests:
        if rest.overtaking and not rest.failed and not rest.waiting:
            if rest.overtaking > leg.capacity + 1:
                text = f"{rest.overtaking} markers and snapshots wait, capacity {leg.capacity}"
                yield text, rest.at
                return
            yield None
