"""CTX: the context variables that user code sees."""

from collections.abc import Iterable, Iterator

from asyncwait.conformance.judging import Finding, LegHistory, holds, leg_check, misuses
from asyncwait.spec.scenario import FailureAsked, HandlerAsked, MisuseKind


def _seen_well(leg: LegHistory, what: MisuseKind, looks: Iterable[object]) -> Iterator[Finding]:
    """Yield the misuses of context variables, and None for each event that reads the variables."""
    if leg.scenario.contexts:
        yield from misuses(leg, what)
        yield from holds(looks)


@leg_check("CTX-1", needs_times=False)
def a_call_sees_the_context_in_which_the_operator_was_opened(leg: LegHistory) -> Iterator[Finding]:
    """No call begins without the operator's variables, or with different variables."""
    yield from _seen_well(leg, "context-lost", leg.calls)


@leg_check("CTX-2", needs_times=False)
def what_a_call_sets_is_seen_by_no_other_call(leg: LegHistory) -> Iterator[Finding]:
    """No call begins, or goes on, with a variable that another call set."""
    yield from _seen_well(leg, "context-of-a-call", leg.calls[1:])


@leg_check("CTX-3", needs_times=False)
def a_handler_sees_the_context_in_which_the_operator_was_opened(
    leg: LegHistory,
) -> Iterator[Finding]:
    """Handlers and predicates see the operator's variables only."""
    asked = [*leg.seen(HandlerAsked), *leg.seen(FailureAsked)]
    retry = leg.scenario.retry
    asks = set() if retry is None else {retry.on_error, retry.on_result}
    if asks & {"asked", "told", "at-once", "empty", "pair"}:
        asked += [(call.seq, call) for call in leg.calls if call.ended is not None]
    yield from _seen_well(leg, "context-of-a-handler", asked)
