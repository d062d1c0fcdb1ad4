"""CANCEL: the cancellation of calls, and its effects inside them."""

from collections.abc import Iterator

from asyncwait.conformance.judging import NEVER, Finding, LegHistory, leg_check
from asyncwait.spec.scenario import Misuse


@leg_check("CANCEL-1", needs_times=False)
def a_call_is_cancelled_as_its_loop_does_it(leg: LegHistory) -> Iterator[Finding]:
    """On asyncio no clean-up is cut short; on trio each clean-up without a shield is."""
    if not leg.scenario.unshielded or leg.scenario.form != "coroutine":
        return
    for _, event in leg.seen(Misuse):
        if event.what == "cancelled-otherwise":
            yield event.detail, event.at
            return
    for call in leg.calls:
        if call.cancelled_at != NEVER:
            yield None
