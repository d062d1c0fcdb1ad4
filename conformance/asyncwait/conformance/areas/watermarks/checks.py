"""WM: watermarks and statuses are fences, and come out as they went in."""

from collections.abc import Iterator
from itertools import zip_longest

from asyncwait.conformance.judging import Finding, Item, LegHistory, leg_check
from asyncwait.spec import Watermark, WatermarkStatus


@leg_check("WM-1")
def no_earlier_record_comes_out_behind_a_watermark(leg: LegHistory) -> Iterator[Finding]:
    """When a watermark comes out, every record before it is decided and out."""
    yield from _overtaken(_of(leg, Watermark), leg.records)


@leg_check("WM-2")
def no_later_record_comes_out_before_a_watermark(leg: LegHistory) -> Iterator[Finding]:
    """When a record comes out, every watermark before it is out."""
    yield from _run_ahead(_of(leg, Watermark), leg.records)


@leg_check("WM-3")
def watermarks_come_out_exactly_as_they_went_in(leg: LegHistory) -> Iterator[Finding]:
    """The watermarks of the output are those of the input, in the same order."""
    yield from _passed_on(leg, Watermark)


@leg_check("WM-4")
def a_watermark_is_not_held_back(leg: LegHistory) -> Iterator[Finding]:
    """A waiting consumer has got every watermark that has nothing before it."""
    yield from _held_back(leg, Watermark)


@leg_check("WM-5")
def nothing_crosses_a_status(leg: LegHistory) -> Iterator[Finding]:
    """Records and watermarks come out on that side of a status on which they were read."""
    if statuses := _of(leg, WatermarkStatus):
        others = leg.records + _of(leg, Watermark)
        yield from _overtaken(statuses, others)
        yield from _run_ahead(statuses, others)


@leg_check("WM-6")
def statuses_come_out_exactly_as_they_went_in(leg: LegHistory) -> Iterator[Finding]:
    """The statuses of the output are those of the input, in the same order."""
    yield from _passed_on(leg, WatermarkStatus)


@leg_check("WM-7")
def a_status_is_not_held_back(leg: LegHistory) -> Iterator[Finding]:
    """A waiting consumer has got every status that has nothing before it."""
    yield from _held_back(leg, WatermarkStatus)


def _of(leg: LegHistory, kind: type) -> list[Item]:
    return [item for item in leg.items if isinstance(item.element, kind)]


def _overtaken(fences: list[Item], others: list[Item]) -> Iterator[Finding]:
    """Find what was read before a fence, and was not gone when that came out."""
    for fence in fences:
        for item in others:
            if fence.outputs and item.pos < fence.pos:
                if item.is_record and not _is_decided(item, fence):
                    yield f"{fence} came out while {item} was undecided", fence.emitted_at
                elif _is_owed(item) and not -1 < item.emitted_seq < fence.emitted_seq:
                    yield f"{fence} came out before {item} was out", fence.emitted_at
                else:
                    yield None


def _is_decided(item: Item, fence: Item) -> bool:
    """Whether `item` was decided when `fence` came out; its decision is a cause of that."""
    return item.decided_at <= fence.emitted_at and item.decided_seq < fence.emitted_seq


def _is_owed(item: Item) -> bool:
    return item.is_fence or bool(item.results)


def _run_ahead(fences: list[Item], others: list[Item]) -> Iterator[Finding]:
    """Find what was read behind a fence, and began to come out when that was not out."""
    for fence in fences:
        for item in others:
            if item.outputs and item.pos > fence.pos:
                if not -1 < fence.emitted_seq < item.first_seq:
                    yield f"{item} came out before {fence}", item.outputs[0].at
                else:
                    yield None


def _passed_on(leg: LegHistory, kind: type) -> Iterator[Finding]:
    """Compare the elements of `kind` that came out with those that went in, one by one."""
    came = [output for output in leg.outputs if isinstance(output.element, kind)]
    for output, item in zip_longest(came, _of(leg, kind)):
        if output is None:
            if leg.ran_to_its_end:
                yield f"{item} never came out", leg.end_at
        elif item is None:
            yield f"{output.element} came out once more than it went in", output.at
        elif output.element != item.element:
            yield f"expected {item}, got {output.element}", output.at
            return  # From here on every one would be another one.
        else:
            yield None


def _held_back(leg: LegHistory, kind: type) -> Iterator[Finding]:
    for rest in leg.rests:
        if rest.waiting and not rest.failed:
            item = rest.emittable()
            if item is not None and isinstance(item.element, kind):
                yield f"{item} is next, but the waiting consumer did not get it", rest.at
                return
    for item in _of(leg, kind):
        if item.outputs:
            yield None
