"""How each record of a leg was decided, if a given explanation is the truth."""

from typing import Any

from msgspec import Struct

from asyncwait.conformance.judging._calls import Calls, overloaded_at
from asyncwait.conformance.judging._facts import Facts
from asyncwait.conformance.judging._items import NEVER, Call
from asyncwait.conformance.judging._ties import Explanation, Request, Ties
from asyncwait.spec.scenario import Handler


class Decision(Struct, frozen=True, eq=False):
    """How a record was decided; the fields are those of `Item`."""

    asked_at: float = NEVER
    decided_at: float = NEVER
    decided_seq: int = -1
    timed_out: bool = False
    results: tuple[Any, ...] | None = None
    wrong: str = ""


UNDECIDED = Decision()


def decide(facts: Facts, calls: Calls, ties: Ties, explanation: Explanation) -> dict[int, Decision]:
    """Return the decisions of all records that have a call, by their places."""
    asked, blamed = _by_deadline(ties, explanation)
    overloaded = overloaded_at(facts)
    decisions = {}
    for pos, call in calls.of.items():
        request = asked.get(pos)
        over = request is None and min(facts.deadline(call), call.ended_at) > overloaded
        if not over:
            decisions[pos] = _decide(facts, call, request, blamed=pos in blamed)
    return decisions


def _by_deadline(ties: Ties, explanation: Explanation) -> tuple[dict[int, Request], frozenset[int]]:
    """Return the request for each record that the handler was asked for, and who is blamed."""
    asked: dict[int, Request] = {}
    blamed: frozenset[int] = frozenset()
    for tie, chosen in zip(ties.ties, explanation, strict=True):
        if tie.requests:
            asked.update(zip(sorted(chosen), tie.requests, strict=True))
        else:
            blamed = frozenset(chosen)
    return asked, blamed


def _decide(facts: Facts, call: Call, request: Request | None, *, blamed: bool) -> Decision:
    """Find the outcome of a record: its own call's, or its deadline's."""
    deadline, ended = facts.deadline(call), call.ended
    own = ended is not None and ended.how != "cancelled" and call.ended_at <= deadline
    if request is not None or (own and blamed) or (not own and deadline <= facts.leg.ending.at):
        return _decide_by_deadline(facts, call, request)
    if not own or ended is None:
        return UNDECIDED
    if ended.how == "returned":
        return Decision(NEVER, call.ended_at, call.ended_seq, results=ended.results)
    wrong = _expected_error(call.step.does, call.step.error)
    return Decision(NEVER, call.ended_at, call.ended_seq, wrong=wrong)


def _decide_by_deadline(facts: Facts, call: Call, request: Request | None) -> Decision:
    seq, asked_at = (-1, NEVER) if request is None else (request[0], request[1].at)
    handler = facts.scenario.handler(call.value)
    results = handler.results if handler is not None and handler.does == "reply" else None
    wrong = "" if results is not None else _error_at_deadline(handler)
    return Decision(asked_at, facts.deadline(call), seq, True, results, wrong)


def _error_at_deadline(handler: Handler | None) -> str:
    if handler is not None and handler.does == "misreturn" and handler.error != "none":
        return _expected_error(handler.does, handler.error)
    return "CallTimedOut"


def _expected_error(does: str, error: str) -> str:
    """Return the canonical name of the error that a planned outcome must become."""
    if does == "misreturn" and error != "broken":
        return "InvalidResult"
    return "CallFailed"
