"""ORD: the order of results, and of the starts of calls."""

from collections.abc import Iterator
from itertools import pairwise

from asyncwait.conformance.judging import Finding, LegHistory, held_back, leg_check


@leg_check("ORD-1", needs_times=False)
def ordered_results_come_in_input_order(leg: LegHistory) -> Iterator[Finding]:
    """In ordered mode no record gives its results after a later record."""
    if leg.ordered:
        begun = sorted((item for item in leg.records if item.given), key=lambda i: i.first_seq)
        for before, item in pairwise(begun):
            if item.pos < before.pos:
                yield f"results of {item} came after those of {before}", item.first_at
            else:
                yield None


@leg_check("ORD-2")
def a_decided_head_is_not_held_back(leg: LegHistory) -> Iterator[Finding]:
    """In ordered mode a waiting consumer has got each decided record with nothing before it."""
    if leg.ordered:
        yield from held_back(leg)


@leg_check("ORD-3")
def a_finished_record_waits_for_no_other_in_its_segment(leg: LegHistory) -> Iterator[Finding]:
    """In unordered mode a waiting consumer has got each decided record with no fence before it."""
    if not (leg.ordered or leg.key_ordered):
        yield from held_back(leg)


@leg_check("ORD-4", needs_times=False)
def first_calls_start_in_input_order(leg: LegHistory) -> Iterator[Finding]:
    """Before the call of each record, the call of its predecessor has started."""
    if leg.key_ordered or leg.scenario.limits:
        return
    lost = leg.lost if leg.ran_to_its_end else ()
    for before, item in pairwise(item for item in leg.records if item.pos not in lost):
        if item.call is not None:
            if before.call is None or before.call.seq > item.call.seq:
                yield f"{item} was called before {before}", item.call.at
            else:
                yield None


@leg_check("ORD-5")
def each_record_is_called_once(leg: LegHistory) -> Iterator[Finding]:
    """Each call belongs to a record of its own, and at the end each record has a call."""
    extra = set(leg.extra_calls)
    for call in leg.calls:
        if call in extra:
            yield f"call {call.number} of {call.value!r} belongs to no record", call.at
        else:
            yield None
    if leg.ran_to_its_end and not leg.may_stop:
        for item in leg.records:
            if item.call is None and not item.failure:
                yield f"{item} was never called", leg.end_at
