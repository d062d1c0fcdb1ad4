"""REST: a restored operator goes on as if nothing had happened."""

from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

from asyncwait.conformance.judging import (
    Finding,
    History,
    Item,
    Judgement,
    LegHistory,
    Output,
    Violation,
    accounted_for,
    check,
    leg_check,
)
from asyncwait.spec import Record, Watermark, WatermarkStatus


@leg_check("REST-1")
def stored_records_are_called_before_new_ones(leg: LegHistory) -> Iterator[Finding]:
    """Every stored record has a call, and each of these calls begins before any other."""
    restored = [item for item in leg.records if item.index is None]
    fresh = [i.call for i in leg.records if i.index is not None and i.call is not None]
    first = min((call.seq for call in fresh), default=None)
    for item in restored:
        if item.call is None:
            if first is not None or leg.ran_to_its_end:
                yield f"{item} was not called again", leg.end_at
        elif first is not None and item.call.seq > first:
            yield f"{item} was called after a new record", item.call.at
        else:
            yield None


@leg_check("REST-2")
def stored_records_get_a_full_timeout(leg: LegHistory) -> Iterator[Finding]:
    """No stored record is decided by time before its call in this leg had its full time."""
    for item in leg.records:
        if item.index is not None or item.call is None:
            continue
        early = _early_timeout(leg, item)
        if early is not None:
            yield f"{item} timed out at {early:g}, its call began at {item.call.at:g}", early
        elif item.timed_out:
            yield None


def _early_timeout(leg: LegHistory, item: Item) -> float | None:
    assert isinstance(item.element, Record)
    undecided_until = min(leg.deadline(item), item.decided_at)
    for asked in leg.untimely_handlers:
        if item.element.value == asked.value and asked.at < undecided_until:
            return asked.at
    ending = leg.leg.ending
    twins = any(i.timed_out and i.element == item.element for i in leg.records)
    named = ending.error == "CallTimedOut" and ending.record == item.element
    return leg.end_at if named and not twins and leg.end_at < undecided_until else None


@leg_check("REST-3")
def stored_fences_come_out_again_and_no_others(leg: LegHistory) -> Iterator[Finding]:
    """The fences that come out are those that were stored, and those read in this leg."""
    if leg.leg.restored is None:
        return
    stored = [item for item in leg.items if item.index is None and item.is_fence]
    allowed = Counter(item.element for item in leg.items if item.is_fence)
    for output in leg.outputs:
        if isinstance(output.element, Watermark | WatermarkStatus):
            allowed[output.element] -= 1
            if allowed[output.element] < 0:
                yield f"{output.element} was not stored: it came out before", output.at
    for item in stored:
        if item.outputs:
            yield None
        elif leg.ran_to_its_end:
            yield f"{item} did not come out again", leg.end_at


@leg_check("REST-4")
def restoring_stays_within_capacity(leg: LegHistory) -> Iterator[Finding]:
    """With more stored than there is room for, no more than `capacity` are in flight."""
    restored = [item for item in leg.records if item.index is None]
    if len(restored) < leg.capacity:
        return
    for rest in leg.rests:
        if rest.failed:
            return
        if len(rest.in_flight()) > leg.capacity:
            yield f"{len(rest.in_flight())} restored calls, capacity {leg.capacity}", rest.at
            return
        yield None


@check("REST-5")
def nothing_is_lost_over_all_legs(history: History) -> Judgement:
    """Each input that has an output is among the kept outputs of all legs, whole."""
    if not _is_whole(history):
        return Judgement()
    complete = Counter(
        str(k.item.element) for k in _kept(history) if k.output.seq == k.item.emitted_seq
    )
    silent = Counter(
        str(item.element) for leg in history.legs for item in leg.records if item.results == ()
    )
    return _tally(history, _wanted(history) - complete - silent, "has no output in any leg")


@check("REST-6")
def nothing_comes_twice_over_all_legs(history: History) -> Judgement:
    """No input is among the kept outputs of all legs more often than it was read."""
    if not _is_whole(history):
        return Judgement()
    begun = Counter(str(kept.item.element) for kept in _kept(history) if not kept.output.part)
    return _tally(history, begun - _wanted(history), "has outputs in two legs")


@check("REST-7")
def the_kept_outputs_are_one_legal_output(history: History) -> Judgement:
    """Order and fences hold across legs as they do within one."""
    if not _is_whole(history):
        return Judgement()
    places = _places(history)
    ordered = all(leg.ordered for leg in history.legs)
    applied, highest, fence = 0, -1, -1
    for kept in _kept(history):
        place = places[id(kept.item)]
        behind = highest if ordered or kept.item.is_fence else fence
        applied += 1
        if place < behind:
            text = f"{kept.output.element} came out behind something later"
            return Judgement(applied, (Violation(text, kept.output.at, kept.leg),))
        highest = max(highest, place)
        fence = max(fence, place) if kept.item.is_fence else fence
    return Judgement(applied)


class _Kept(Struct, frozen=True):
    """An output that stays, of a record or a fence."""

    leg: int
    item: Item
    output: Output


def _is_whole(history: History) -> bool:
    """Whether there was a crash, and the last leg ran to its end."""
    return len(history.legs) > 1 and history.legs[-1].ran_to_its_end


def _kept(history: History) -> list[_Kept]:
    """Return the outputs that stay: of a crashed leg, those before its last snapshot."""
    kept: list[_Kept] = []
    for number, leg in enumerate(history.legs):
        crashed = number < len(history.legs) - 1
        last = max((output.seq for output in leg.snapshots), default=-1)
        kept += [
            _Kept(number, output.item, output)
            for output in leg.outputs
            if output.item is not None
            and (output.item.is_record or output.item.is_fence)
            and (not crashed or output.seq < last)
        ]
    return kept


def _wanted(history: History) -> Counter[str]:
    """Count the records and fences that went in, the scenario's own restore included."""
    scenario = history.scenario
    elements = [timed.element for timed in scenario.inputs]
    elements += scenario.restore.in_flight if scenario.restore else ()
    return Counter(str(e) for e in elements if isinstance(e, Record | Watermark | WatermarkStatus))


def _tally(history: History, wrong: Counter[str], fault: str) -> Judgement:
    last = len(history.legs) - 1
    found = tuple(
        Violation(f"{element} {fault}", history.legs[last].end_at, last)
        for element in list(wrong)[:1]
    )
    return Judgement(_wanted(history).total(), found)


def _places(history: History) -> dict[int, int]:
    """Return the place of every item of every leg in the whole input, by the item's identity."""
    places: dict[int, int] = {}
    offset = len(history.scenario.restore.in_flight) if history.scenario.restore else 0
    source: list[Item] = []
    for leg in history.legs:
        # Those stored in the scenario's own snapshot have the first places.
        stored = [item for item in leg.items if item.index is None]
        places.update(_inherited(stored, source, places) if source else _first(stored))
        for item in leg.items:
            if item.index is not None:
                places[id(item)] = offset + item.index
        if leg.snapshots:
            last = leg.snapshots[-1]
            source = [i for i in accounted_for(leg, last) if not -1 < i.emitted_seq < last.seq]
    return places


def _first(stored: list[Item]) -> dict[int, int]:
    return {id(item): place for place, item in enumerate(stored)}


def _inherited(stored: list[Item], source: list[Item], places: dict[int, int]) -> dict[int, int]:
    """Give each stored item the place of the one in the leg before that it was.

    Both are in input order, and only records without results may be missing among the stored.
    From the end on, the last equal one in front of what is taken is the right one, or one that
    does as well. Where a snapshot is not in input order, any equal one has to do.
    """
    found: dict[int, int] = {}
    free = dict(enumerate(source))
    bound = len(source)
    for item in reversed(stored):
        same = [number for number, other in free.items() if other.element == item.element]
        if same:
            bound = max((number for number in same if number < bound), default=same[-1])
        found[id(item)] = places[id(free.pop(bound))] if same else -1
    return found
