"""END: how an operator ends, and what it leaves behind."""

from collections.abc import Iterator

from asyncwait.conformance.judging import NEVER, Finding, LegHistory, leg_check
from asyncwait.spec.scenario import CallEnded, CallStarted, HookRun, Left, SinkLeft, SourceClosed


@leg_check("END-1")
def the_end_comes_after_everything_in_flight(leg: LegHistory) -> Iterator[Finding]:
    if not leg.ran_to_its_end:
        return
    for item in leg.records:
        if item.decided_at > leg.end_at:
            yield f"the stream ended while {item} was undecided", leg.end_at
        elif not leg.source_ended_at <= leg.end_at:
            yield "the stream ended before its source", leg.end_at
        else:
            yield None


@leg_check("END-2")
def the_stream_ends_when_nothing_is_left(leg: LegHistory) -> Iterator[Finding]:
    for rest in leg.rests:
        if rest.waiting and not rest.failed and rest.input_is_over() and not rest.present:
            yield "the source has ended and everything came out, but the stream goes on", rest.at
            return
    if leg.ran_to_its_end:
        yield None


@leg_check("END-3")
def leaving_cancels_what_runs_and_waits_for_it(leg: LegHistory) -> Iterator[Finding]:
    closed = next((s for s, e in enumerate(leg.events) if isinstance(e, Left)), None)
    if closed is None or leg.scenario.form == "callback":
        return
    over = leg.leg.ending.how in {"left", "crashed"}
    for call in leg.calls:
        if call.ended is None or call.ended_seq > closed:
            yield f"call {call.number} of {call.value!r} still ran after leaving", leg.end_at
        elif over and call.ended_at >= leg.end_at:
            yield None


@leg_check("END-4")
def nothing_is_left_behind(leg: LegHistory) -> Iterator[Finding]:
    if leg.leg.tasks_left:
        yield f"{leg.leg.tasks_left} tasks are left", leg.end_at
    elif leg.leg.timers_left:
        yield f"{leg.leg.timers_left} timers are left", leg.end_at
    elif leg.leg.ending.how in {"finished", "failed", "left", "crashed"}:
        yield None


@leg_check("END-5")
def the_source_is_closed_on_every_way_out(leg: LegHistory) -> Iterator[Finding]:
    if any(isinstance(event, Left) for event in leg.events):
        closed = [event for event in leg.events if isinstance(event, SourceClosed)]
        if closed:
            yield None
        else:
            yield "the operator is gone, and its source is not closed", leg.end_at


@leg_check("END-6")
def hooks_run_once_each_round_all_calls(leg: LegHistory) -> Iterator[Finding]:
    if leg.scenario.hooks == "none" or not any(isinstance(e, Left) for e in leg.events):
        return
    hooks = [(seq, e) for seq, e in enumerate(leg.events) if isinstance(e, HookRun)]
    names = [event.hook for _, event in hooks]
    if names != ["open", "close"]:
        yield f"expected open, then close, got {names}", leg.end_at
        return
    inner = [s for s, e in enumerate(leg.events) if isinstance(e, CallStarted)]
    if leg.scenario.form == "coroutine":
        inner += [s for s, e in enumerate(leg.events) if isinstance(e, CallEnded)]
    if inner and not hooks[0][0] < min(inner) <= max(inner) < hooks[1][0]:
        yield "a call ran before open or after close", leg.end_at
    else:
        yield None


@leg_check("END-7")
def after_the_end_the_stream_stays_ended(leg: LegHistory) -> Iterator[Finding]:
    ending = leg.leg.ending
    if ending.how in {"finished", "left"}:
        for when, seen in (("before", ending.again), ("after", ending.after)):
            if seen:
                if seen == "stop":
                    yield None
                else:
                    yield f"{when} leaving, a further read {seen}", ending.at


@leg_check("END-8")
def a_run_comes_to_its_end(leg: LegHistory) -> Iterator[Finding]:
    ending = leg.leg.ending
    how = {
        "hung": "nothing happens any more",
        "livelock": "the loop turns for ever without time moving",
        "blocked": "the loop is blocked by something that is not asynchronous",
        "died": "the process died",
    }.get(ending.how)
    yield None if how is None else (f"{how} {ending.detail}".rstrip(), ending.at)


@leg_check("END-9")
def a_wait_that_is_given_up_loses_nothing(leg: LegHistory) -> Iterator[Finding]:
    gave_up = [e.at for e in leg.events if type(e).__name__ == "SinkGaveUp"]
    if not gave_up or not leg.ran_to_its_end:
        return
    for item in leg.records:
        if item.results and len(item.outputs) < len(item.results):
            yield f"{item} was lost with a wait that was given up at {gave_up[0]:g}", leg.end_at
            return
    for _ in gave_up:
        yield None


@leg_check("END-10")
def nothing_comes_out_after_leaving(leg: LegHistory) -> Iterator[Finding]:
    left = next((e.at for e in leg.events if isinstance(e, SinkLeft)), NEVER)
    late = [c for c in leg.calls if c.at > left]
    if left != NEVER:
        if late:
            yield f"call {late[0].number} of {late[0].value!r} began after leaving", late[0].at
        else:
            yield None
