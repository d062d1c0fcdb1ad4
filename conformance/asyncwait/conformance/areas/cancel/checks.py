"""CANCEL: the cancellation of calls, and its effects inside them."""

from collections.abc import Iterable, Iterator

from asyncwait.conformance.judging import NEVER, Finding, LegHistory, leg_check
from asyncwait.spec.scenario import Misuse, MisuseKind


def _found(leg: LegHistory, what: MisuseKind, looks: Iterable[object]) -> Iterator[Finding]:
    """Yield the first misuse that a call found, or None for each look."""
    if not leg.scenario.unshielded or leg.scenario.form != "coroutine":
        return
    for _, event in leg.seen(Misuse):
        if event.what == what:
            yield event.detail, event.at
            return
    for _ in looks:
        yield None


@leg_check("CANCEL-1", needs_times=False)
def a_call_is_cancelled_as_its_loop_does_it(leg: LegHistory) -> Iterator[Finding]:
    """On asyncio no clean-up is cut short; on trio each clean-up without a shield is."""
    cancelled = [call for call in leg.calls if call.cancelled_at != NEVER]
    yield from _found(leg, "cancelled-otherwise", cancelled)


@leg_check("CANCEL-2", needs_times=False)
def the_task_of_a_call_is_its_own(leg: LegHistory) -> Iterator[Finding]:
    """Each call begins in a task of its own, whose count of cancellations is right."""
    yield from _found(leg, "task-of-others", leg.calls)


@leg_check("CANCEL-3", needs_times=False)
def a_call_sees_no_time_limit_of_the_operator_s(leg: LegHistory) -> Iterator[Finding]:
    """No call sees a deadline that the operator set."""
    yield from _found(leg, "scope-seen", leg.calls)
