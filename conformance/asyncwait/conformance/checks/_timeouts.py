"""TIME: deadlines, handlers, and the calls that outlive their records."""

from collections.abc import Iterator

from asyncwait.conformance.checks._results import failure_named
from asyncwait.conformance.judging import NEVER, Call, Finding, Item, LegHistory, leg_check
from asyncwait.spec import Record
from asyncwait.spec.scenario import HandlerAsked


@leg_check("TIME-1")
def the_handler_is_asked_at_the_deadline_and_only_then(leg: LegHistory) -> Iterator[Finding]:
    for asked in leg.untimely_handlers:
        yield f"the handler was asked for {asked.value!r}, no record of which is due", asked.at
    for item in leg.records:
        if item.asked_at != NEVER:
            yield None


@leg_check("TIME-2")
def an_undecided_record_is_decided_at_its_deadline(leg: LegHistory) -> Iterator[Finding]:
    if leg.scenario.handled:
        for item in _due(leg):
            if item.asked_at == NEVER:
                yield f"{item} passed its deadline and the handler was not asked", leg.deadline(item)
            else:
                yield None
    else:
        yield from _due_without_handler(leg)


def _due_without_handler(leg: LegHistory) -> Iterator[Finding]:
    for item in _due(leg):
        deadline = leg.deadline(item)
        waits = [rest for rest in leg.rests if rest.waiting and rest.at >= deadline]
        if waits:
            yield f"{item} passed its deadline and the operator did not fail", waits[0].at
        elif leg.leg.ending.how == "failed":
            yield None


@leg_check("TIME-3")
def what_the_handler_gives_is_the_result(leg: LegHistory) -> Iterator[Finding]:
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
    yield from failure_named(leg, "CallTimedOut")


@leg_check("TIME-5")
def a_running_call_is_cancelled_at_the_deadline(leg: LegHistory) -> Iterator[Finding]:
    if leg.scenario.form == "callback":
        return
    for item in _due(leg):
        call = item.call
        if call is None or call.ended_at <= leg.deadline(item):
            if call is not None and call.cancelled_at <= leg.deadline(item):
                yield None
            continue
        if call.cancelled_at > leg.deadline(item) and call.ended_at > leg.deadline(item):
            yield f"{item}: its call was not cancelled at its deadline", leg.deadline(item)
        else:
            yield None


@leg_check("TIME-6")
def a_late_result_does_not_count(leg: LegHistory) -> Iterator[Finding]:
    for item in leg.records:
        call = item.call
        if call is None or call.ended is None or not item.timed_out:
            continue
        if call.ended.how == "returned" and call.ended_at > leg.deadline(item):
            late = _late_output(leg, item)
            yield late


def _late_output(leg: LegHistory, item: Item) -> Finding:
    """Return the first output that can only be the late result of `item`'s call."""
    ended = None if item.call is None else item.call.ended
    if ended is None or not ended.results or ended.results[0] in (item.results or ()):
        return None
    for output in leg.outputs:
        element = output.element
        if output.trouble == "invented" and isinstance(element, Record):
            if element.value == ended.results[0]:
                return f"{element} is a late result: {item} was decided at its deadline", output.at
    return None


@leg_check("TIME-7")
def waiting_for_room_does_not_count(leg: LegHistory) -> Iterator[Finding]:
    for asked in leg.untimely_handlers:
        if any(_is_early(leg, item, asked) for item in leg.records):
            yield f"{asked.value!r} timed out before its time since its call", asked.at
    for item in leg.records:
        if item.call is not None and item.call.at > item.at and item.timed_out:
            yield None


def _is_early(leg: LegHistory, item: Item, asked: HandlerAsked) -> bool:
    assert isinstance(item.element, Record)
    return item.element.value == asked.value and asked.at < leg.deadline(item)


@leg_check("TIME-8")
def abandoned_calls_are_counted(leg: LegHistory) -> Iterator[Finding]:
    if leg.leg.ending.how not in {"finished", "left", "failed"}:
        return
    outlived = [call for call in leg.calls if _abandoned_by_deadline(leg, call)]
    if leg.leg.abandoned < len(outlived):
        text = f"{len(outlived)} calls outlived their records, statistics say {leg.leg.abandoned}"
        yield text, leg.end_at
    elif outlived or leg.leg.abandoned:
        most = sum(call.ended_at > call.cancelled_at for call in leg.calls)
        if leg.leg.abandoned > most:
            yield f"statistics say {leg.leg.abandoned} abandoned calls, at most {most} were", leg.end_at
        else:
            yield None


def _abandoned_by_deadline(leg: LegHistory, call: Call) -> bool:
    """The call ran on after a cancellation that its deadline brought, and the leg went on."""
    cancelled = call.cancelled_at
    return cancelled < call.ended_at and cancelled < leg.end_at and cancelled < leg.fail_at


def _most_abandoned(leg: LegHistory) -> tuple[int, float]:
    """Return the most calls that ran on at once, and when there were first so many."""
    most, since = 0, NEVER
    for call in sorted(leg.calls, key=lambda c: c.cancelled_at):
        at = call.cancelled_at
        running = sum(c.cancelled_at <= at < c.ended_at for c in leg.calls)
        if at < min(leg.end_at, leg.fail_at) and running > most:
            most, since = running, at
    return most, since


@leg_check("TIME-9")
def too_many_abandoned_calls_fail_the_operator(leg: LegHistory) -> Iterator[Finding]:
    most, since = _most_abandoned(leg)
    ending = leg.leg.ending
    if ending.error == "TooManyAbandonedCalls":
        if most <= leg.capacity:
            yield f"failed with {most} abandoned calls, capacity {leg.capacity}", ending.at
        else:
            yield None
    elif most > leg.capacity and ending.how in {"finished", "hung"}:
        yield f"{most} abandoned calls, capacity {leg.capacity}, and no failure", since


@leg_check("TIME-10")
def a_call_that_answers_in_time_does_not_time_out(leg: LegHistory) -> Iterator[Finding]:
    ending = leg.leg.ending
    for item in leg.records:
        if item.timed_out or item.call is None or leg.timeout == NEVER or item.decided_at == NEVER:
            continue
        same = item.element == ending.record and ending.error == "CallTimedOut"
        twins = any(i.timed_out and i.element == item.element for i in leg.records)
        if same and not twins:
            yield f"{item} answered at {item.decided_at:g}, before its deadline", ending.at
        else:
            yield None


def _due(leg: LegHistory) -> list[Item]:
    """Records that their deadline found undecided, while the operator still had to care."""
    over = min(leg.fail_at, _left_at(leg))
    return [i for i in leg.records if i.timed_out and leg.deadline(i) < over or _fails_first(leg, i)]


def _fails_first(leg: LegHistory, item: Item) -> bool:
    return item.timed_out and bool(item.wrong) and item.decided_at == leg.fail_at < _left_at(leg)


def _left_at(leg: LegHistory) -> float:
    """When the leg was over for its operator; at that very instant anything may happen."""
    return leg.end_at if leg.leg.ending.how in {"left", "crashed", "failed"} else NEVER
