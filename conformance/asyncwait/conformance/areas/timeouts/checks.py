"""TIME: deadlines, handlers, and the calls that outlive their records."""

from collections.abc import Iterator

from asyncwait.conformance.judging import (
    NEVER,
    Call,
    Finding,
    Item,
    LegHistory,
    failure_named,
    leg_check,
)
from asyncwait.spec import Record
from asyncwait.spec.scenario import HandlerAsked

_TURN = 20.0
"""Milliseconds that a cancelled call has to end in before it must be counted as abandoned."""


@leg_check("TIME-1")
def the_handler_is_asked_at_the_deadline_and_only_then(leg: LegHistory) -> Iterator[Finding]:
    """Each time the handler is asked, a record is due then that was undecided until then."""
    for asked in leg.untimely_handlers:
        yield f"the handler was asked for {asked.value!r}, no record of which is due", asked.at
    for item in leg.records:
        if item.asked_at != NEVER:
            yield None


@leg_check("TIME-2")
def an_undecided_record_is_decided_at_its_deadline(leg: LegHistory) -> Iterator[Finding]:
    """At the deadline of an undecided record the handler is asked, or the operator fails."""
    for item in leg.records:
        if not item.timed_out:
            continue
        if not leg.scenario.handled:
            yield from _fails_at_its_deadline(leg, item)
        elif item.asked_at != NEVER:
            yield None
        elif leg.deadline(item) < leg.over_at or _failed_unasked(leg, item):
            yield f"{item} passed its deadline and the handler was not asked", leg.deadline(item)


def _failed_unasked(leg: LegHistory, item: Item) -> bool:
    """Whether the operator failed by this deadline, and by none of an equal record."""
    asked = any(i.asked_at != NEVER and i.element == item.element for i in leg.records)
    return _blamed_for_timeout(leg, item) and not asked


def _fails_at_its_deadline(leg: LegHistory, item: Item) -> Iterator[Finding]:
    """Without a handler: the operator fails then, unless it was over by then."""
    deadline = leg.deadline(item)
    if deadline != leg.fail_at or deadline > leg.over_at:
        return
    text = f"{item} passed its deadline and the operator did not fail"
    waits = [rest.at for rest in leg.rests if rest.waiting and rest.at >= deadline]
    if waits or leg.ran_to_its_end:
        yield text, min(waits, default=leg.end_at)
    elif leg.leg.ending.how == "failed":
        yield None


@leg_check("TIME-3")
def what_the_handler_gives_is_the_result(leg: LegHistory) -> Iterator[Finding]:
    """The handler's results come out, and not what the call gives later."""
    for item in leg.records:
        if item.asked_at == NEVER or not item.results:
            continue
        late = _late_output(leg, item)
        if late is not None:
            yield late
        elif leg.ran_to_its_end and len(item.outputs) < len(item.results):
            yield f"{item}: the handler's {item.results} did not come out", leg.end_at
        elif item.outputs:
            yield None


@leg_check("TIME-4")
def a_deadline_without_results_is_a_timeout_error(leg: LegHistory) -> Iterator[Finding]:
    """A record that its deadline decides without results fails the leg with `CallTimedOut`."""
    yield from failure_named(leg, "CallTimedOut")


@leg_check("TIME-5")
def a_running_call_is_cancelled_at_the_deadline(leg: LegHistory) -> Iterator[Finding]:
    """A cancellation reaches a call in the instant of its record's deadline, and not before."""
    if leg.scenario.form == "callback":
        return
    for early in leg.calls:
        if early.cancelled_at < min(early.at + leg.timeout, leg.over_at, leg.end_at):
            yield f"call {early.number} of {early.value!r} was cancelled early", early.cancelled_at
    for item in leg.records:
        call, deadline = item.call, leg.deadline(item)
        if call is None or not item.timed_out:
            continue
        if deadline >= leg.over_at and not _blamed_for_timeout(leg, item):
            continue
        if call.cancelled_at <= deadline:
            yield None
        elif call.ended_at > deadline:
            yield f"{item}: its call was not cancelled at its deadline", deadline


@leg_check("TIME-6")
def a_late_result_does_not_count(leg: LegHistory) -> Iterator[Finding]:
    """What a call gives after its record's deadline does not come out."""
    for item in leg.records:
        call = item.call
        if call is None or call.ended is None or not item.timed_out:
            continue
        if call.ended.how == "returned" and call.ended_at > leg.deadline(item):
            yield _late_output(leg, item)


def _late_output(leg: LegHistory, item: Item) -> Finding:
    """Return the first output that can only be the late result of `item`'s call."""
    call = item.call
    if call is None or call.ended is None:
        return None
    late = [result for result in call.ended.results if result not in (item.results or ())]
    for output in leg.outputs:
        element = output.element
        surplus = output.trouble in {"invented", "repeated"} and output.seq > call.ended_seq
        if surplus and isinstance(element, Record) and element.value in late:
            return f"{element} is a late result: {item} was decided at its deadline", output.at
    return None


@leg_check("TIME-7")
def waiting_for_room_does_not_count(leg: LegHistory) -> Iterator[Finding]:
    """A record that waited for room is not decided by time before its call had its full time."""
    for item in leg.records:
        call = item.call
        if leg.timeout == NEVER or (call is not None and call.at == item.at):
            continue
        early = next((a for a in leg.untimely_handlers if _is_early(leg, item, a)), None)
        if early is not None:
            yield f"{item} timed out before its time since its call", early.at
        elif _failed_early(leg, item):
            yield f"{item} timed out before its time since its call", leg.end_at
        elif item.decided_at != NEVER:
            yield None


def _is_early(leg: LegHistory, item: Item, asked: HandlerAsked) -> bool:
    assert isinstance(item.element, Record)
    same = item.element.value == asked.value and item.at < asked.at
    return same and asked.at < min(leg.deadline(item), item.decided_at)


def _failed_early(leg: LegHistory, item: Item) -> bool:
    """Whether the leg failed by a deadline that `item` had not reached, and no equal record."""
    return _blamed_for_timeout(leg, item) and leg.end_at < leg.deadline(item)


def _blamed_for_timeout(leg: LegHistory, item: Item) -> bool:
    """Whether the leg failed with the timeout of `item`, and not of one that equals it."""
    ending = leg.leg.ending
    if ending.error != "CallTimedOut" or ending.record != item.element:
        return False
    return not any(i is not item and i.timed_out and i.element == item.element for i in leg.records)


@leg_check("TIME-8")
def abandoned_calls_are_counted(leg: LegHistory) -> Iterator[Finding]:
    """The statistics count the calls that ran on after a cancellation, and no others."""
    if leg.leg.ending.how not in {"finished", "left", "failed"}:
        return
    counted = leg.leg.abandoned
    least = sum(_is_abandoned(leg, call) for call in leg.calls)
    most = sum(call.ended_at > call.cancelled_at for call in leg.calls)
    if counted < least:
        yield f"{least} calls outlived their records, statistics say {counted}", leg.end_at
    elif counted > most:
        yield f"statistics say {counted} abandoned calls, at most {most} were", leg.end_at
    elif least:
        yield None


def _is_abandoned(leg: LegHistory, call: Call) -> bool:
    """Whether the call ran on after its deadline for so long that the operator must know."""
    return call.cancelled_at + _TURN < min(call.ended_at, leg.over_at, leg.end_at)


@leg_check("TIME-9")
def too_many_abandoned_calls_fail_the_operator(leg: LegHistory) -> Iterator[Finding]:
    """More than `capacity` abandoned calls at the same time are a failure, no fewer are."""
    if leg.leg.ending.error == "TooManyAbandonedCalls":
        if leg.overloaded_at == NEVER:
            text = f"failed with TooManyAbandonedCalls, and never more than {leg.capacity} ran on"
            yield text, leg.end_at
        else:
            yield None
        return
    most, since = _most_abandoned(leg)
    if most > leg.capacity and _goes_on(leg, since):
        yield f"{most} abandoned calls, capacity {leg.capacity}, and no failure", since
    elif most and leg.ran_to_its_end:
        yield None


def _most_abandoned(leg: LegHistory) -> tuple[int, float]:
    """Return the most calls that surely were abandoned at once, and since when."""
    abandoned = [call for call in leg.calls if _is_abandoned(leg, call)]
    most, since = 0, NEVER
    for at in sorted(call.cancelled_at for call in abandoned):
        running = sum(c.cancelled_at <= at < c.ended_at - _TURN for c in abandoned)
        if running > most:
            most, since = running, at
    return most, since


def _goes_on(leg: LegHistory, since: float) -> bool:
    """Whether the stream ended well, or a consumer that waits later than `since` is not told."""
    return leg.ran_to_its_end or any(rest.waiting and rest.at > since for rest in leg.rests)


@leg_check("TIME-10")
def a_call_that_answers_in_time_does_not_time_out(leg: LegHistory) -> Iterator[Finding]:
    """The error does not name a record for its timeout whose call answered before."""
    for item in leg.records:
        if item.timed_out or NEVER in {leg.timeout, item.decided_at}:
            continue
        if _blamed_for_timeout(leg, item):
            text = f"{item} answered at {item.decided_at:g}, before its deadline"
            yield text, leg.leg.ending.at
        else:
            yield None
