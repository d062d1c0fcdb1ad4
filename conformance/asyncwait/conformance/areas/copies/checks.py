"""COPY: what a function does to its argument stays with that call."""

from collections.abc import Iterator

from asyncwait.conformance.judging import (
    Finding,
    LegHistory,
    failure_named,
    first_failures,
    held_at,
    leg_check,
)
from asyncwait.spec import Record
from asyncwait.spec.scenario import FailureAsked, HandlerAsked, Misuse, MisuseKind


def _first_misuse(leg: LegHistory, what: MisuseKind) -> Finding:
    misused = (event for _, event in leg.seen(Misuse) if event.what == what)
    return next(((event.detail, event.at) for event in misused), None)


@leg_check("COPY-1")
def each_call_has_a_copy_of_its_own(leg: LegHistory) -> Iterator[Finding]:
    """No call is given what was read, or what somebody has changed."""
    if not leg.scenario.copies:
        return
    if (wrong := _first_misuse(leg, "call-shares")) is not None:
        yield wrong
        return
    for call in leg.calls:
        if not leg.scenario.is_uncopied(call.value):
            yield None


@leg_check("COPY-2")
def snapshots_hold_what_was_read(leg: LegHistory) -> Iterator[Finding]:
    """No Snapshot holds what somebody has changed, though records in it were called."""
    if not leg.scenario.copies:
        return
    if (wrong := _first_misuse(leg, "spoiled")) is not None:
        yield wrong
        return
    for snapshot, held in held_at(leg.snapshots, leg.items):
        called = (item.call for item in held.must() if item.call is not None)
        if any(call.at <= snapshot.at for call in called):
            yield None


@leg_check("COPY-3")
def each_handler_has_a_copy_of_its_own(leg: LegHistory) -> Iterator[Finding]:
    """No handler is given what was read, or what somebody has changed."""
    if not leg.scenario.copies:
        return
    if (wrong := _first_misuse(leg, "handler-shares")) is not None:
        yield wrong
        return
    for _ in (*leg.seen(HandlerAsked), *leg.seen(FailureAsked)):
        yield None


@leg_check("COPY-4")
def what_can_not_be_copied_has_failed(leg: LegHistory) -> Iterator[Finding]:
    """The operator fails as it does for a call that raises, and names the record."""
    if not leg.scenario.copies:
        return
    failed = [item.element for item in first_failures(leg)]
    values = [element.value for element in failed if isinstance(element, Record)]
    if any(map(leg.scenario.is_uncopied, values)):
        yield from failure_named(leg, "CallFailed")
