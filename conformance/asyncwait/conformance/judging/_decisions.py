"""How each record of a leg was decided, if a given explanation is the truth."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from asyncwait.conformance.judging._calls import Calls, overloaded_at
from asyncwait.conformance.judging._facts import Facts
from asyncwait.conformance.judging._items import NEVER, Call
from asyncwait.conformance.judging._ties import Explanation, Request, Ties
from asyncwait.spec.scenario import Handler, identity


class Decision(Struct, frozen=True, eq=False):
    """How a record was decided; the fields are those of `Item`."""

    asked_at: float = NEVER
    decided_at: float = NEVER
    decided_seq: int = -1
    timed_out: bool = False
    results: tuple[Any, ...] | None = None
    wrong: str = ""


UNDECIDED = Decision()

TURN = 20.0
"""Milliseconds that a cancelled call has to end in before it is abandoned for sure (TIME-8)."""


def decide(facts: Facts, calls: Calls, ties: Ties, explanation: Explanation) -> dict[int, Decision]:
    """Return the decisions of all records that have a call, by their places."""
    asked, blamed = _by_deadline(facts, calls, ties, explanation)
    overloaded = overloaded_at(facts)
    # For a while an operator may go on until it knows that there are too many abandoned calls.
    known = overloaded + TURN + facts.blocked_between(overloaded, facts.leg.ending.at)
    decisions = {}
    for pos, call in calls.of.items():
        decision = _decide(facts, call, asked.get(pos), blamed=pos in blamed)
        until = overloaded if decision.wrong else known
        if pos in asked or min(facts.deadline(call), call.ended_at) <= until:
            decisions[pos] = decision
    return decisions


def _by_deadline(
    facts: Facts, calls: Calls, ties: Ties, explanation: Explanation
) -> tuple[dict[int, Request], set[int]]:
    """Return the request for each record that the handler was asked for, and who is blamed."""
    asked: dict[int, Request] = {}
    blamed: set[int] = set()
    times = _times_asked(ties)
    for tie, chosen in zip(ties.ties, explanation, strict=True):
        if not tie.requests:
            blamed.update(chosen)
        in_turn = sorted(chosen, key=lambda pos: facts.deadline(calls.of[pos]))
        for pos, (_, event) in zip(in_turn, tie.requests, strict=False):
            # Of records with equal values that are due together, any may be the one that was asked
            # for first, and be out before the handler is asked again.
            since, same = facts.deadline(calls.of[pos]), times[calls.of[pos].identity]
            asked[pos] = same[bisect_left(same, (since, -1))][1], event
    return asked, blamed


def _times_asked(ties: Ties) -> Mapping[str, Sequence[tuple[float, int]]]:
    """Return when the handler is asked for a value, with the numbers of the events."""
    times: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for tie in ties.ties:
        for seq, event in tie.requests:
            times[identity(event.value)].append((event.at, seq))
    return {value: sorted(each) for value, each in times.items()}


def _decide(facts: Facts, call: Call, request: Request | None, *, blamed: bool) -> Decision:
    """Find the outcome of a record: its own call's, or its deadline's."""
    deadline, ended = facts.deadline(call), call.ended
    own = ended is not None and ended.how != "cancelled" and call.ended_at <= deadline
    if request is not None or (own and blamed) or (not own and deadline <= facts.leg.ending.at):
        return decided_by_deadline(facts, call, request)
    return decided_by_call(call) if own else UNDECIDED


def decided_by_call(call: Call) -> Decision:
    """Return the decision that the end of a record's call is; none if it is none."""
    ended = call.ended
    if ended is None or ended.how == "cancelled":
        return UNDECIDED
    if ended.how == "returned":
        return Decision(NEVER, call.ended_at, call.ended_seq, results=ended.results)
    wrong = _expected_error(call.step.does, call.step.error)
    # Of a call that completes its record and then raises, either may be noticed first.
    results = ended.results if call.step.throws else None
    return Decision(NEVER, call.ended_at, call.ended_seq, results=results, wrong=wrong)


def decided_by_deadline(facts: Facts, call: Call, request: Request | None) -> Decision:
    """Return the decision that a record's deadline is; `request` is the one to its handler."""
    seq, asked_at = (-1, NEVER) if request is None else (request[0], request[1].at)
    noticed = max(facts.deadline(call), min(facts.due(call), facts.leg.ending.at))
    decided_at = noticed if request is None else asked_at
    handler = facts.scenario.handler(call.value)
    results = handler.results if handler is not None and handler.does == "reply" else None
    wrong = "" if results is not None else _error_at_deadline(handler)
    return Decision(asked_at, decided_at, seq, True, results, wrong)


def _error_at_deadline(handler: Handler | None) -> str:
    if handler is not None and handler.does == "misreturn" and handler.error != "none":
        return _expected_error(handler.does, handler.error)
    return "CallTimedOut"


def _expected_error(does: str, error: str) -> str:
    """Return the canonical name of the error that a planned outcome must become."""
    if does == "misreturn" and error != "broken":
        return "InvalidResult"
    return "CallFailed"
