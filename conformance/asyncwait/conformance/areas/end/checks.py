"""END: the end of an operator, and tasks, timers and errors after it."""

from collections.abc import Iterator

from asyncwait.conformance.judging import (
    NEVER,
    ROUNDING,
    Call,
    Finding,
    LegHistory,
    holds,
    leg_check,
    misuses,
)
from asyncwait.spec.scenario import (
    PROFILES,
    CallEnded,
    Closed,
    Ending,
    HookRun,
    Misuse,
    SinkGaveUp,
    SinkLeft,
    SinkWaits,
    SourceAsked,
    SourceClosed,
    needs,
)
from asyncwait.spec.texts import counted


@leg_check("END-1")
def the_end_comes_after_everything_in_flight(leg: LegHistory) -> Iterator[Finding]:
    """When the stream ends, the source has ended and no record is undecided."""
    if not leg.ran_to_its_end or leg.may_stop:
        return
    if leg.source_ended is None or leg.source_ended.at > leg.end_at:
        yield "the stream ended before its source", leg.end_at
    for item in leg.records:
        if item.pos in leg.lost:
            continue
        if item.decided_at > leg.end_at:
            yield f"the stream ended while {item} was undecided", leg.end_at
        else:
            yield None


@leg_check("END-2")
def the_stream_ends_when_nothing_is_left(leg: LegHistory) -> Iterator[Finding]:
    """No time passes while a consumer waits for the end of a stream that has no element left."""
    if leg.ending.how == "interrupted":
        return  # The stream may have ended long before, while the operator was left.
    for rest in leg.waits:
        if rest.input_is_over and not rest.present:
            yield "the source has ended and everything came out, but the stream goes on", rest.at
    if leg.ran_to_its_end:
        yield None


@leg_check("END-3")
def leaving_cancels_what_runs_and_waits_for_it(leg: LegHistory) -> Iterator[Finding]:
    """Calls that run when the consumer leaves are cancelled, and have ended before it has left."""
    closed = next((seq for seq, _ in leg.seen(Closed)), None)
    if closed is None or leg.scenario.form == "callback":
        return
    for call in leg.started:
        if call.ended is None or call.ended_seq > closed:
            yield f"call {call.number} of {call.value!r} still ran after leaving", leg.end_at
        elif _is_let_run(leg, call):
            yield f"call {call.number} of {call.value!r} was not cancelled", leg.end_at
        elif call.ended_at >= leg.end_at:
            yield None


def _is_let_run(leg: LegHistory, call: Call) -> bool:
    over = leg.ending.how in {"left", "crashed", "failed"}
    return over and call.at <= leg.end_at < min(call.ended_at, call.cancelled_at)


@leg_check("END-4", needs_times=False)
def nothing_is_left_behind(leg: LegHistory) -> Iterator[Finding]:
    """After leaving no more tasks and timers exist than before opening."""
    if leg.ending.how in {"hung", "livelock"} and not leg.seen(Closed):
        return  # The consumer has not left it.
    if leg.observed.tasks_left:
        yield f"{counted(leg.observed.tasks_left, 'task is', 'tasks are')} left", leg.end_at
    elif leg.observed.timers_left:
        yield f"{counted(leg.observed.timers_left, 'timer is', 'timers are')} left", leg.end_at
    elif leg.ending.how in {"finished", "failed", "left", "crashed"}:
        yield None


@leg_check("END-5", needs_times=False)
def the_source_is_closed_on_every_way_out(leg: LegHistory) -> Iterator[Finding]:
    """When the operator was left, its source had been closed before; each object once."""
    left = next((seq for seq, _ in leg.seen(Closed)), None)
    if left is None or leg.ending.how in {"hung", "livelock"} or leg.was_refused:
        return  # A run without an end is torn down, not left; a refused operator never began.
    closed = leg.seen(SourceClosed)
    if not any(seq < left for seq, _ in closed):
        yield "the operator is gone, and its source is not closed", leg.end_at
    elif len(closed) > (2 if leg.scenario.source == "iterable" else 1):
        yield f"the source was closed {len(closed)} times", closed[-1][1].at
    else:
        yield None


@leg_check("END-6")
def hooks_run_once_each_round_all_calls(leg: LegHistory) -> Iterator[Finding]:
    """`open` runs before the first call, `close` after the end of all calls, before leaving."""
    left = next((seq for seq, _ in leg.seen(Closed)), None)
    never_opened = leg.was_refused or leg.scenario.hook_error == "open"
    if leg.scenario.hooks == "none" or left is None or never_opened:
        return
    hooks = [(seq, event.hook) for seq, event in leg.seen(HookRun) if seq < left]
    names = [hook for _, hook in hooks]
    is_left = leg.ending.how in {"left", "crashed"} and not leg.seen(SinkWaits)
    if is_left and leg.end_at <= leg.scenario.hook_takes and not names:
        return  # The operator was still opening: `close` runs only after `open`.
    if names != ["open", "close"]:
        yield f"expected open, then close, got {', then '.join(names) or 'none'}", leg.end_at
    inner = [call.seq for call in leg.calls]
    if leg.scenario.form == "coroutine":
        inner += [seq for seq, _ in leg.seen(CallEnded)]
    if inner and not hooks[0][0] < min(inner) <= max(inner) < hooks[1][0]:
        yield "a call ran before open or after close", leg.end_at
    else:
        yield None


@leg_check("END-7")
def after_the_end_the_stream_stays_ended(leg: LegHistory) -> Iterator[Finding]:
    """Further reads, before and after leaving, report the end."""
    ending = leg.ending
    if ending.how in {"finished", "left"}:
        for when, seen in (("before", ending.again), ("after", ending.after)):
            if seen:
                if seen == "stop" or _tells_of_an_untold_failure(leg, seen):
                    yield None
                else:
                    yield f"{when} leaving, a further read {seen}", ending.at
    elif ending.how in {ending.again, ending.after}:
        yield f"a further read {ending.how}", ending.at


def _tells_of_an_untold_failure(leg: LegHistory, seen: str) -> bool:
    """Whether the operator failed before its consumer left, so that a later read may report it."""
    noticed = leg.end_at
    wrong = {item.wrong for item in leg.records if item.wrong and item.decided_at <= noticed}
    if any(item.decided_at == NEVER and leg.deadline(item) <= noticed for item in leg.records):
        wrong.add("CallTimedOut")
    if leg.observed.abandoned > leg.most_calls:
        wrong.add("TooManyAbandonedCalls")
    ended = leg.source_ended
    if ended is not None and ended.raised:
        wrong.add(_OF_A_SOURCE.get(leg.scenario.source_error, ""))
    if leg.scenario.limits:
        wrong |= {"CallFailed", "BudgetSpent"}  # Records that were not called.
    return leg.ending.how == "left" and seen in {f"raised {name}" for name in wrong}


_OF_A_SOURCE = {
    "own": "PlannedSourceError",
    "falsy": "PlannedSourceError",
    "contract": "CallFailed",
    "cancelled": "CancelledError",
}
"""Class of the error that a source raises."""


@leg_check("END-8", needs_times=False)
def a_run_comes_to_its_end(leg: LegHistory) -> Iterator[Finding]:
    """The harness need not end the leg, unless a call never answers by plan."""
    ending = leg.ending
    how = {
        "hung": "nothing happens any more",
        "livelock": "the loop turns for ever without time moving",
        "blocked": "the loop is blocked by something that is not asynchronous, or all is silent:",
        "died": "the process died:",
    }.get(ending.how)
    if how is None:
        yield None
    elif any(misuses(leg, "restless")):
        return  # END-23 judges this leg.
    elif not (ending.how == "hung" and _waits_for_ever(leg)):
        yield f"{how} {ending.detail}".rstrip(), ending.at


def _waits_for_ever(leg: LegHistory) -> bool:
    """Whether a call never answers, and no deadline decides its record."""
    return leg.timeout == NEVER and any(call.step.does == "never" for call in leg.calls)


@leg_check("END-9")
def a_wait_that_is_given_up_loses_nothing(leg: LegHistory) -> Iterator[Finding]:
    """After a wait was given up, all results and fences still come out."""
    gave_up = [event.at for _, event in leg.seen(SinkGaveUp)]
    ending = leg.ending
    if gave_up and ending.how == "failed" and ending.error == "RuntimeError":
        after = f"after the wait that was given up at {gave_up[-1]:g}"
        yield f"{after} a read raised RuntimeError: {ending.detail}", ending.at
    if not gave_up or not leg.ran_to_its_end:
        return
    for item in leg.items:
        owed = 1 if item.is_fence else len(item.results or ())
        if item.given < owed:
            # The record was lost in the first given-up wait after its decision.
            at = next((at for at in gave_up if at >= item.decided_at), gave_up[-1])
            yield f"{item} was lost with a wait that was given up at {at:g}", leg.end_at
    yield from holds(leg.seen(SinkGaveUp))


@leg_check("END-10")
def nothing_begins_after_the_end(leg: LegHistory) -> Iterator[Finding]:
    """No call begins later than the instant in which the operator was left, or failed.

    Within that instant a call may already have its task.
    """
    if leg.ending.how == "interrupted":
        return
    over_at = min(leg.left_at, leg.fail_at)
    late = next((call for call in leg.started if call.at > over_at), None)
    if late is not None:
        after = "leaving" if leg.left_at <= late.at else "the failure"
        yield f"call {late.number} of {late.value!r} began after {after}", late.at
    elif over_at < NEVER:
        yield None


@leg_check("END-11")
def leaving_waits_for_clean_up_alone(leg: LegHistory) -> Iterator[Finding]:
    """Between the end of the leg and its close, no more time passes than clean-up takes."""
    closed, over = next((event.at for _, event in leg.seen(Closed)), NEVER), leg.end_at
    if leg.ending.how not in _LEAVING or not over <= closed < NEVER:
        return
    ends = [call.ended_at for call in leg.started if over <= call.ended_at < NEVER]
    ready = max([over + _stays(leg), *ends])
    due = ready + leg.scenario.close_takes + leg.scenario.hook_takes
    if closed > due + ROUNDING:
        took, least = closed - over, due - over
        text = f"leaving took {took:g} ms, and nothing had to be cleaned up for longer than"
        yield f"{text} {least:g} ms", over
    else:
        yield None


def _stays(leg: LegHistory) -> float:
    """Return the ms that a consumer may stay after an error before it leaves."""
    if leg.ending.how != "failed":
        return 0
    return sum(step.n for step in leg.scenario.sink if step.does == "pause")


_LEAVING = {"left", "crashed", "failed"}
"""Endings of a leg after which the operator closes at once."""


@leg_check("END-12", needs_times=False)
def what_open_raises_comes_out_of_opening(leg: LegHistory) -> Iterator[Finding]:
    """If `open` raises, the leg fails with that error object, without a call, its source closed."""
    if leg.scenario.hook_error != "open" or not leg.seen(HookRun):
        return
    ending = leg.ending
    if ending.how in {"left", "crashed"} and _may_be_cancelled(leg):
        return  # The cancellation came during closing.
    if ending.how != "failed" or not ending.unchanged:
        yield f"open raised, and the leg {_said(ending)}", leg.end_at
    elif leg.calls:
        yield f"open raised, and {leg.calls[0].value!r} was called", leg.calls[0].at
    elif not leg.seen(SourceClosed):
        yield "open raised, and the source is not closed", leg.end_at
    else:
        yield None


@leg_check("END-13")
def what_closing_raises_comes_out_of_leaving(leg: LegHistory) -> Iterator[Finding]:
    """If only closing raises, the leg fails with that error."""
    if not _closing_raises(leg) or not leg.seen(Closed) or _body_raised(leg):
        return
    ending, has_not_failed = leg.ending, min(leg.fail_at, leg.overloaded_at) == NEVER
    if ending.how in {"finished", "left"}:
        if not _may_be_cancelled(leg):  # The earlier cancellation comes out.
            yield "closing raised, and leaving did not", leg.end_at
    elif ending.how == "failed" and has_not_failed and not ending.unchanged:
        yield f"closing raised, and the leg {_said(ending)}", leg.end_at
    elif ending.how == "failed":
        yield None


def _may_be_cancelled(leg: LegHistory) -> bool:
    scenario, (_, closed) = leg.scenario, leg.seen(Closed)[0]
    ends = [scenario.cancel_at, *(crash.at for crash in scenario.crashes)]
    return any(at is not None and at <= closed.at for at in ends)


def _closing_raises(leg: LegHistory) -> bool:
    hooks = [event.hook for _, event in leg.seen(HookRun)]
    closes = leg.scenario.hook_error == "close" and "close" in hooks
    return closes or (leg.scenario.close_error and bool(leg.seen(SourceClosed)))


def _body_raised(leg: LegHistory) -> bool:
    return any(event.raising for _, event in leg.seen(SinkLeft))


def _said(ending: Ending) -> str:
    return f"{ending.how} with {ending.error}" if ending.error else ending.how


@leg_check("END-17")
def the_read_of_the_source_is_not_interrupted(leg: LegHistory) -> Iterator[Finding]:
    """Only the end of the operator interrupts the read of the source."""
    left = next((seq for seq, _ in leg.seen(SinkLeft)), len(leg.events))
    for seq, event in leg.seen(Misuse):
        if event.what == "interrupted" and seq < left and event.at < _may_be_over_at(leg):
            yield "the read of the source was interrupted while the operator ran", event.at
    yield from holds(leg.seen(SourceAsked)[:1])


def _may_be_over_at(leg: LegHistory) -> float:
    """Return when an operator may be over; a spent budget also ends its stream."""
    is_stopped = leg.may_stop and leg.ending.how in {"finished", "failed"}
    return min(leg.may_be_over_at, leg.end_at) if is_stopped else leg.may_be_over_at


@leg_check("END-18")
def what_the_body_raises_comes_out(leg: LegHistory) -> Iterator[Finding]:
    """An error of the consumer comes out of leaving."""
    ending = leg.ending
    if not _body_raised(leg) or not leg.seen(Closed):
        return
    if ending.how == "failed":
        yield f"the body raised, and the leg {_said(ending)}", leg.end_at
    elif ending.how == "left" and not ending.unchanged:
        yield "the body raised, and nothing came out of leaving", leg.end_at
    elif ending.how == "left":
        yield None


@leg_check("END-21", needs_times=False)
def options_of_declared_profiles_are_accepted(leg: LegHistory) -> Iterator[Finding]:
    """No leg with valid arguments is refused."""
    if leg.was_refused:
        names = ", ".join(profile for profile in PROFILES if profile in needs(leg.scenario))
        text = f"refused, with {names} declared; declare what the operator lacks"
        yield f"{text}: {leg.ending.detail}", leg.end_at
    elif leg.seen(SourceAsked):
        yield None


@leg_check("END-20", needs_times=False)
def a_cancellation_comes_out(leg: LegHistory) -> Iterator[Finding]:
    """A cancelled consumer gets no other error, and does not go on after its cancellation."""
    for said, at in misuses(leg, "swallowed"):
        yield f"the consumer was cancelled, and {said}", at
    scenario, how = leg.scenario, leg.ending.how
    cancelled = how == "crashed" or (how == "left" and scenario.cancel_at is not None)
    if cancelled and leg.seen(Closed):
        yield None


@leg_check("END-23", needs_times=False)
def an_idle_operator_sleeps(leg: LegHistory) -> Iterator[Finding]:
    """The loop does not wake again and again while nothing happens."""
    yield from misuses(leg, "restless")
    yield from holds(leg.seen(Closed)[:1])
