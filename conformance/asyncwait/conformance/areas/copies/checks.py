"""COPY: changes that a function makes to its argument stay in that call."""

from collections.abc import Iterator

from asyncwait.conformance.judging import (
    Call,
    Finding,
    LegHistory,
    failure_named,
    first_failures,
    held_at,
    leg_check,
)
from asyncwait.spec.scenario import FailureAsked, HandlerAsked, Misuse, MisuseKind


def _first_misuse(leg: LegHistory, what: MisuseKind) -> Finding:
    misused = (event for _, event in leg.seen(Misuse) if event.what == what)
    return next(((event.detail, event.at) for event in misused), None)


@leg_check("COPY-1", needs_times=False)
def each_call_has_a_copy_of_its_own(leg: LegHistory) -> Iterator[Finding]:
    """No call gets the source's own object, or a changed one."""
    if not leg.scenario.copies:
        return
    if (wrong := _first_misuse(leg, "call-shares")) is not None:
        yield wrong
        return
    for call in leg.calls:
        if not _finds_no_copy(leg, call):
            yield None


def _finds_no_copy(leg: LegHistory, call: Call) -> bool:
    return leg.scenario.is_uncopied(call.value) or leg.scenario.has_no_copy(call.step)


@leg_check("COPY-2", needs_times=False)
def snapshots_hold_what_was_read(leg: LegHistory) -> Iterator[Finding]:
    """No Snapshot holds a changed object, although records in it were called."""
    if not leg.scenario.copies:
        return
    if (wrong := _first_misuse(leg, "spoiled")) is not None:
        yield wrong
        return
    for snapshot, held in held_at(leg.snapshots, leg.items):
        called = (item.call for item in held.must() if item.call is not None)
        if any(call.at <= snapshot.at for call in called):
            yield None


@leg_check("COPY-3", needs_times=False)
def each_handler_has_a_copy_of_its_own(leg: LegHistory) -> Iterator[Finding]:
    """No handler gets the source's own object, or a changed one."""
    if not leg.scenario.copies:
        return
    if (wrong := _first_misuse(leg, "handler-shares")) is not None:
        yield wrong
        return
    for _ in (*leg.seen(HandlerAsked), *leg.seen(FailureAsked)):
        yield None


@leg_check("COPY-4", needs_times=False)
def what_can_not_be_copied_has_failed(leg: LegHistory) -> Iterator[Finding]:
    """The call is repeated, or the operator fails and names the record, like a call that raises."""
    if not leg.scenario.copies:
        return
    failed = first_failures(leg)
    if any(item.last is not None and _finds_no_copy(leg, item.last) for item in failed):
        yield from failure_named(leg, "CallFailed")
    for item in leg.records:
        for number, call in enumerate(item.attempts, 1):
            if not leg.scenario.has_no_copy(call.step) or item in failed:
                continue
            is_over = leg.ending.how == "failed" and leg.end_at == call.ended_at and not failed
            if number < len(item.attempts):
                yield None
            elif is_over:
                yield f"{item}: attempts are left, and {leg.ending.error} is raised", leg.end_at
