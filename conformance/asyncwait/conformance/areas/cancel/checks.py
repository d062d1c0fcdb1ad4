"""CANCEL: the cancellation of calls, and its effects inside them."""

from collections.abc import Iterator

from asyncwait.conformance.judging import NEVER, Finding, LegHistory, holds, leg_check, misuses


@leg_check("CANCEL-1", needs_times=False)
def a_call_is_cancelled_as_its_loop_does_it(leg: LegHistory) -> Iterator[Finding]:
    """On asyncio no clean-up is cut short; on trio each clean-up without a shield is."""
    if leg.scenario.unshielded and leg.scenario.form == "coroutine":
        yield from misuses(leg, "cancelled-otherwise")
        yield from holds(call.cancelled_at != NEVER for call in leg.calls)
