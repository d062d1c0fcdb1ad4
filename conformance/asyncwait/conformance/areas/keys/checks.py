"""KEY: one call at a time for a key, in input order; no record waits for a different key."""

from collections.abc import Iterator
from itertools import accumulate

from asyncwait.conformance.judging import (
    NEVER,
    Finding,
    Item,
    LegHistory,
    Rest,
    has_plain_key,
    held_back,
    holds,
    leg_check,
)


@leg_check("KEY-1")
def one_call_at_a_time_for_a_key(leg: LegHistory) -> Iterator[Finding]:
    """At the first call of a record, the record before it with the same key is decided."""
    for before, item in leg.pairs_of_keys:
        if has_plain_key(before, item) and not _is_between_attempts(leg, before, item):
            yield from _one_after_the_other(before, item)


@leg_check("KEY-2", needs_times=False)
def results_of_a_key_come_in_input_order(leg: LegHistory) -> Iterator[Finding]:
    """No record gives its results after a later record with the same key."""
    for before, item in leg.pairs_of_keys:
        if before.given and item.given:
            if item.first_seq < before.first_seq:
                yield f"results of {before} came after those of {item}", before.first_at
            else:
                yield None


@leg_check("KEY-3")
def a_finished_record_waits_for_no_other_key(leg: LegHistory) -> Iterator[Finding]:
    """A waiting consumer has got each decided record with no fence and no equal key before it."""
    if leg.key_ordered:
        yield from held_back(leg)


@leg_check("KEY-5")
def a_decided_record_frees_its_key(leg: LegHistory) -> Iterator[Finding]:
    """While the consumer waits, an admitted record is called as soon as its key is free."""
    behind = {item: before for before, item in leg.pairs_of_keys}
    for rest, item in _uncalled(leg):
        if item in behind:
            yield f"{item} is not called, though {behind[item]} is decided", rest.at
    yield from holds(
        item.call is not None and item.at < before.decided_at <= item.call.at
        for before, item in leg.pairs_of_keys
    )


@leg_check("KEY-6")
def a_busy_key_holds_up_no_other(leg: LegHistory) -> Iterator[Finding]:
    """While the consumer waits, records with free keys are called, even if other keys are busy."""
    if not leg.key_ordered:
        return
    for rest, item in _uncalled(leg):
        if item not in leg.behind_of_key and rest.undecided:
            yield f"{item} is not called, only other keys are busy", rest.at
    starts = (NEVER if item.call is None else item.call.seq for item in leg.records)
    latest = accumulate(starts, max, initial=-1.0)
    yield from holds(
        item.call is not None and item.call.seq < before
        for item, before in zip(leg.records, latest, strict=False)
    )


@leg_check("KEY-7")
def a_fence_holds_back_results_not_calls(leg: LegHistory) -> Iterator[Finding]:
    """While the consumer waits, records behind a fence are called as if no fence existed."""
    if not leg.key_ordered:
        return
    for rest, item in _uncalled(leg):
        if (fence := _fence_before(leg, item, rest.seq)) is not None:
            yield f"{item} is not called, only {fence} is before it", rest.at
    yield from holds(
        item.call is not None and _fence_before(leg, item, item.call.seq) is not None
        for item in leg.records
    )


@leg_check("KEY-8")
def keys_are_the_same_if_they_are_equal(leg: LegHistory) -> Iterator[Finding]:
    """KEY-1 also holds for keys of different types, for None, and for unhashable keys."""
    for before, item in leg.pairs_of_keys:
        if not (has_plain_key(before, item) or _is_between_attempts(leg, before, item)):
            yield from _one_after_the_other(before, item)


@leg_check("KEY-9")
def records_that_wait_for_their_keys_take_room(leg: LegHistory) -> Iterator[Finding]:
    """Records inside, called or not, are at most `capacity`, and one more that waits for room."""
    if not leg.key_ordered:
        return
    free = leg.scenario.max_held or 0
    for rest in leg.rests:
        if rest.failed or rest.restored or not rest.uncalled:
            continue
        finished = rest.in_flight - rest.undecided
        inside = rest.uncalled + rest.undecided + max(0, finished - free)
        if inside > leg.capacity + 1:
            yield f"{inside} records are inside, capacity {leg.capacity}", rest.at
        if rest.first_uncalled is None:
            yield None


def _one_after_the_other(before: Item, item: Item) -> Iterator[Finding]:
    if item.call is None:
        return
    if not _is_decided(before, item):
        yield f"{item} was called while {before} is undecided", item.call.at
    elif item.at < before.decided_at:
        yield None


def _is_decided(before: Item, item: Item) -> bool:
    assert item.call is not None
    if before.decided_seq >= 0:
        return before.decided_seq < item.call.seq
    earliest = NEVER if before.last is None else before.last.until
    return min(before.decided_at, earliest) <= item.call.at


def _is_between_attempts(leg: LegHistory, before: Item, item: Item) -> bool:
    """Whether `item` is called after an attempt at `before`, and before the next attempt."""
    if leg.scenario.retry is None or item.call is None or _is_decided(before, item):
        return False
    began = [attempt for attempt in before.attempts if attempt.seq < item.call.seq]
    if not began:
        return False
    last = began[-1]
    return -1 < last.ended_seq < item.call.seq or last.limit <= item.call.at


def _uncalled(leg: LegHistory) -> Iterator[tuple[Rest, Item]]:
    """Yield the first record that could be called while the consumer waits, and is not."""
    for rest in leg.waits if leg.key_ordered else ():
        if rest.has_room and rest.first_uncalled is not None:
            yield rest, rest.first_uncalled


def _fence_before(leg: LegHistory, item: Item, seq: int) -> Item | None:
    """Return the last fence before `item`; None if it was out before the event `seq`."""
    fence = leg.fence_before(item)
    return None if fence is None or fence.is_out_before(seq) else fence
