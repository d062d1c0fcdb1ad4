"""Questions of several checks about the loads of a leg: their waiters, results and ages."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from asyncwait.conformance.judging import ROUNDING, Call, LegHistory, Load
from asyncwait.spec.scenario import FOR_THE_PROGRAM


def loads_of_keys(leg: LegHistory) -> Mapping[str, Sequence[Load]]:
    """Return the loads of each key that is not null, in the order of their start."""
    return leg.once(_loads_of_keys)


def _loads_of_keys(leg: LegHistory) -> Mapping[str, Sequence[Load]]:
    found: dict[str, list[Load]] = defaultdict(list)
    for load in leg.loads:
        if not load.is_null:
            found[load.identity].append(load)
    return found


def is_told(leg: LegHistory, call: Call) -> bool:
    """Whether the outcome of a call is known: it began before its deadline and the operator's end.

    Otherwise its own load may never have started.
    """
    return call.at < min(call.deadline, leg.over_at)


def hits(leg: LegHistory) -> Sequence[tuple[Load, Call]]:
    """Return each call that surely got cached results, behind the load that gave these results."""
    return leg.once(_hits)


def _hits(leg: LegHistory) -> Sequence[tuple[Load, Call]]:
    found = [
        (load, call)
        for load in leg.loads
        for call in load.given_later
        if load.results is not None and not load.is_null
        if call.at > load.ended_at  # Otherwise it may have joined the load.
        if is_told(leg, call)
    ]
    return sorted(found, key=lambda each: each[1].seq)


def good_until(leg: LegHistory, load: Load) -> float:
    """Return the end of the time for which the results of a load are good, in ms."""
    assert leg.scenario.cache is not None
    return leg.scenario.cache.good_until(load.at, load.results or ())


def are_good(leg: LegHistory, load: Load, at: float) -> bool:
    """Whether the results of a load are surely good at `at` ms."""
    return at < good_until(leg, load) - ROUNDING


def met(leg: LegHistory, call: Call) -> Sequence[Load]:
    """Return the loads that may have given the cached results when a call asked for its key.

    The result is empty if the cache may have had no results for the key, or is unknown.
    """
    known = leg.kept.known.get(call.number, frozenset())
    if None in known:
        return []
    return [load for load in leg.loads if load.number in known]


def has_room_for_all(leg: LegHistory) -> bool:
    """Whether all keys fit into the cache, so that none is evicted."""
    planned = leg.scenario.cache
    kept = {load.identity for load in leg.loads if load.results is not None and not load.is_null}
    return planned is None or len(kept) <= planned.max_keys


def failed_loads(leg: LegHistory) -> Iterator[Load]:
    """Yield the loads that calls may share and that ended with a failure."""
    for load in leg.loads:
        is_over = load.ended is not None and load.cancelled_seq < 0
        is_failed = is_over and load.ended is not None and load.ended.how != "returned"
        if is_failed and not load.is_null and load.calls[0].step.error not in FOR_THE_PROGRAM:
            yield load


def waits(call: Call, at: float) -> bool:
    """Whether the call still waits at `at` ms."""
    return min(call.deadline, call.limit) > at


def _due(leg: LegHistory, ahead: Load) -> Sequence[tuple[int, Load]]:
    """Return the hits that may have begun a load ahead of time, and the loads of their results."""
    planned = leg.scenario.cache
    assert planned is not None
    found = [
        (call.seq, load)
        for load in loads_of_keys(leg).get(ahead.identity, ())
        for call in load.given_later
        if load.results and ahead.at == call.at and call.seq < ahead.seq
        if planned.refresh_from(load.at) <= ahead.at + ROUNDING
    ]
    return sorted(found, key=lambda each: -each[0])


def triggers(leg: LegHistory, ahead: Load) -> Sequence[Load]:
    """Return the loads whose results were hit, and due, when a load began ahead of time.

    The first of them is the load whose results the new load refreshes.
    """
    return [load for _, load in _due(leg, ahead)]


def trigger(leg: LegHistory, ahead: Load) -> int:
    """Return the number of the event of the first hit that may have begun a load."""
    return min((seq for seq, _ in _due(leg, ahead)), default=-1)


def is_of_another_type(leg: LegHistory, call: Call) -> bool:
    """Whether the key of a call equals a loaded key in Python although its type differs."""
    return any(
        load.value == call.value and load.identity != call.identity and load.seq < call.seq
        for load in leg.loads
    )
