"""Which call belongs to which record, and when too many calls ran on after their deadlines.

First calls start in input order, so the k-th call of a value belongs to the k-th record with that
value. Where that is broken, ORD-4 says so. If calls are repeated, that tells nothing: then the
trace says which record each call is for, as the harness knows the very object that it was given.
"""

from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from math import nextafter
from typing import TypeAlias

from msgspec import Struct

from asyncwait.conformance.judging._attempts import TURN, Course, course
from asyncwait.conformance.judging._observe import NEVER, Call, Facts
from asyncwait.spec import Record
from asyncwait.spec.scenario import identity


class Calls(Struct, frozen=True, eq=False):
    """Calls and the records that they belong to.

    Args:
        of: the calls of each record that has one, by the record's place.
        extra: those that belong to no record, or that its record had no reason for.
    """

    of: dict[int, Course]
    extra: tuple[Call, ...]


def link_calls(facts: Facts) -> Calls:
    """Find out which record each call is for."""
    return _as_told(facts) if facts.scenario.tells_apart else _in_order(facts)


def _as_told(facts: Facts) -> Calls:
    """Give each call the record that it is said to be for."""
    places = [given.pos for given in facts.inputs if given.is_record]
    of: dict[int, list[Call]] = defaultdict(list)
    extra: list[Call] = []
    for call in facts.calls:
        is_known = call.record is not None and call.record < len(places)
        (of[places[call.record or 0]] if is_known else extra).append(call)
    courses: dict[int, Course] = {}
    for pos, calls in sorted(of.items()):
        courses[pos], others = course(facts, calls)
        extra += others
    return Calls(courses, tuple(sorted(extra, key=lambda call: call.seq)))


def _in_order(facts: Facts) -> Calls:
    """Give each call the first record with its value that has none yet."""
    waiting: dict[str, deque[int]] = defaultdict(deque)
    for given in facts.inputs:
        if isinstance(given.element, Record):
            waiting[identity(given.element.value)].append(given.pos)
    of: dict[int, Course] = {}
    extra: list[Call] = []
    for call in facts.calls:
        same = waiting[call.identity]
        if same:
            of[same.popleft()], _ = course(facts, [call])
        else:
            extra.append(call)
    return Calls(of, tuple(extra))


_Span: TypeAlias = tuple[float, float]
"""From when until when something runs, in ms."""


def running_at(times: Iterable[_Span]) -> Iterator[tuple[float, int]]:
    """Yield each time at which something begins, in order, and how many things run then.

    Args:
        times: from when and until when each of them runs, in ms.
    """
    spans = list(times)
    begun = sorted(since for since, _ in spans)
    over = sorted(max(since, until) for since, until in spans)
    for at in begun:
        yield at, bisect_right(begun, at) - bisect_right(over, at)


def overloaded_at(facts: Facts) -> float:
    """Return when the call was late after which more than `capacity` late calls ran on for long.

    NEVER if the leg did not fail by them. Some that end soon after they were late may have been too
    many as well, and nobody has noticed.
    """
    ending, capacity = facts.leg.ending, facts.leg.capacity
    if ending.error != "TooManyAbandonedCalls" or facts.scenario.form == "callback":
        return NEVER
    surely = [(facts.instants(c.until)[-1], c.ended_at) for c in facts.calls]
    # It may notice a deadline before the loop is blocked, and the end of a call when it is free,
    # or when it has counted in that very instant.
    maybe = [
        (facts.instants(c.until)[0], nextafter(c.ended_at, NEVER))
        for c in facts.calls
        if c.ended_at > c.until
    ]
    too_many, perhaps = ([*_above(capacity, spans)] for spans in (surely, maybe))
    noticed = (
        (at, until)
        for at, until in too_many
        if until >= ending.at or until - at > TURN + facts.blocked_between(at, until)
    )
    found = chain(noticed, reversed(too_many), reversed(perhaps))
    return next((at for at, _ in found if at <= ending.at), NEVER)


def _above(capacity: int, spans: Sequence[_Span]) -> Iterator[_Span]:
    """Yield from when until when more than `capacity` spans overlap, for each that makes it so."""
    for at, running in running_at(spans):
        if running > capacity:
            ends = sorted(until for since, until in spans if since <= at < until)
            yield at, ends[running - capacity - 1]
