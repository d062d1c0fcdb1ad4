"""FAIL: what fails an operator, when, and how the consumer learns it."""

from collections.abc import Iterator

from asyncwait.conformance.checks._results import failure_named
from asyncwait.conformance.judging import NEVER, Finding, LegHistory, leg_check

_OWN = {"CallFailed", "CallTimedOut", "InvalidResult", "TooManyAbandonedCalls"}


@leg_check("FAIL-1")
def a_call_that_raises_fails_the_operator_by_name(leg: LegHistory) -> Iterator[Finding]:
    yield from failure_named(leg, "CallFailed")


@leg_check("FAIL-2")
def a_failure_is_raised_at_once(leg: LegHistory) -> Iterator[Finding]:
    if leg.fail_at == NEVER:
        return
    blamed = next(i for i in leg.records if i.decided_at == leg.fail_at and i.wrong)
    for rest in leg.rests:
        if rest.failed and rest.waiting:
            yield f"{blamed} failed, but the waiting consumer was not told", rest.at
            return
    if leg.leg.ending.how == "failed":
        yield None


@leg_check("FAIL-3")
def nothing_comes_out_after_a_failure(leg: LegHistory) -> Iterator[Finding]:
    if leg.fail_at == NEVER:
        return
    for output in leg.outputs:
        if output.at > leg.fail_at:
            yield f"{output.element} came out after the failure at {leg.fail_at:g}", output.at
            return
    if leg.leg.ending.how == "failed":
        yield None


@leg_check("FAIL-4")
def of_two_failures_the_earlier_is_raised(leg: LegHistory) -> Iterator[Finding]:
    failed = [item for item in leg.records if item.wrong and item.decided_at <= leg.end_at]
    ending = leg.leg.ending
    later = [item for item in failed if item.decided_at > leg.fail_at]
    if ending.how != "failed" or not later or ending.record is None:
        return
    first = [item.element for item in failed if item.decided_at == leg.fail_at]
    if ending.record in first:
        yield None
    else:
        yield f"{first[0]} failed first, the error names {ending.record}", ending.at


@leg_check("FAIL-5")
def odd_exceptions_of_a_call_are_call_errors(leg: LegHistory) -> Iterator[Finding]:
    odd = {"StopIteration", "StopAsyncIteration", "CancelledError", "Unpicklable"}
    blamed = [i for i in leg.records if i.wrong and i.decided_at == leg.fail_at]
    if not any(i.call is not None and i.call.step.error in odd for i in blamed):
        return
    names = {item.wrong for item in blamed}
    ending = leg.leg.ending
    if ending.how == "failed" and ending.error not in names:
        yield f"expected {sorted(names)}, got {ending.error}: {ending.detail}", ending.at
    elif ending.how in {"failed", "hung", "finished"}:
        yield None if ending.how == "failed" else (f"expected a failure, {ending.how}", ending.at)


@leg_check("FAIL-6")
def after_a_failure_the_same_error_comes_again(leg: LegHistory) -> Iterator[Finding]:
    ending = leg.leg.ending
    if ending.how != "failed":
        return
    for when, seen in (("before", ending.again), ("after", ending.after)):
        if seen:
            if seen == "same":
                yield None
            else:
                yield f"{when} leaving, a further read {_gave(seen)}, not the same error", ending.at


@leg_check("FAIL-7")
def an_error_of_the_source_comes_out_unchanged_and_last(leg: LegHistory) -> Iterator[Finding]:
    ending = leg.leg.ending
    if not leg.source_raised or leg.fail_at != NEVER or ending.error in _OWN:
        return
    if ending.how == "finished":
        yield "the source raised, and the stream ended as if it had not", ending.at
    elif ending.how == "failed":
        missing = [i for i in leg.items if _is_owed(i.results, i.is_fence) and not i.outputs]
        if not ending.unchanged:
            yield f"expected the source's own error, got {ending.error}: {ending.detail}", ending.at
        elif missing:
            yield f"the source's error came before {missing[0]}", ending.at
        else:
            yield None


def _is_owed(results: tuple[object, ...] | None, is_fence: bool) -> bool:  # noqa: FBT001
    return is_fence or bool(results)


@leg_check("FAIL-8")
def the_operator_fails_for_a_reason(leg: LegHistory) -> Iterator[Finding]:
    ending = leg.leg.ending
    if ending.how != "failed":
        if ending.how == "finished":
            yield None
        return
    reasons = {item.wrong for item in leg.records if item.decided_at <= ending.at} - {""}
    if leg.source_raised:
        reasons.add("PlannedSourceError")
    reasons.add("TooManyAbandonedCalls")  # TIME-9 judges that one.
    if ending.error in reasons:
        yield None
    elif ending.error in _OWN and reasons & _OWN - {"TooManyAbandonedCalls"}:
        yield None  # Something did fail; that it has another name is for other rules.
    else:
        yield f"nothing failed that explains {ending.error}: {ending.detail}", ending.at


@leg_check("FAIL-9")
def a_failure_is_never_a_group(leg: LegHistory) -> Iterator[Finding]:
    ending = leg.leg.ending
    if ending.how == "failed":
        if ending.error in {"ExceptionGroup", "BaseExceptionGroup"}:
            yield f"expected the plain error, got {ending.detail}", ending.at
        else:
            yield None


@leg_check("FAIL-10")
def the_cause_of_a_call_error_is_the_users_own(leg: LegHistory) -> Iterator[Finding]:
    ending = leg.leg.ending
    if ending.how == "failed" and ending.error == "CallFailed":
        if ending.cause:
            yield None
        else:
            yield "the error has no cause: the user can't see what was raised", ending.at


def _gave(seen: str) -> str:
    return "ended the stream" if seen == "stop" else seen
