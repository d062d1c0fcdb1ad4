"""REST: a restored operator goes on as if the stream had not been interrupted."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator

from msgspec import Struct

from asyncwait.conformance.judging import (
    Finding,
    History,
    Identity,
    Item,
    Judgement,
    LegHistory,
    Output,
    Violation,
    bounded,
    check,
    identity_of,
    key_of,
    leg_check,
)
from asyncwait.spec import Element, Record, Watermark, WatermarkStatus


@leg_check("REST-1")
def stored_records_are_called_before_new_ones(leg: LegHistory) -> Iterator[Finding]:
    """Every stored record has a call, and each of these calls begins before any other call.

    In key-ordered mode it begins before any other call for its key.
    """
    fresh: dict[Hashable, int] = {}
    for item in leg.records:
        if item.index is not None and item.call is not None:
            key = _line_of(leg, item)
            fresh[key] = min(item.call.seq, fresh.get(key, item.call.seq))
    for item in leg.records:
        if item.index is not None:
            continue
        first = fresh.get(_line_of(leg, item))
        if item.call is None and (item.failure or leg.may_stop):
            continue
        if item.call is None:
            if first is not None or leg.ran_to_its_end:
                yield f"{item} was not called again", leg.end_at
        elif first is not None and item.call.seq > first:
            yield f"{item} was called after a new record", item.call.at
        else:
            yield None


def _line_of(leg: LegHistory, item: Item) -> Hashable:
    """Return a value that is equal for records that must wait for each other.

    With limits by key, a record may pass a record that waits for another key.
    """
    if leg.key_ordered or not any(each.by for each in leg.scenario.limits):
        return key_of(item) if leg.key_ordered else ""
    assert isinstance(item.element, Record)
    return leg.scenario.group(item.element.value)


@leg_check("REST-3", needs_times=False)
def stored_fences_come_out_again_and_no_others(leg: LegHistory) -> Iterator[Finding]:
    """Each fence that comes out was stored, or was read in this leg."""
    if leg.observed.restored is None:
        return
    stored = [item for item in leg.items if item.index is None and item.is_fence]
    allowed = Counter(item.identity for item in leg.items if item.is_fence)
    for output in leg.outputs:
        if isinstance(output.element, Watermark | WatermarkStatus):
            fence = identity_of(output.element)
            allowed[fence] -= 1
            if allowed[fence] < 0:
                yield f"{output.element} was not stored: it came out before", output.at
    for item in stored:
        if item.given:
            yield None
        elif leg.ran_to_its_end:
            yield f"{item} did not come out again", leg.end_at


@leg_check("REST-4")
def restoring_stays_within_capacity(leg: LegHistory) -> Iterator[Finding]:
    """If more records were stored than room exists, no more than `capacity` are in flight."""
    restored = [item for item in leg.records if item.index is None]
    if len(restored) < leg.room:
        return
    what = f"restored calls, capacity {leg.room}"
    yield from bounded(leg, leg.room, what, lambda rest: 0 if rest.failed else rest.in_flight)


@check("REST-5")
def nothing_is_lost_over_all_legs(history: History) -> Judgement:
    """Each record and fence of the input has all its outputs among the kept outputs of all legs."""
    if not _is_whole(history):
        return Judgement()
    kept = [k for k in _kept(history) if k.output.seq == k.item.emitted_seq]
    silent = [item for leg in history.legs for item in leg.records if item.results == ()]
    done = Counter(item.identity for item in [*(k.item for k in kept), *silent])
    return _judged(history, _more_often(_wanted(history), done), "has no output in any leg")


@check("REST-6")
def nothing_comes_twice_over_all_legs(history: History) -> Judgement:
    """No input is among the kept outputs of all legs more often than it was read."""
    if not _is_whole(history):
        return Judgement()
    begun = [kept.item.element for kept in _kept(history) if not kept.output.part]
    wanted = Counter(map(identity_of, _wanted(history)))
    return _judged(history, _more_often(begun, wanted), "has outputs in two legs")


@check("REST-7")
def the_kept_outputs_are_one_legal_output(history: History) -> Judgement:
    """The order of results and fences holds across legs as within one leg."""
    if not _is_whole(history):
        return Judgement()
    places = _places(history)
    ordered = all(leg.ordered for leg in history.legs)
    keyed = all(leg.ordered or leg.key_ordered for leg in history.legs)
    applied, highest, fence = 0, -1, -1
    lines: dict[Hashable, int] = {}
    for kept in _kept(history):
        place = places[kept.item]
        behind = highest if ordered or kept.item.is_fence else fence
        if keyed and kept.item.is_record:
            behind = max(behind, lines.get(key_of(kept.item), -1))
            lines[key_of(kept.item)] = place
        applied += 1
        if place < behind:
            text = f"{kept.output.element} came out behind something later"
            return Judgement(applied, (Violation(text, kept.output.at, kept.leg),))
        highest = max(highest, place)
        fence = max(fence, place) if kept.item.is_fence else fence
    return Judgement(applied)


class _Kept(Struct, frozen=True):
    leg: int
    item: Item
    output: Output


def _is_whole(history: History) -> bool:
    """Whether the trace has several legs, and the last one ran to its end without a budget."""
    last = history.legs[-1]
    is_told = all(leg.tells_what for leg in history.legs)
    return is_told and len(history.legs) > 1 and last.ran_to_its_end and not last.may_stop


def _kept(history: History) -> list[_Kept]:
    """Return the outputs that stay; in a crashed leg only those before its last snapshot."""
    kept: list[_Kept] = []
    for number, leg in enumerate(history.legs):
        crashed = number < len(history.legs) - 1
        last = max((output.seq for output in leg.snapshots), default=-1)
        kept += [
            _Kept(number, output.item, output)
            for output in leg.outputs
            if output.item is not None
            and output.item.is_stored
            and (not crashed or output.seq < last)
        ]
    return kept


def _wanted(history: History) -> list[Element]:
    scenario = history.scenario
    elements = [timed.element for timed in scenario.inputs]
    elements += scenario.restore.in_flight if scenario.restore else ()
    return [e for e in elements if isinstance(e, Record | Watermark | WatermarkStatus)]


def _more_often(elements: list[Element], others: Counter[Identity]) -> Element | None:
    """Return the first of `elements` that occurs more often there than in `others`."""
    identities = [identity_of(element) for element in elements]
    times = Counter(identities)
    both = zip(identities, elements, strict=True)
    return next((element for same, element in both if times[same] > others[same]), None)


def _judged(history: History, wrong: Element | None, fault: str) -> Judgement:
    last = len(history.legs) - 1
    at = history.legs[last].end_at
    found = () if wrong is None else (Violation(f"{wrong} {fault}", at, last),)
    return Judgement(len(_wanted(history)), found)


def _places(history: History) -> dict[Item, int]:
    places: dict[Item, int] = {}
    offset = len(history.scenario.restore.in_flight) if history.scenario.restore else 0
    source: list[Item] = []
    for leg in history.legs:
        # The elements stored in the scenario's own snapshot have the first places.
        stored = [item for item in leg.items if item.index is None]
        first = {item: place for place, item in enumerate(stored)}
        places.update(_inherited(stored, source, places) if source else first)
        for item in leg.items:
            if item.index is not None:
                places[item] = offset + item.index
        if leg.snapshots:
            last = leg.snapshots[-1]
            read = (item for item in leg.items[: last.bound] if item.is_stored)
            source = [item for item in read if not item.is_out_before(last.seq)]
    return places


def _inherited(stored: list[Item], source: list[Item], places: dict[Item, int]) -> dict[Item, int]:
    """Give each stored item the place of its item in the leg before.

    Both are in input order, and only records without results may be missing among the stored items.
    Going backwards, the last equal item before the previous match is the right one, or is as good.
    If a snapshot is not in input order, any equal item counts.
    """
    found: dict[Item, int] = {}
    free: dict[Identity, list[int]] = defaultdict(list)
    for number, item in enumerate(source):
        free[item.identity].append(number)
    bound = len(source)
    for item in reversed(stored):
        same = free[item.identity]
        if not same:
            found[item] = -1
            continue
        before = bisect_left(same, bound)
        bound = same.pop(before - 1 if before else -1)
        found[item] = places[source[bound]]
    return found
