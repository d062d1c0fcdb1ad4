"""REST: a restored operator goes on as if nothing had happened."""

from collections import Counter
from collections.abc import Iterator

from asyncwait.conformance.judging import (
    Finding,
    History,
    Item,
    Judgement,
    LegHistory,
    Output,
    Violation,
    check,
    leg_check,
)
from asyncwait.spec import Element, Record, Snapshot, Watermark, WatermarkStatus


@leg_check("REST-1")
def stored_records_are_called_before_new_ones(leg: LegHistory) -> Iterator[Finding]:
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
    restored = [i for i in leg.records if i.index is None and i.call is not None]
    for asked in leg.untimely_handlers:
        for item in restored:
            assert isinstance(item.element, Record)
            if item.element.value == asked.value and asked.at != leg.deadline(item):
                yield f"the handler was asked for {item} at {asked.at:g}", asked.at
    ending = leg.leg.ending
    for item in restored:
        early = ending.error == "CallTimedOut" and ending.record == item.element
        if early and ending.at < leg.deadline(item) and not item.timed_out:
            yield f"{item} timed out before its full time", ending.at
        elif item.timed_out:
            yield None


@leg_check("REST-3")
def stored_watermarks_come_out_again_and_no_others(leg: LegHistory) -> Iterator[Finding]:
    stored = [item for item in leg.items if item.index is None and item.is_fence]
    inputs = Counter(i.element for i in leg.items if i.is_fence and i.index is not None)
    allowed = inputs + Counter(item.element for item in stored)
    if leg.leg.restored is None:
        return
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
    """Every input has its results, exactly once, in what is kept of all legs together."""
    return _over_all_legs(history, lost=True)


@check("REST-6")
def nothing_comes_twice_over_all_legs(history: History) -> Judgement:
    return _over_all_legs(history, lost=False)


@check("REST-7")
def the_kept_outputs_are_one_legal_output(history: History) -> Judgement:
    """Order and fences hold across legs as they do within one."""
    if len(history.legs) < 2 or history.legs[-1].leg.ending.how != "finished":
        return Judgement()
    kept = _kept(history)
    rank = {id(item): place for place, item in _places(history)}
    violations, applied = [], 0
    ordered = all(leg.ordered for leg in history.legs)
    highest = -1
    fence = -1
    for number, output in kept:
        item = output.item
        if item is None or not (item.is_record or item.is_fence) or id(item) not in rank:
            continue
        place = rank[id(item)]
        applied += 1
        if place < fence or (ordered and place < highest) or (item.is_fence and place < highest):
            text = f"{output.element} came out behind something later"
            violations.append(Violation(text, output.at, number))
        highest = max(highest, place)
        if item.is_fence:
            fence = max(fence, place)
    return Judgement(applied, tuple(violations[:1]))


def _kept(history: History) -> list[tuple[int, Output]]:
    """Return the outputs that stay: of a crashed leg, those before its last snapshot."""
    kept: list[tuple[int, Output]] = []
    for number, leg in enumerate(history.legs):
        outputs = leg.outputs
        if number < len(history.legs) - 1:
            last = max((output.seq for output in leg.snapshots), default=-1)
            outputs = [output for output in outputs if output.seq <= last]
        kept += [(number, output) for output in outputs]
    return kept


def _places(history: History) -> Iterator[tuple[int, Item]]:
    """Yield every item of every leg with its place in the whole input.

    A restored item has the place of the item that it was in the leg before: stored elements are
    in input order, so the n-th stored element equal to another is the n-th of those not emitted.
    """
    before: list[tuple[int, Item]] = []
    offset = len(history.scenario.restore.in_flight) if history.scenario.restore else 0
    for leg in history.legs:
        now: list[tuple[int, Item]] = []
        free = list(before)
        for item in leg.items:
            if item.index is not None:
                place = offset + item.index
            elif leg is history.legs[0]:
                place = item.pos
            else:
                found = next((n for n, (_, i) in enumerate(free) if i.element == item.element), None)
                place = -1 if found is None else free[found][0]
                if found is not None:
                    del free[: found + 1]
            now.append((place, item))
        yield from now
        last = max((output.seq for output in leg.snapshots), default=-1)
        if last >= 0:
            before = [(p, i) for p, i in now if not -1 < i.emitted_seq < last]


def _over_all_legs(history: History, *, lost: bool) -> Judgement:
    """Count the kept outputs against what each input gave in the leg that emitted it."""
    if len(history.legs) < 2 or history.legs[-1].leg.ending.how != "finished":
        return Judgement()
    scenario = history.scenario
    wanted: Counter[str] = Counter()
    elements: list[Element] = [timed.element for timed in scenario.inputs]
    elements += scenario.restore.in_flight if scenario.restore else ()
    for element in elements:
        if isinstance(element, Record | Watermark | WatermarkStatus):
            wanted[str(element)] += 1
    got: Counter[str] = Counter()
    silent: Counter[str] = Counter()
    for _, output in _kept(history):
        item = output.item
        if item is not None and (item.is_record or item.is_fence) and not output.part:
            got[str(item.element)] += 1
    for leg in history.legs:
        for item in leg.records:
            if item.results == ():
                silent[str(item.element)] += 1
    wrong = wanted - got - silent if lost else got - wanted
    fault = "has no output in any leg" if lost else "has outputs in two legs"
    at, last = history.legs[-1].end_at, len(history.legs) - 1
    found = tuple(Violation(f"{element} {fault}", at, last) for element in list(wrong)[:1])
    return Judgement(sum(wanted.values()), found)
