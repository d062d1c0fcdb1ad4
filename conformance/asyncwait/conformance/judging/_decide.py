"""How each record of a leg was decided: what the events leave open, and what follows of it.

Of two records with equal values, both answered in the instant of their deadline, the handler may
have been asked for either, and the error may name either. Such records are a tie. Then there are
several ways to explain a leg, and it is legal if one of them is.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from asyncwait.conformance.judging._calls import (
    TURN,
    Calls,
    Course,
    Outcome,
    otherwise,
    overloaded_at,
)
from asyncwait.conformance.judging._observe import NEVER, Call, Facts, identity_of
from asyncwait.spec.scenario import (
    FOR_THE_PROGRAM,
    FailureAsked,
    Handler,
    HandlerAsked,
    identity,
)

Asked: TypeAlias = HandlerAsked | FailureAsked
"""A request to the timeout handler; without one, to the failure handler about a deadline."""

Request: TypeAlias = tuple[int, Asked]
"""A request to the handler, behind its number in the leg."""

Moment: TypeAlias = tuple[float, str]
"""The deadline of records with a value: ms, and the identity of the value."""

Explanation: TypeAlias = tuple[tuple[int, ...], ...]
"""For each tie of a leg the places of the records that their deadline decided."""


class Tie(Struct, frozen=True):
    """Records that are alike, some of which were decided by their deadline.

    Args:
        at: ms; their deadline.
        by: what may have decided them; else the limit of their last attempt, or what was kept
            when it asked for its key.
    """

    at: float
    alike: tuple[int, ...]
    count: int
    requests: tuple[Request, ...] = ()
    is_optional: bool = False
    by: Literal["deadline", "limit", "kept"] = "deadline"

    @property
    def is_open(self) -> bool:
        """Whether there is more than one way to settle it."""
        return len(self.alike) > self.count


class Ties(Struct, frozen=True):
    """All ties of a leg."""

    ties: tuple[Tie, ...]
    untimely: tuple[Asked, ...]


def find_ties(facts: Facts, calls: Calls) -> Ties:
    """Find what the events of a leg leave open."""
    ties: list[Tie] = [*_at_their_limits(calls), *_given_either(calls)]
    untimely: list[Asked] = []
    asked = _requests(facts)
    asked, due = _joined(facts, calls, asked, _due(facts, calls, asked))
    for moment, requests in asked.items():
        alike = due.get(moment, ())
        count = min(len(requests), len(alike))
        if count:
            ties.append(Tie(moment[0], tuple(alike), count, tuple(requests[:count])))
        untimely += [event for _, event in requests[count:]]
    if not (facts.scenario.handled or facts.scenario.failures_handled):
        ties += _unhandled(facts, calls)
    return Ties(tuple(ties), tuple(untimely))


def _requests(facts: Facts) -> Mapping[Moment, Sequence[Request]]:
    requests: dict[Moment, list[Request]] = defaultdict(list)
    for seq, event in _asked_at_deadlines(facts):
        requests[event.at, asked_for(facts, event)].append((seq, event))
    return requests


def _asked_at_deadlines(facts: Facts) -> Sequence[Request]:
    if facts.scenario.handled:
        return facts.seen(HandlerAsked)
    return [each for each in facts.seen(FailureAsked) if each[1].error == "CallTimedOut"]


def _at_their_limits(calls: Calls) -> Iterator[Tie]:
    """Yield whose last attempt has answered in the very instant of its limit.

    If another attempt followed in any case, it is not the last one.
    """
    for pos, course in calls.of.items():
        if len(course.outcomes) > 1:
            yield Tie(course.outcomes[0].at, (pos,), 0, is_optional=True, by="limit")


def _given_either(calls: Calls) -> Iterator[Tie]:
    """Yield whose last attempt may have been given something else than what it is said to."""
    for pos, course in calls.of.items():
        if course.last.instead is not None:
            yield Tie(course.last.at, (pos,), 0, is_optional=True, by="kept")


def as_given(facts: Facts, calls: Calls, ties: Ties, explanation: Explanation) -> Calls:
    """Return calls as they were if `explanation` is the truth."""
    kept = {pos: otherwise(facts, calls.of[pos]) for pos in _chosen("kept", ties, explanation)}
    return replace(calls, of=calls.of | kept) if kept else calls


def name_of(call: Call) -> str:
    """Return what tells the record of a call, or at least its value, from others."""
    return call.identity if call.record is None else f"record {call.record}"


def asked_for(facts: Facts, event: Asked) -> str:
    """Return the same of a request to a handler."""
    value = identity(event.value)
    record = facts.numbers.of(event, value)
    return value if record is None else f"record {record}"


def _due(
    facts: Facts, calls: Calls, asked: Mapping[Moment, Sequence[Request]]
) -> Mapping[Moment, Sequence[int]]:
    """Return the places of the records that no answer has decided before their deadline.

    Where the loop was blocked then, there are several moments at which that may be noticed: each
    record has the first one at which the handler is asked once more, or else shares one with those
    that are alike: any of them may be meant. One that was answered in the instant of its deadline
    comes last.
    """
    left = {moment: len(requests) for moment, requests in asked.items()}
    due: dict[Moment, list[int]] = defaultdict(list)
    for is_tied in (False, True):
        for pos, course in sorted(calls.of.items()):
            if _is_tied(facts, course) is is_tied:
                name = name_of(course.first)
                moments = [(at, name) for at in facts.instants(course.deadline)]
                free = [each for each in moments if left.get(each)]
                shared = [each for each in moments if each in asked]
                moment = next(iter([*free, *shared]), moments[-1])
                left[moment] = max(0, left.get(moment, 0) - (len(moments) > 1))
                due[moment].append(pos)
    return due


def _joined(
    facts: Facts,
    calls: Calls,
    asked: Mapping[Moment, Sequence[Request]],
    due: Mapping[Moment, Sequence[int]],
) -> tuple[Mapping[Moment, Sequence[Request]], Mapping[Moment, Sequence[int]]]:
    """Return requests and records with those moments as one between which a record can't choose.

    It answered in the instant of its deadline, and while the loop was blocked again and again the
    handler was asked more than once: each of these requests may be its own.
    """
    first: dict[Moment, Moment] = {}
    for course in calls.of.values():
        if _is_tied(facts, course):
            name = name_of(course.first)
            moments = [(at, name) for at in facts.instants(course.deadline)]
            shared = [each for each in moments if each in asked]
            for each in shared[1:]:
                first[each] = min(shared[0], first.get(each, each))
    requests: dict[Moment, list[Request]] = defaultdict(list)
    places: dict[Moment, list[int]] = defaultdict(list)
    for moment in sorted({*asked, *due}):  # so that the first of those that are one comes first
        joined = first.get(moment, moment)
        first[moment] = joined = first.get(joined, joined)
        requests[joined] += asked.get(moment, ())
        places[joined] += due.get(moment, ())
    for alike in places.values():
        alike.sort(key=lambda pos: _is_tied(facts, calls.of[pos]) or False)
    return {moment: each for moment, each in requests.items() if each}, places


def noticed_at(facts: Facts, course: Course) -> float:
    """Return when the deadline of a record is noticed at the latest; until then answers count."""
    return facts.instants(course.deadline)[-1]


def _is_tied(facts: Facts, course: Course) -> bool | None:
    """Whether a record may have been answered, and may not, when its deadline was noticed.

    False if it surely was not, None if it surely was before.
    """
    noticed = noticed_at(facts, course)
    in_time = [each.stands and each.at <= noticed for each in course.outcomes]
    if not any(in_time):
        return False
    is_sure = all(in_time) and all(each.at < course.deadline for each in course.outcomes)
    return None if is_sure else True


def _unhandled(facts: Facts, calls: Calls) -> Iterator[Tie]:
    """Yield who may have failed by its deadline though it answered in that instant.

    An error names the record, or one that is alike. Where the consumer left before it could learn
    of an error, there may have been one all the same.
    """
    ending = facts.leg.ending
    if ending.error == "CallTimedOut":
        same = {pos: each for pos, each in calls.of.items() if _is_named(facts, pos, each)}
        late = [c.deadline for c in same.values() if _is_tied(facts, c) is False]
        surely = min((at for at in late if at <= ending.at), default=NEVER)
        answered = _answered_at_deadline(facts, same).items()
        alike = sorted(pos for at, each in answered if at < surely for pos in each)
        if alike:  # Where another one surely was late, it may be that one, which came after them.
            is_other = surely < NEVER
            yield Tie(ending.at, tuple(alike), 0 if is_other else 1, is_optional=is_other)
    elif ending.how in {"left", "crashed"}:
        for at, tied in _answered_at_deadline(facts, calls.of).items():
            yield Tie(at, tuple(tied), 0, is_optional=True)


def _is_named(facts: Facts, pos: int, course: Course) -> bool:
    """Whether the error of a leg may mean a record."""
    ending = facts.leg.ending
    if ending.number is not None and course.first.record is not None:
        return ending.number == course.first.record
    return facts.inputs[pos].identity == identity_of(ending.record)


def _answered_at_deadline(
    facts: Facts, courses: Mapping[int, Course]
) -> Mapping[float, Sequence[int]]:
    tied: dict[float, list[int]] = defaultdict(list)
    for pos, course in courses.items():
        due, noticed = course.deadline, noticed_at(facts, course)
        if any(each.stands and due <= each.at <= noticed for each in course.outcomes):
            tied[due].append(pos)
    return tied


class Decision(Struct, frozen=True, eq=False):
    """How a record was decided; the fields are those of `Item`."""

    asked_at: float = NEVER
    decided_at: float = NEVER
    decided_seq: int = -1
    timed_out: bool = False
    results: tuple[Any, ...] | None = None
    wrong: str = ""
    cause: str = ""
    failure: str = ""
    failure_cause: str = ""


UNDECIDED = Decision()


def expected_error(does: str, error: str) -> str:
    """Return the canonical name of the error that a planned outcome must become."""
    if does == "misreturn" and error != "broken":
        return "InvalidResult"
    return "CallFailed"


def with_failure_handler(facts: Facts, course: Course, decision: Decision) -> Decision:
    """Return a decision as it is when the failure handler was asked, if it has to be.

    It is not asked about what the function raises that has completed its record, nor about what is
    raised for the whole program.
    """
    handler = facts.scenario.failure_handler(course.first.value)
    if facts.scenario.is_uncopied(course.first.value):
        return decision  # The handler could not be given a copy either.
    is_none = not decision.wrong or decision.results is not None
    if handler is None or is_none or _ends_the_program(facts, course, decision):
        return decision
    failed = replace(decision, failure=decision.wrong, failure_cause=decision.cause)
    request = facts.despite.get(-1 if course.first.record is None else course.first.record)
    if request is not None:  # It tells when the failure was noticed, unless that was too late.
        seq, event = request
        at = min(event.at, failed.decided_at)
        failed = replace(failed, decided_at=at, decided_seq=seq)
    match handler.does:
        case "reply" if course.last.step.throws and not decision.timed_out:
            # It has completed its record, and raises besides: no handler is asked about that.
            return replace(failed, results=handler.results, cause="")
        case "reply":
            return replace(failed, results=handler.results, wrong="", cause="")
        case "raise":
            return replace(failed, cause=handler.error or PLANNED)
        case "misreturn" if handler.error != "none":
            wrong = expected_error(handler.does, handler.error)
            cause = PLANNED if wrong == "CallFailed" else ""
            return replace(failed, wrong=wrong, cause=cause)
        case _:
            return failed


def _ends_the_program(facts: Facts, course: Course, decision: Decision) -> bool:
    """Whether what was raised passes: a KeyboardInterrupt, say."""
    if not decision.timed_out:
        last = course.last
        is_own = last.ended_at <= last.limit and decision.cause != "TimeoutError"
        return is_own and last.step.error in FOR_THE_PROGRAM and is_raised(facts, last)
    handler = facts.scenario.handler(course.first.value)
    return handler is not None and handler.error in FOR_THE_PROGRAM


def is_raised(facts: Facts, call: Call, *, is_late: bool = False) -> bool:
    """Whether a call raised in the operator's own task.

    A completion with an error does not, nor does its supplier if the completion was late: nobody
    asks it.
    """
    if call.ended is None or call.ended.how != "raised":
        return False
    at_once = call.step.after == 0 and not call.step.thread
    is_asked = call.step.supplied and not is_late
    return facts.scenario.form == "coroutine" or at_once or is_asked


PLANNED = "Planned"
"""Class of the errors that are the harness's own."""


def decide(facts: Facts, calls: Calls, ties: Ties, explanation: Explanation) -> dict[int, Decision]:
    """Return the decisions of all records that have a call, by their places."""
    asked, blamed = _by_deadline(facts, calls, ties, explanation)
    limited = _chosen("limit", ties, explanation)
    overloaded = overloaded_at(facts)
    # For a while an operator may go on until it knows that there are too many abandoned calls.
    known = overloaded + TURN + facts.blocked_between(overloaded, facts.leg.ending.at)
    decisions = {}
    for pos, course in calls.of.items():
        own = course.standing(by_limit=pos in limited)
        decision = _decide(facts, course, own, asked.get(pos), blamed=pos in blamed)
        at = min(course.deadline, NEVER if own is None else own.at)
        # What fails in the very instant may have come first, or not: then it is no failure.
        if pos in asked or (at < overloaded if decision.wrong else at <= known):
            decisions[pos] = decision
    return decisions


def _chosen(by: str, ties: Ties, explanation: Explanation) -> set[int]:
    """Return the records that this has decided, where something else could have."""
    both = zip(ties.ties, explanation, strict=True)
    return {pos for tie, chosen in both if tie.by == by for pos in chosen}


def _by_deadline(
    facts: Facts, calls: Calls, ties: Ties, explanation: Explanation
) -> tuple[dict[int, Request], set[int]]:
    asked: dict[int, Request] = {}
    blamed: set[int] = set()
    times = _times_asked(facts, ties)
    for tie, chosen in zip(ties.ties, explanation, strict=True):
        if tie.by != "deadline":
            continue
        if not tie.requests:
            blamed.update(chosen)
        in_turn = sorted(chosen, key=lambda pos: calls.of[pos].deadline)
        for pos, (_, event) in zip(in_turn, tie.requests, strict=False):
            # Of records with equal values that are due together, any may be the one that was asked
            # for first, and be out before the handler is asked again.
            since, same = calls.of[pos].deadline, times[name_of(calls.of[pos].first)]
            at = bisect_left(same, (since, -1))  # or it was asked too early, for TIME-1 to say
            asked[pos] = same[min(at, len(same) - 1)][1], event
    return asked, blamed


def _times_asked(facts: Facts, ties: Ties) -> Mapping[str, Sequence[tuple[float, int]]]:
    times: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for tie in ties.ties:
        for seq, event in tie.requests:
            times[asked_for(facts, event)].append((event.at, seq))
    return {name: sorted(each) for name, each in times.items()}


def _decide(
    facts: Facts, course: Course, own: Outcome | None, request: Request | None, *, blamed: bool
) -> Decision:
    """Find the outcome of a record: that of its last attempt, or its deadline's."""
    deadline = course.deadline
    in_time = own is not None and own.at <= noticed_at(facts, course)
    if request is not None or (in_time and blamed):
        return decided_by_deadline(facts, course, request)
    if not in_time and deadline <= facts.leg.ending.at:
        return decided_by_deadline(facts, course, request)
    return decided_by_call(facts, course, own) if in_time else UNDECIDED


def decided_by_call(facts: Facts, course: Course, own: Outcome | None) -> Decision:
    """Return the decision that an outcome of a record's last attempt is; none if it is none."""
    if own is None:
        return UNDECIDED
    return with_failure_handler(facts, course, _own_decision(facts, course, own))


def _own_decision(facts: Facts, course: Course, own: Outcome) -> Decision:
    call, ended = course.last, course.last.ended
    if own.by_limit:
        noticed = max(own.at, min(facts.instants(own.at)[-1], facts.leg.ending.at))
        cause = "LookupError" if _asks_what_breaks(facts, course, by_limit=True) else "TimeoutError"
        return Decision(NEVER, noticed, wrong="CallFailed", cause=cause)
    assert ended is not None
    decided = Decision(NEVER, call.ended_at, call.ended_seq)
    if _asks_what_breaks(facts, course, by_limit=False):
        return replace(decided, wrong="CallFailed", cause="LookupError")
    if ended.how == "returned":
        return replace(decided, results=ended.results)
    wrong = expected_error(call.step.does, call.step.error)
    # Of a call that completes its record and then raises, either may be noticed first.
    completes = call.step.throws and facts.scenario.form == "callback"
    results = ended.results if completes else None
    return replace(decided, results=results, wrong=wrong)


def _asks_what_breaks(facts: Facts, course: Course, *, by_limit: bool) -> bool:
    retry, step = facts.scenario.retry, course.last.step
    if retry is None or len(course.attempts) >= retry.max_attempts:
        return False
    if by_limit:
        return retry.on_error == "breaks"
    completes = step.throws and facts.scenario.form == "callback"
    if step.does == "reply" or completes:
        return retry.on_result == "breaks"
    is_error = step.does == "raise" or step.error == "broken"
    passes = step.error in FOR_THE_PROGRAM and is_raised(facts, course.last)
    return retry.on_error == "breaks" and is_error and step.error != "RetryAfter" and not passes


def decided_by_deadline(facts: Facts, course: Course, request: Request | None) -> Decision:
    """Return the decision that a record's deadline is; `request` is the one to its handler."""
    return with_failure_handler(facts, course, _late_decision(facts, course, request))


def _late_decision(facts: Facts, course: Course, request: Request | None) -> Decision:
    call = course.first
    seq, asked_at = (-1, NEVER) if request is None else (request[0], request[1].at)
    noticed = max(call.deadline, min(facts.instants(call.deadline)[-1], facts.leg.ending.at))
    decided_at = noticed if request is None else asked_at
    handler = facts.scenario.handler(call.value)
    results = handler.results if handler is not None and handler.does == "reply" else None
    wrong = "" if results is not None else _error_at_deadline(handler)
    is_raised = handler is not None and handler.does == "raise"
    cause = (handler.error or PLANNED) if handler is not None and is_raised else ""
    if not facts.scenario.handled:
        asked_at = NEVER  # It was the failure handler that was asked.
    return Decision(asked_at, decided_at, seq, True, results, wrong, cause)


def _error_at_deadline(handler: Handler | None) -> str:
    if handler is not None and handler.does == "misreturn" and handler.error != "none":
        return expected_error(handler.does, handler.error)
    return "CallTimedOut"
