"""Reads the events of a leg: its inputs, calls, loads and outputs, before any decision.

With a cache, several calls may share a load, or get stale results.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, count, groupby
from typing import Any

from msgspec.structs import replace

from asyncwait.conformance.judging._observe import (
    NEVER,
    Call,
    Facts,
    Input,
    Load,
    Numbers,
    Seen,
    Took,
    identity_of,
)
from asyncwait.spec.scenario import (
    FOR_THE_PROGRAM,
    Blocked,
    CallCancelled,
    CallEnded,
    CallStarted,
    FailureAsked,
    Leg,
    PlannedCache,
    Scenario,
    SinkTook,
    Step,
    Taken,
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


def read_leg(scenario: Scenario, leg: Leg, began_at: float = 0) -> Facts:
    """Sort the events of a leg; see `Facts`."""
    seen = Seen.of(leg.events)
    inputs = tuple(_inputs(scenario, leg, seen))
    numbers = Numbers(scenario, inputs)
    calls = tuple(calls_of(scenario, seen, numbers))
    loads: tuple[Load, ...] = ()
    if scenario.cache is not None:
        calls, loads = with_loads(scenario, calls)
    ahead = {load.calls[0] for load in loads if load.is_background}
    return Facts(
        scenario,
        leg,
        began_at,
        seen,
        inputs,
        tuple(call for call in calls if call not in ahead),
        tuple(Took(e.element, identity_of(e.element), e.at, seq) for seq, e in seen(SinkTook)),
        tuple((event.at, event.until) for _, event in seen(Blocked)),
        numbers,
        _despite(seen, numbers),
        loads,
        tuple(call for call in calls if call in ahead),
    )


def _despite(seen: Seen, numbers: "Numbers") -> Mapping[int, tuple[int, FailureAsked]]:
    first: dict[int, tuple[int, FailureAsked]] = {}
    for seq, event in seen(FailureAsked):
        number = numbers.of(event, identity(event.value))
        if number is not None:
            first.setdefault(number, (seq, event))
    return first


def _inputs(scenario: Scenario, leg: Leg, seen: Seen) -> Iterator[Input]:
    places = count()
    for element in leg.restored.in_flight if leg.restored else ():
        yield Input(next(places), element, identity_of(element), None, 0.0, -1)
    for seq, event in seen(Taken):
        given = scenario.inputs[event.index].element
        yield Input(next(places), given, identity_of(given), event.index, event.at, seq)


def calls_of(scenario: Scenario, seen: Seen, numbers: "Numbers") -> Iterator[Call]:
    """Return the calls of a leg with their steps, in the order of their start."""
    return _batched(scenario, tuple(_calls(scenario, seen, numbers)))


def _calls(scenario: Scenario, seen: Seen, numbers: "Numbers") -> Iterator[Call]:
    """Give each call its step: the k-th call of a value does what step k of its plan says.

    With a cache, the k-th load of the value does.
    """
    cancelled = {event.call: (event.at, seq) for seq, event in seen(CallCancelled)}
    ended = {event.call: (seq, event) for seq, event in seen(CallEnded)}
    unknown = (cancelled.keys() | ended.keys()) - {event.call for _, event in seen(CallStarted)}
    if unknown:
        raise ValueError(f"call {min(unknown)} was cancelled or ended, and never started")
    retry = scenario.retry
    ordinals: Counter[str] = Counter()
    loads = steps_of_loads(scenario, (event for _, event in seen(CallStarted)))
    began: dict[int, float] = {}
    for seq, event in seen(CallStarted):
        key = identity(event.value)
        if scenario.cache is None:
            step = scenario.step(event.value, ordinals[key])
            ordinals[key] += 1
        else:  # A call without a load got its results from the cache.
            step = Step() if event.batch is None else loads[event.batch]
        record = None if is_ahead_of_time(scenario, event) else numbers.of(event, key)
        first = event.at if record is None else began.setdefault(record, event.at)
        call = Call(
            event.call,
            event.value,
            key,
            event.at,
            seq,
            step,
            record,
            _after(first, scenario.timeout),
            _after(event.at, None if retry is None else retry.attempt_timeout),
            *cancelled.get(event.call, (NEVER, -1)),
        )
        if event.call in ended:
            ended_seq, end = ended[event.call]
            call = replace(call, ended=end, ended_at=end.at, ended_seq=ended_seq)
        yield call if event.batch is None else replace(call, batch=event.batch)


def _batched(scenario: Scenario, calls: Sequence[Call]) -> Iterator[Call]:
    for batch, group in groupby(calls, key=lambda call: call.batch):
        shared = tuple(group)
        if batch is None or scenario.batch is None:
            yield from shared
            continue
        left_at = max(call.until for call in shared)
        steps = scenario.batch.together([call.step for call in shared])
        for call, step in zip(shared, steps, strict=True):
            yield replace(call, step=step, left_at=left_at)


def _after(began: float, timeout: float | None) -> float:
    """Return the end of a period of `timeout` ms; rounded, like all times in a trace."""
    return NEVER if timeout is None else round(began + timeout, 3)
