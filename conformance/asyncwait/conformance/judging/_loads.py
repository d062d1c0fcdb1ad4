"""Loads of a leg whose operator has a cache: the calls that share a load or get stale results."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from msgspec.structs import replace

from asyncwait.conformance.judging._observe import NEVER, Call, Facts, Load
from asyncwait.spec.scenario import (
    FOR_THE_PROGRAM,
    CallEnded,
    CallStarted,
    PlannedCache,
    Scenario,
    Step,
    identity,
    is_null,
)


def steps_of_loads(scenario: Scenario, started: Iterable[CallStarted]) -> Mapping[int, Step]:
    """Return the step of each load: the k-th load of a value does what step k of its plan says.

    Loads are numbered in the order of the function's calls. Without a cache the result is empty.
    """
    if scenario.cache is None:
        return {}
    values = {event.batch: event.value for event in started if event.batch is not None}
    ordinals: Counter[str] = Counter()
    steps: dict[int, Step] = {}
    for number in sorted(values):
        key = identity(values[number])
        steps[number] = scenario.step(values[number], ordinals[key])
        ordinals[key] += 1
    return steps


def is_ahead_of_time(scenario: Scenario, event: CallStarted) -> bool:
    """Whether a call is a load in the background, for no record."""
    has_any = scenario.cache is not None and scenario.cache.refresh_ahead is not None
    return has_any and event.batch is not None and event.record is None


def with_loads(
    scenario: Scenario, calls: Sequence[Call]
) -> tuple[tuple[Call, ...], tuple[Load, ...]]:
    """Return calls with the ends of their loads, and the loads, in the order of their start.

    If a load failed and stale results may replace it, the calls that wait for the load end with
    these results.
    """
    assert scenario.cache is not None
    shared: dict[int, list[Call]] = defaultdict(list)
    for call in calls:
        if call.batch is not None:
            shared[call.batch].append(call)
    loads = _read(scenario.cache, shared)
    alone = [call for call in calls if call.batch is None]
    changed = chain(alone, *(load.calls for load in loads))
    return tuple(sorted(changed, key=lambda call: call.seq)), tuple(loads)


def is_open(facts: Facts) -> bool:
    """Whether a call asks for a key just as a load ahead of time ends, and may get either."""
    planned = facts.scenario.cache
    if planned is None or planned.refresh_ahead is None:
        return False
    kept: dict[str, Load] = {}
    for load in sorted(facts.loads, key=lambda load: load.ended_seq):
        if load.results is None:
            continue
        old, kept[load.identity] = kept.get(load.identity), load
        if old is None:
            continue
        until = planned.good_until(old.at, old.results or ())
        ties = (c for c in load.given_later if facts.may_tie(c.at, load.ended_at))
        if any(call.ended is not None and call.at < until for call in ties):
            return True
    return False


def _read(planned: PlannedCache, shared: Mapping[int, Sequence[Call]]) -> Sequence[Load]:
    loads = [_load(planned, number, calls) for number, calls in shared.items()]
    kept: dict[str, Load] = {}
    changed: dict[int, Load] = {}
    for load in sorted(loads, key=lambda load: load.ended_seq):
        if load.results is not None:
            kept[load.identity] = load
        elif load.ended is not None and load.cancelled_seq < 0 and not load.is_null:
            old = kept.get(load.identity)
            results = None if old is None else _old_results(planned, old, load.ended_at)
            if results is not None and load.calls[0].step.error not in FOR_THE_PROGRAM:
                changed[load.number] = replace(load, calls=tuple(_given(load, results)))
    return sorted((changed.get(each.number, each) for each in loads), key=lambda load: load.seq)


def _load(planned: PlannedCache, number: int, calls: Sequence[Call]) -> Load:
    first = calls[0]
    is_background = first.record is None and planned.refresh_ahead is not None
    leaving = [call.until for call in calls if call.record is not None or not is_background]
    left_at = max(leaving, default=NEVER)
    return Load(
        number,
        first.value,
        first.identity,
        tuple(replace(call, left_at=left_at) for call in calls),
        first.at,
        first.seq,
        is_null(first.value),
        is_background,
        first.cancelled_at,
        first.cancelled_seq,
        first.ended,
        first.ended_at,
        first.ended_seq,
    )


def _old_results(planned: PlannedCache, old: Load, at: float) -> tuple[Any, ...] | None:
    """Return the stale results that may replace a load which failed at `at` ms; None for none."""
    if planned.stale_if_error is None or not old.results:
        return None
    return old.results if at < planned.stale_until(old.at, old.results) else None


def _given(load: Load, results: tuple[Any, ...]) -> Iterator[Call]:
    for call in load.calls:
        if call.record is None or call.ended is None:
            yield call
            continue
        end = CallEnded(call.ended_at, call.number, results=results)
        yield replace(call, ended=end, step=Step(results=results), is_stale=True)
