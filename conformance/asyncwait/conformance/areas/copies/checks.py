"""COPY: changes that a function makes to its argument stay in that call."""

from collections.abc import Iterable, Iterator

from asyncwait.conformance.judging import Finding, LegHistory, held_at, holds, leg_check, misuses
from asyncwait.spec.scenario import FailureAsked, HandlerAsked, MisuseKind


def _shared(leg: LegHistory, what: MisuseKind, looks: Iterable[object]) -> Iterator[Finding]:
    """Yield the values that were shared, and a finding for each look."""
    if leg.scenario.copies:
        yield from misuses(leg, what)
        yield from holds(looks)


@leg_check("COPY-1", needs_times=False)
def each_call_has_a_copy_of_its_own(leg: LegHistory) -> Iterator[Finding]:
    """No call gets the source's own object, or a changed one."""
    yield from _shared(leg, "call-shares", leg.calls)


@leg_check("COPY-2", needs_times=False)
def snapshots_hold_what_was_read(leg: LegHistory) -> Iterator[Finding]:
    """No Snapshot holds a changed object, although records in it were called."""
    called = (
        any(item.call is not None and item.call.at <= snapshot.at for item in held.must())
        for snapshot, held in held_at(leg.snapshots, leg.items)
    )
    yield from _shared(leg, "spoiled", called)


@leg_check("COPY-3", needs_times=False)
def each_handler_has_a_copy_of_its_own(leg: LegHistory) -> Iterator[Finding]:
    """No handler gets the source's own object, or a changed one."""
    yield from _shared(leg, "handler-shares", (*leg.seen(HandlerAsked), *leg.seen(FailureAsked)))
