"""WM: watermarks and statuses are fences, and come out as they went in."""

from collections.abc import Iterator

from asyncwait.conformance.judging import Finding, Item, LegHistory, leg_check
from asyncwait.spec import Watermark, WatermarkStatus


@leg_check("WM-1")
def no_earlier_record_comes_out_behind_a_watermark(leg: LegHistory) -> Iterator[Finding]:
    yield from _crossings(leg, Watermark, late=True)


@leg_check("WM-2")
def no_later_record_comes_out_before_a_watermark(leg: LegHistory) -> Iterator[Finding]:
    yield from _crossings(leg, Watermark, late=False)


@leg_check("WM-3")
def watermarks_come_out_exactly_as_they_went_in(leg: LegHistory) -> Iterator[Finding]:
    yield from _passed_on(leg, Watermark)


@leg_check("WM-4")
def a_watermark_is_not_held_back(leg: LegHistory) -> Iterator[Finding]:
    yield from _held_back(leg, Watermark)


@leg_check("WM-5")
def nothing_crosses_a_status(leg: LegHistory) -> Iterator[Finding]:
    yield from _crossings(leg, WatermarkStatus, late=True)
    yield from _crossings(leg, WatermarkStatus, late=False)


@leg_check("WM-6")
def statuses_come_out_exactly_as_they_went_in(leg: LegHistory) -> Iterator[Finding]:
    yield from _passed_on(leg, WatermarkStatus)


@leg_check("WM-7")
def a_status_is_not_held_back(leg: LegHistory) -> Iterator[Finding]:
    yield from _held_back(leg, WatermarkStatus)


def _fences(leg: LegHistory, kind: type) -> list[Item]:
    return [item for item in leg.items if isinstance(item.element, kind) and item.outputs]


def _crossings(leg: LegHistory, kind: type, *, late: bool) -> Iterator[Finding]:
    for fence in _fences(leg, kind):
        for item in leg.records:
            if not item.results or (item.pos < fence.pos) is not late:
                continue
            if late and not -1 < item.emitted_seq < fence.emitted_seq:
                yield f"{fence} came out before the results of {item}", fence.emitted_at
            elif not late and item.outputs and item.first_seq < fence.emitted_seq:
                yield f"results of {item} came out before {fence}", item.outputs[0].at
            else:
                yield None
        for item in leg.records:
            # A record that nothing has decided yet can't be behind its watermark either.
            undecided = item.pos < fence.pos and item.decided_at > fence.emitted_at
            if late and undecided and not item.results:
                yield f"{fence} came out while {item} is undecided", fence.emitted_at


def _passed_on(leg: LegHistory, kind: type) -> Iterator[Finding]:
    last = -1
    for output in leg.outputs:
        if isinstance(output.element, kind):
            if output.item is None:
                yield f"{output.element} was {output.trouble or 'invented'}", output.at
            elif output.item.pos < last:
                yield f"{output.item} came out behind a later one", output.at
            else:
                last = output.item.pos
                yield None
    if leg.ran_to_its_end:
        for item in leg.items:
            if isinstance(item.element, kind) and not item.outputs:
                yield f"{item} never came out", leg.end_at


def _held_back(leg: LegHistory, kind: type) -> Iterator[Finding]:
    for rest in leg.rests:
        if rest.waiting and not rest.failed:
            item = rest.emittable()
            if item is not None and isinstance(item.element, kind):
                yield f"{item} has nothing before it, but the waiting consumer did not get it", rest.at
                return
    for _ in _fences(leg, kind):
        yield None
