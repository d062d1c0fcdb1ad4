"""COPY: changes that a function makes to its argument stay in that call."""

from collections.abc import Iterator

from asyncwait.conformance.judging import (
    Finding,
    LegHistory,
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
    for _ in leg.calls:
        yield None


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
