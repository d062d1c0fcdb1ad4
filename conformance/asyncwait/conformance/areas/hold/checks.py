"""HOLD: finished results make room for calls, up to `max_held`."""

from collections.abc import Iterator

from asyncwait.conformance.judging import (
    Finding,
    LegHistory,
    Rest,
    leg_check,
)


def _finished(rest: Rest) -> int:
    """Return how many decided records must still be in the operator."""
    return rest.in_flight - rest.undecided


@leg_check("HOLD-1")
def a_finished_record_makes_room(leg: LegHistory) -> Iterator[Finding]:
    """While the consumer waits, every record that may be called is called."""
    if leg.scenario.max_held is None:
        return
    for rest in leg.waits:
        if rest.called + rest.fences < leg.capacity:
            continue  # There would be room even if finished elements took it.
        if rest.has_room and rest.first_uncalled is not None:
            yield f"{rest.first_uncalled} is not called, only finished ones are in its way", rest.at
        if rest.has_room and rest.input_is_due:
            yield "the source has an element, and only finished ones are in its way", rest.at
        if _finished(rest):
            yield None


@leg_check("HOLD-2")
def the_calls_keep_their_bound(leg: LegHistory) -> Iterator[Finding]:
    """With finished elements beside them, at most `capacity` calls are undecided."""
    if leg.scenario.max_held is None:
        return
    for rest in leg.rests:
        if rest.undecided > leg.capacity:
            text = f"{rest.undecided} undecided calls and {_finished(rest)} finished, capacity "
            yield f"{text}{leg.capacity}", rest.at
        if rest.undecided and _finished(rest):
            yield None


@leg_check("HOLD-3")
def no_more_is_held_than_was_said(leg: LegHistory) -> Iterator[Finding]:
    """Finished records beyond `max_held` take room beside the undecided calls."""
    most = leg.scenario.max_held
    if most is None:
        return
    for rest in leg.rests:
        finished = _finished(rest)
        if rest.failed or not finished:
            continue
        if rest.undecided + max(0, finished - most) > leg.capacity:
            text = f"{rest.undecided} undecided and {finished} finished, capacity {leg.capacity}"
            yield f"{text} and {most} held", rest.at
        yield None


@leg_check("HOLD-4")
def when_both_are_full_the_source_waits(leg: LegHistory) -> Iterator[Finding]:
    """While a record waits for room, no further record is read."""
    if leg.scenario.max_held is None:
        return
    restored = 0 if leg.observed.restored is None else len(leg.observed.restored.in_flight)
    for rest in leg.rests:
        first = rest.first_for_room
        if rest.failed or rest.has_room:
            continue
        if first is None:
            if rest.input_is_due:  # No element is read ahead.
                yield None
            continue
        waiting = range(max(first.pos, restored), rest.known)
        _, *others = [leg.items[pos] for pos in waiting if leg.items[pos].is_record] or [first]
        if others:
            yield f"{others[0]} was taken though {first} waits for room", rest.at
        if first.index is not None:
            yield None
