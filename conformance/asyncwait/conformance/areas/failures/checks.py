"""FAIL: causes and times of an operator's failure, and the error that its consumer gets."""

from collections.abc import Iterator

from asyncwait.conformance.judging import (
    NEVER,
    Call,
    Finding,
    Item,
    LegHistory,
    Output,
    causes_of,
    either,
    failure_named,
    failures_asked,
    first_failures,
    is_raised,
    leg_check,
)
from asyncwait.spec import Snapshot
from asyncwait.spec.scenario import (
    FOR_THE_PROGRAM,
    Closed,
    FailureAsked,
    HandlerAsked,
    HookRun,
    SourceClosed,
)

_OWN = {"CallFailed", "CallTimedOut", "InvalidResult", "TooManyAbandonedCalls"}
_ODD = {
    *("StopIteration", "StopAsyncIteration", "CancelledError", "Unpicklable", "ExceptionGroup"),
    *("CallFailed", "CallTimedOut", "InvalidConfig", "Panic", "Unprintable"),
}


@leg_check("FAIL-1")
def a_call_that_raises_fails_the_operator_by_name(leg: LegHistory) -> Iterator[Finding]:
    """If the first failure is a call that raised, the error is `CallFailed` with its record."""
    yield from failure_named(leg, "CallFailed")


@leg_check("FAIL-2")
def a_failure_is_raised_at_once(leg: LegHistory) -> Iterator[Finding]:
    """No time passes while a consumer waits for an operator that has failed."""
    blamed = first_failures(leg)
    if not blamed or leg.ending.how == "interrupted":
        return  # An error that ends the program leaves the loop after all is closed.
    for rest in leg.rests:
        if rest.failed and rest.waiting:
            yield f"{blamed[0]} failed, but the waiting consumer was not told", rest.at
    if leg.ending.how == "failed":
        yield None


@leg_check("FAIL-3")
def nothing_comes_out_after_a_failure(leg: LegHistory) -> Iterator[Finding]:
    """No element is taken later than the instant of the first failure."""
    if leg.fail_at == NEVER:
        return
    if leg.ending.how == "interrupted":
        return  # FAIL-11 judges that.
    for output in leg.outputs:
        if output.at > leg.fail_at:
            yield f"{output.element} came out after the failure at {leg.fail_at:g}", output.at
    if leg.ending.how == "failed":
        yield None


@leg_check("FAIL-4")
def of_two_failures_the_earlier_is_raised(leg: LegHistory) -> Iterator[Finding]:
    """If another record would have failed before the consumer looks, the error names the first."""
    ending = leg.ending
    if ending.how != "failed" or ending.error not in _OWN or ending.record is None:
        return
    first = first_failures(leg)
    if first and any(leg.fail_at < _fails_at(leg, i) <= leg.end_at for i in leg.records):
        if leg.named.isdisjoint(first):
            yield f"{first[0].element} failed first, the error names {ending.record}", ending.at
        else:
            yield None


def _fails_at(leg: LegHistory, item: Item) -> float:
    """Return when `item` would fail if its call ran on, which a sound operator prevents."""
    call, retry = item.last, leg.scenario.retry
    if call is None:
        return NEVER
    handler = leg.scenario.failure_handler(call.value)
    if handler is not None and handler.does == "reply":
        return NEVER
    repeats = retry is not None and retry.repeats(call.step)
    fails = call.step.does in {"raise", "misreturn"} and not repeats
    if fails and call.at + call.step.after <= call.until:
        return call.at + call.step.after
    return item.decided_at if item.wrong else NEVER


@leg_check("FAIL-5")
def odd_exceptions_of_a_call_are_call_errors(leg: LegHistory) -> Iterator[Finding]:
    """An exception with a special meaning in asyncio or trio fails the operator like any other."""
    blamed = first_failures(leg)
    calls = [item.last for item in blamed if not item.timed_out]
    if not any(call is not None and call.step.error in _ODD for call in calls):
        return
    names = {item.wrong for item in blamed}
    ending = leg.ending
    if ending.how == "failed" and ending.error not in names:
        yield f"expected {either(names)}, got {ending.error}: {ending.detail}", ending.at
    elif ending.how == "failed":
        yield None
    elif ending.how in {"finished", "hung", "livelock"}:
        yield f"expected {either(names)}, the leg {ending.how}", ending.at


@leg_check("FAIL-6", needs_times=False)
def after_a_failure_the_same_error_comes_again(leg: LegHistory) -> Iterator[Finding]:
    """Further reads, before and after leaving, raise the same error object."""
    ending = leg.ending
    if ending.how != "failed":
        return
    for when, seen in (("before", ending.again), ("after", ending.after)):
        if seen:
            if seen == "same":
                yield None
            else:
                gave = "ended the stream" if seen == "stop" else seen
                yield f"{when} leaving, a further read {gave}, not the same error", ending.at


@leg_check("FAIL-7")
def an_error_of_the_source_comes_out_unchanged_and_last(leg: LegHistory) -> Iterator[Finding]:
    """If no call fails, the source's own error object comes after all elements that were read."""
    ending = leg.ending
    source_raised = leg.source_ended is not None and leg.source_ended.raised
    theirs = {"CallFailed"} if leg.scenario.source_error == "contract" else set[str]()
    ours = ending.error in _OWN - theirs
    if not source_raised or leg.fail_at != NEVER or ours or ending.how == "interrupted":
        return
    if leg.left_at < NEVER:
        return  # No consumer waits for it.
    if ending.how == "finished":
        yield "the source raised, and the stream ended as if it had not", ending.at
    elif ending.how == "failed":
        out = {snapshot.checkpoint_id for snapshot in leg.snapshots}
        missing = [item for item in leg.items if not _is_gone(item, out)]
        if not ending.unchanged:
            yield f"expected the source's own error, got {ending.error}: {ending.detail}", ending.at
        elif missing:
            yield f"the source's error came before {missing[0]}", ending.at
        else:
            yield None


def _is_gone(item: Item, snapshots: set[int]) -> bool:
    """Whether all outputs of `item` are out; `snapshots` are the ids that are out."""
    if item.is_record:
        return item.results == () or item.emitted_at != NEVER
    asked = item.checkpoint_id
    return bool(item.given) if asked is None else asked in snapshots


@leg_check("FAIL-8")
def the_operator_fails_for_a_reason(leg: LegHistory) -> Iterator[Finding]:
    """A leg that fails has a failed record, source or hook, or a wrong argument."""
    ending = leg.ending
    if leg.was_refused:
        return
    if ending.how == "finished":
        yield None
    if ending.how == "failed" and _is_explained(leg):
        yield None
    elif ending.how == "failed":
        yield f"nothing failed that explains {ending.error}: {ending.detail}", ending.at


def _is_explained(leg: LegHistory) -> bool:
    """Whether a leg that failed has a reason for its failure.

    TIME-9 judges the number of abandoned calls, ELEM-3 the elements. If the error has the name of
    another failure, the rules about names judge it.
    """
    ending = leg.ending
    failed = [item for item in leg.records if item.decided_at <= ending.at]
    reasons = {each for item in failed for each in (item.wrong, item.failure)} - {""}
    return (
        ending.unchanged
        or ending.error in {"TooManyAbandonedCalls", "NotAnElement"}
        or (ending.error == "BudgetSpent" and leg.may_stop)
        or ending.error in reasons
        or bool(ending.error in _OWN and reasons & _OWN)
    )


@leg_check("FAIL-9", needs_times=False)
def a_failure_is_never_a_group(leg: LegHistory) -> Iterator[Finding]:
    """The error that the consumer gets is no exception group."""
    ending = leg.ending
    if ending.how == "failed":
        if ending.error in {"ExceptionGroup", "BaseExceptionGroup"}:
            yield f"expected the plain error, got {ending.detail}", ending.at
        else:
            yield None


@leg_check("FAIL-10")
def the_cause_of_a_call_error_is_the_users_own(leg: LegHistory) -> Iterator[Finding]:
    """The cause is the error of a call of the named record or, at a deadline, of its handler."""
    ending = leg.ending
    if ending.how != "failed" or ending.error not in _CAUSED or ending.unchanged:
        return
    meant = [item for item in leg.named if item.wrong == ending.error]
    causes = {cause for item in meant for cause in causes_of(item, item.wrong, item.cause)}
    if ending.error == "CallFailed" and not ending.cause:
        yield "the error has no cause: the user can't see what was raised", ending.at
    elif causes and ending.cause not in causes:
        got = ending.cause or "none"
        yield f"expected {either(causes)} as the cause, got {got}", ending.at
    elif causes or ending.error == "CallFailed":
        yield None


_CAUSED = {"CallFailed", "CallTimedOut"}
"""Errors that an operator raises from errors of user code."""


@leg_check("FAIL-11")
def what_ends_the_program_passes(leg: LegHistory) -> Iterator[Finding]:
    """If user code raises an error that ends the program, the loop ends and all is closed."""
    raised = {error for item in leg.records for error in _for_the_program(leg, item)}
    if _is_interrupted_by_its_source(leg):
        raised.add("KeyboardInterrupt")
    if not raised:
        return
    ending = leg.ending
    if ending.how == "failed" and any(not _for_the_program(leg, i) for i in first_failures(leg)):
        return  # A failure of the same instant may have come first, which ends all requests.
    if ending.how != "interrupted" or ending.error not in raised:
        said = f"{ending.how} {ending.error}".rstrip()
        yield f"expected {either(raised)} to end the loop, the leg {said}", ending.at
    elif (out := _out_while_the_program_ends(leg)) is not None:
        yield f"{out.element} came out after {ending.error} at {leg.fail_at:g}", out.at
    elif _is_raised_again(leg):
        return  # An error during closing ends the closing, too.
    elif not leg.seen(SourceClosed):
        yield f"{ending.error} ended the loop, and the source is not closed", ending.at
    elif leg.scenario.hooks != "none" and "close" not in [e.hook for _, e in leg.seen(HookRun)]:
        yield f"{ending.error} ended the loop, and the function is not closed", ending.at
    else:
        yield None


def _out_while_the_program_ends(leg: LegHistory) -> Output | None:
    """Return the first output after a call or handler ended the program; None for no output.

    A requested Snapshot may still come out: no element is lost by it.
    """
    late = (output for output in leg.outputs if output.at > leg.fail_at)
    return next((output for output in late if not isinstance(output.element, Snapshot)), None)


def _is_raised_again(leg: LegHistory) -> bool:
    calls = [c for c in leg.calls if c.ended is not None and c.ended.how == "raised"]
    errors = [call.step.error for call in calls]
    handlers = [leg.scenario.handler(asked.value) for _, asked in leg.seen(HandlerAsked)]
    handlers += [leg.scenario.failure_handler(e.value) for _, e in leg.seen(FailureAsked)]
    errors += [handler.error for handler in handlers if handler is not None]
    return sum(error in FOR_THE_PROGRAM for error in errors) > 1


def _is_interrupted_by_its_source(leg: LegHistory) -> bool:
    ended = leg.source_ended
    interrupts = leg.scenario.source_error == "interrupt"
    return interrupts and ended is not None and ended.raised and ended.at < leg.fail_at


def _for_the_program(leg: LegHistory, item: Item) -> set[str]:
    """Return the errors by which the call of `item`, or its handlers, end the program."""
    if item.last is None or item.decided_at > leg.fail_at:
        return set()
    handlers = [
        leg.scenario.handler(item.last.value) if item.asked_at != NEVER else None,
        leg.scenario.failure_handler(item.last.value) if item in leg.once(failures_asked) else None,
    ]
    errors = {handler.error for handler in handlers if handler is not None}
    is_late = item.timed_out or item.last.ended_at > item.last.limit
    is_heard = is_raised(leg, item.last, is_late=is_late)
    if is_heard and not _is_left_alone(leg, item.last):
        errors.add(item.last.step.error)
    return errors & FOR_THE_PROGRAM


def _is_left_alone(leg: LegHistory, call: Call) -> bool:
    """Whether the operator may not have waited for the end of `call`, as nothing could cancel it.

    Such a call runs in a thread. The operator may still hear it until all is closed. After the
    consumer has left, the operator calls no supplier.
    """
    if call.step.supplied and leg.scenario.form == "callback" and leg.left_at <= call.ended_at:
        return True
    closed = next((event.at for _, event in leg.seen(Closed)), NEVER)
    return call.until < call.ended_at and call.cancelled_at == NEVER and call.ended_at >= closed
