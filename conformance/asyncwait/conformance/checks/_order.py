"""ORD: in which order results come out, and calls start."""

from collections.abc import Iterator

from asyncwait.conformance.judging import Finding, LegHistory, leg_check


@leg_check("ORD-1")
def ordered_results_come_in_input_order(leg: LegHistory) -> Iterator[Finding]:
    if not leg.ordered:
        return
    last = None
    for output in leg.outputs:
        item = output.item
        if item is None or not item.is_record or output.part:
            continue
        if last is not None:
            if item.pos < last.pos:
                yield f"results of {item} came after those of {last}", output.at
            else:
                yield None
        last = item


@leg_check("ORD-2")
def a_finished_head_is_not_held_back(leg: LegHistory) -> Iterator[Finding]:
    if leg.ordered:
        yield from _held_back(leg)


@leg_check("ORD-3")
def a_finished_record_waits_for_no_other_in_its_segment(leg: LegHistory) -> Iterator[Finding]:
    if not leg.ordered:
        yield from _held_back(leg)


def _held_back(leg: LegHistory) -> Iterator[Finding]:
    for rest in leg.rests:
        if rest.waiting and not rest.failed:
            item = rest.emittable()
            if item is not None and item.is_record:
                yield f"{item} is decided, but the waiting consumer did not get it", rest.at
                return
    for item in leg.records:
        if item.outputs:
            yield None


@leg_check("ORD-4")
def first_calls_start_in_input_order(leg: LegHistory) -> Iterator[Finding]:
    called = sorted((i for i in leg.records if i.call is not None), key=lambda i: i.call.seq)  # type: ignore[union-attr]
    for before, after in zip(called, called[1:], strict=False):
        assert after.call is not None
        if after.pos < before.pos:
            yield f"{before} was called before {after}", after.call.at
        else:
            yield None


@leg_check("ORD-5")
def each_record_is_called_once(leg: LegHistory) -> Iterator[Finding]:
    for call in leg.calls:
        if call in leg.extra_calls:
            yield f"call {call.number} of {call.value!r} belongs to no record", call.at
        else:
            yield None
    if leg.ran_to_its_end:
        for item in leg.records:
            if item.call is None:
                yield f"{item} was never called", leg.end_at
