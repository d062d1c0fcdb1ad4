"""WM: watermarks and statuses are fences, and come out unchanged."""

from collections.abc import Iterator
from itertools import zip_longest
from typing import TypeAlias

from asyncwait.conformance.judging import (
    NEVER,
    Finding,
    FirstBehind,
    Item,
    LegHistory,
    holds,
    is_same_element,
    leg_check,
)
from asyncwait.spec import Record, Watermark, WatermarkStatus

_Kinds: TypeAlias = tuple[type, ...]


@leg_check("WM-1")
def no_earlier_record_comes_out_behind_a_watermark(leg: LegHistory) -> Iterator[Finding]:
    """When a watermark comes out, every record before it is decided and out."""
    yield from _overtaken(leg, Watermark, (Record,))


@leg_check("WM-2", needs_times=False)
def no_later_record_comes_out_before_a_watermark(leg: LegHistory) -> Iterator[Finding]:
    """When a record comes out, every watermark before it is out."""
    yield from _run_ahead(leg, Watermark, (Record,))


@leg_check("WM-3", needs_times=False)
def watermarks_come_out_exactly_as_they_went_in(leg: LegHistory) -> Iterator[Finding]:
    """The output has the watermarks of the input, in the same order."""
    yield from _passed_on(leg, Watermark)


@leg_check("WM-4")
def a_watermark_is_not_held_back(leg: LegHistory) -> Iterator[Finding]:
    """A waiting consumer has got every watermark that has nothing before it."""
    yield from _held_back(leg, Watermark)


@leg_check("WM-5")
def nothing_crosses_a_status(leg: LegHistory) -> Iterator[Finding]:
    """Records and watermarks stay on their side of each status."""
    yield from _overtaken(leg, WatermarkStatus, (Record, Watermark))
    yield from _run_ahead(leg, WatermarkStatus, (Record, Watermark))


@leg_check("WM-6", needs_times=False)
def statuses_come_out_exactly_as_they_went_in(leg: LegHistory) -> Iterator[Finding]:
    """The output has the statuses of the input, in the same order."""
    yield from _passed_on(leg, WatermarkStatus)


@leg_check("WM-7")
def a_status_is_not_held_back(leg: LegHistory) -> Iterator[Finding]:
    """A waiting consumer has got every status that has nothing before it."""
    yield from _held_back(leg, WatermarkStatus)


def _overtaken(leg: LegHistory, kind: type, others: _Kinds) -> Iterator[Finding]:
    """Find the first fence that came out before an element in front of it was gone."""
    decided_at, gone_seq = -1.0, -1.0
    before = (item for item in leg.items if isinstance(item.element, others))
    item = next(before, None)
    for fence in leg.of(kind):
        while item is not None and item.pos < fence.pos:
            decided_at = max(decided_at, item.decided_at if item.is_record else 0)
            gone_seq = max(gone_seq, _gone_seq(item))
            item = next(before, None)
        if fence.given and decided_at >= 0:
            if decided_at > fence.emitted_at or gone_seq >= fence.emitted_seq:
                yield _first_crossed(leg, fence, others), fence.emitted_at
            yield None


def _gone_seq(item: Item) -> float:
    """Return the number of the event after which no output of `item` can follow."""
    if not _is_owed(item):
        return item.decided_seq
    return NEVER if item.emitted_seq < 0 else max(item.decided_seq, item.emitted_seq)


def _first_crossed(leg: LegHistory, fence: Item, others: _Kinds) -> str:
    """Return which of `others` was read before `fence`, and not gone when the fence came out."""
    before = (item for kind in others for item in leg.of(kind) if item.pos < fence.pos)
    return next(filter(None, (_crossed(item, fence) for item in before)))


def _crossed(item: Item, fence: Item) -> str:
    """Return why `item` was not gone when `fence` came out; "" if it was gone."""
    # A decision causes the outputs that it allows, so it precedes them within one instant, too.
    is_decided = item.decided_at <= fence.emitted_at and item.decided_seq < fence.emitted_seq
    if item.is_record and not is_decided:
        return f"{fence} came out while {item} was undecided"
    if _is_owed(item) and not item.is_out_before(fence.emitted_seq):
        return f"{fence} came out before {item} was out"
    return ""


def _is_owed(item: Item) -> bool:
    return item.is_fence or bool(item.results)


def _run_ahead(leg: LegHistory, kind: type, others: _Kinds) -> Iterator[Finding]:
    """Find the first fence that came out after an element behind it."""
    if not leg.of(kind):
        return
    first_behind = FirstBehind([item for item in leg.items if isinstance(item.element, others)])
    for fence in leg.of(kind):
        first = first_behind(fence.pos)
        if first != NEVER:
            if not fence.is_out_before(first):
                behind = (i for kind in others for i in leg.of(kind) if i.pos > fence.pos)
                early = next(i for i in behind if i.given and not fence.is_out_before(i.first_seq))
                yield f"{early} came out before {fence}", early.first_at
            yield None


def _passed_on(leg: LegHistory, kind: type) -> Iterator[Finding]:
    came = [output for output in leg.outputs if isinstance(output.element, kind)]
    for output, item in zip_longest(came, leg.of(kind)):
        if output is None:
            if leg.ran_to_its_end and not leg.may_stop:
                yield f"{item} never came out", leg.end_at
        elif item is None:
            yield f"{output.element} came out once more than it went in", output.at
        elif not is_same_element(output.element, item.element):
            yield f"expected {item}, got {output.element}", output.at
            return  # All later elements would be shifted.
        else:
            yield None


def _held_back(leg: LegHistory, kind: type) -> Iterator[Finding]:
    for rest in leg.waits:
        if (held := rest.emittable) is not None and isinstance(held.element, kind):
            yield f"{held} is next, but the waiting consumer did not get it", rest.at
    yield from holds(item.given for item in leg.of(kind))
