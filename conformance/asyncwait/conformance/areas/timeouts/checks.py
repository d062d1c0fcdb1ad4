"""TIME: deadlines, handlers, and calls that outlive their records."""

from collections.abc import Iterable, Iterator

from asyncwait.conformance.judging import (
    NEVER,
    TURN,
    Call,
    Finding,
    Item,
    LegHistory,
    blamed_for_timeout,
    failure_named,
    first_stray,
    holds,
    leg_check,
    running_at,
)
from asyncwait.spec import Record
from asyncwait.spec.scenario import identity
from asyncwait.spec.texts import counted


@leg_check("TIME-1", needs_times=False)
def the_handler_is_asked_at_the_deadline_and_only_then(leg: LegHistory) -> Iterator[Finding]:
    """At each request to the handler, an undecided record is due."""
    for asked in leg.untimely_handlers:
        yield f"the handler was asked for {asked.value!r}, no record of which is due", asked.at
    yield from holds(item.asked_at != NEVER for item in leg.records)


@leg_check("TIME-2", needs_times=False)
def an_undecided_record_is_decided_at_its_deadline(leg: LegHistory) -> Iterator[Finding]:
    """At the deadline of an undecided record the operator asks the handler, or fails."""
    due = [item for item in leg.records if item.timed_out]
    if not leg.scenario.handled:
        yield from _fail_at_their_deadline(leg, due) if leg.tells_when else ()
        return
    unasked = _blamed_unasked(leg)
    for item in due:
        if item.asked_at != NEVER:
            yield None
        elif leg.due(item) < leg.may_be_over_at or item in unasked:
            yield f"{item} passed its deadline and the handler was not asked", leg.due(item)


def _blamed_unasked(leg: LegHistory) -> frozenset[Item]:
    """Return the records that the error may blame; empty if the handler was asked for one.

    A request names a value, and so it may mean each record with an equal value.
    """
    asked = {_value(item) for item in leg.records if item.asked_at != NEVER}
    blamed = blamed_for_timeout(leg)
    return frozenset() if any(_value(item) in asked for item in leg.named) else blamed


def _value(item: Item) -> str:
    assert isinstance(item.element, Record)
    return identity(item.element.value)


def _fail_at_their_deadline(leg: LegHistory, due: list[Item]) -> Iterator[Finding]:
    """Without a handler, the operator fails at the first deadline unless it is over."""
    if leg.fail_at > leg.over_at or leg.ending.how == "interrupted":
        return  # After an error that ends the program, no consumer gets an error.
    waits = (rest.at for rest in leg.rests if rest.waiting and rest.at >= leg.fail_at)
    unnoticed = next(waits, leg.end_at if leg.ran_to_its_end else None)
    for item in due:
        if item.decided_at == leg.fail_at:
            if unnoticed is not None:
                yield f"{item} passed its deadline and the operator did not fail", unnoticed
            elif leg.ending.how == "failed":
                yield None


@leg_check("TIME-3", needs_times=False)
def what_the_handler_gives_is_the_result(leg: LegHistory) -> Iterator[Finding]:
    """The results of the handler come out, and not the later results of the call."""
    for item in leg.records:
        if item.asked_at == NEVER or not item.results:
            continue
        late = _late_output(leg, item)
        if late is not None:
            yield late
        elif leg.ran_to_its_end and item.given < len(item.results):
            yield f"{item}: the handler's {item.results} did not come out", leg.end_at
        elif item.given:
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
    blamed = blamed_for_timeout(leg)
    # The harness tears down a run without an end, and its trace shows that a little later.
    for early in () if leg.ending.how in {"hung", "livelock"} else leg.calls:
        if early.cancelled_at < min(early.until, leg.may_be_over_at, leg.end_at):
            yield f"call {early.number} of {early.value!r} was cancelled early", early.cancelled_at
    for item in leg.records:
        call, deadline = item.last, leg.deadline(item)
        if call is None or not item.timed_out or call.until > call.deadline:
            continue  # Other records may still wait for the call.
        if deadline >= leg.may_be_over_at and item not in blamed:
            continue
        if call.cancelled_at <= deadline:
            yield None
        elif call.ended_at > deadline:
            yield f"{item}: its call was not cancelled at its deadline", deadline


@leg_check("TIME-6", needs_times=False)
def a_late_result_does_not_count(leg: LegHistory) -> Iterator[Finding]:
    """Results that a call gives after its record's deadline do not come out."""
    for item in leg.records:
        call = item.last
        if call is None or call.ended is None or not item.timed_out:
            continue
        if call.ended.how == "returned" and call.ended_at > leg.deadline(item):
            yield _late_output(leg, item)


def _late_output(leg: LegHistory, item: Item) -> Finding:
    """Return the first output that can only be the late result of the call of `item`."""
    call = item.last
    if call is None or call.ended is None:
        return None
    own = {identity(result) for result in item.results or ()}
    late = [result for result in call.ended.results if identity(result) not in own]
    stray = first_stray(leg, late, after=call.ended_seq)
    if stray is None:
        return None
    text = f"{stray.element} is a late result: {item} was decided at its deadline"
    return text, stray.at


@leg_check("TIME-8", needs_times=False)
def abandoned_calls_are_counted(leg: LegHistory) -> Iterator[Finding]:
    """The statistics count exactly the calls that ran on after a cancellation."""
    if leg.ending.how not in {"finished", "left", "failed"}:
        return
    told = leg.observed.abandoned
    over_at = _gave_up_at(leg) if leg.tells_when else -NEVER
    least = sum(_is_abandoned(leg, call, over_at) for call in leg.runs)
    most = sum(call.ended_at > call.cancelled_at for call in leg.runs)
    if told < least:
        outlived = counted(least, "call outlived its record", "calls outlived their records")
        yield f"{outlived}, statistics say {told}", leg.end_at
    elif told > most:
        yield f"statistics say {counted(told, 'abandoned call')}, at most {most} were", leg.end_at
    elif least:
        yield None


def _gave_up_at(leg: LegHistory) -> float:
    """Return the earliest time of cancellations that the end of the operator may have caused."""
    may_be_overloaded = leg.ending.error == "TooManyAbandonedCalls" or leg.ending.how == "left"
    return leg.may_be_over_at if may_be_overloaded else leg.over_at


def _is_abandoned(leg: LegHistory, call: Call, over_at: float) -> bool:
    """Whether the call ran on after its deadline for so long that the operator must know."""
    return call.cancelled_at + TURN < min(call.ended_at, over_at, leg.end_at)


@leg_check("TIME-9")
def too_many_abandoned_calls_fail_the_operator(leg: LegHistory) -> Iterator[Finding]:
    """The operator fails when more abandoned calls run than calls may run, and only then."""
    may = leg.most_calls
    for at, running in running_at(_overtaken(leg)):
        if running > may:
            yield f"a call began, and {running} abandoned ones ran, at most {may} may", at
    if leg.ending.error == "TooManyAbandonedCalls":
        if leg.overloaded_at == NEVER:
            yield f"failed with TooManyAbandonedCalls, and never more than {may} ran on", leg.end_at
        else:
            yield None
        return
    most, since = _most_abandoned(leg)
    if most > may and _goes_on(leg, since):
        yield f"{most} abandoned calls, at most {may} may run, and no failure", since
    elif most and leg.ran_to_its_end:
        yield None


def _overtaken(leg: LegHistory) -> Iterable[tuple[float, float]]:
    """Return begin and end of each run of a call that the next call of its record has overtaken."""
    runs: dict[int | None, tuple[float, float]] = {}
    for call, at in leg.overtaken.items():
        run = -1 - call.number if call.batch is None else call.batch
        runs[run] = min((at, call.ended_at), runs.get(run, (NEVER, NEVER)))
    return runs.values()


def _most_abandoned(leg: LegHistory) -> tuple[int, float]:
    """Return the largest number of calls that surely were abandoned at once, and its first time."""
    abandoned = [call for call in leg.runs if _is_abandoned(leg, call, leg.over_at)]
    known = ((c.cancelled_at, c.ended_at - TURN) for c in abandoned)
    most, since = 0, NEVER
    for at, running in running_at(span for span in known if span[0] < span[1]):
        if running > most:
            most, since = running, at
    return most, since


def _goes_on(leg: LegHistory, since: float) -> bool:
    """Whether the stream ended well, or a consumer that waits after `since` gets no error."""
    return leg.ran_to_its_end or any(rest.waiting and rest.at > since for rest in leg.rests)


@leg_check("TIME-10", needs_times=False)
def a_call_that_answers_in_time_does_not_time_out(leg: LegHistory) -> Iterator[Finding]:
    """The error does not name, for a timeout, a record whose call answered in time."""
    blamed = blamed_for_timeout(leg)
    for item in leg.records:
        if item.timed_out or NEVER in {leg.timeout, item.decided_at}:
            continue
        if item in blamed:
            text = f"{item} answered at {item.decided_at:g}, before its deadline"
            yield text, leg.ending.at
        else:
            yield None
