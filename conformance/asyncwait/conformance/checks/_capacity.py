"""CAP: how much is taken in, and that it is made use of."""

from collections.abc import Iterator

from asyncwait.conformance.judging import Finding, LegHistory, leg_check


@leg_check("CAP-1")
def records_in_flight_stay_within_capacity(leg: LegHistory) -> Iterator[Finding]:
    for rest in leg.rests:
        if (called := rest.in_flight()) and not rest.failed:
            if len(called) > leg.capacity:
                yield f"{len(called)} records in flight, capacity {leg.capacity}", rest.at
                return
            yield None


@leg_check("CAP-2")
def undecided_calls_stay_within_capacity(leg: LegHistory) -> Iterator[Finding]:
    for rest in leg.rests:
        if undecided := rest.undecided():
            if len(undecided) > leg.capacity:
                yield f"{len(undecided)} undecided calls, capacity {leg.capacity}", rest.at
                return
            yield None


@leg_check("CAP-3")
def at_most_one_element_waits_for_room(leg: LegHistory) -> Iterator[Finding]:
    for rest in leg.rests:
        if rest.failed:
            return
        waiting = [item for item in rest.uncalled() if item.index is not None]
        behind = [
            item
            for item in leg.items
            if item.index is not None
            and item.seq <= rest.seq
            and waiting
            and item.pos > waiting[0].pos
        ]
        if behind:
            yield f"{behind[0]} was taken though {waiting[0]} waits for room", rest.at
            return
        if waiting:
            yield None


@leg_check("CAP-4")
def room_is_used_while_the_consumer_waits(leg: LegHistory) -> Iterator[Finding]:
    for rest in leg.rests:
        if not rest.waiting or rest.failed or not rest.has_room():
            continue
        if rest.uncalled():
            yield f"{rest.uncalled()[0]} is not called though there is room", rest.at
            return
        if rest.next_input_is_due():
            yield "the source has an element, there is room, and nobody takes it", rest.at
            return
        if rest.called():
            yield None


@leg_check("CAP-5")
def watermarks_and_statuses_take_slots(leg: LegHistory) -> Iterator[Finding]:
    for rest in leg.rests:
        fences = [item for item in rest.present if item.is_fence and item.index is not None]
        if fences and not rest.failed:
            # One more may have been taken and wait for room.
            if rest.slots() > leg.capacity + 1:
                yield f"{rest.slots()} elements are queued, capacity {leg.capacity}", rest.at
                return
            yield None
