"""Reads the events of a leg: its inputs, calls and outputs, before any decision."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, groupby

from msgspec.structs import replace

from asyncwait.conformance.judging._loads import is_ahead_of_time, steps_of_loads, with_loads
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
    Blocked,
    CallCancelled,
    CallEnded,
    CallStarted,
    FailureAsked,
    Leg,
    Scenario,
    SinkTook,
    Step,
    Taken,
    identity,
)


def read_leg(scenario: Scenario, leg: Leg, began_at: float = 0) -> Facts:
    """Sort the events of a leg; see `Facts`."""
    seen = Seen.of(leg.events)
    inputs = tuple(_inputs(scenario, leg, seen))
    numbers = Numbers(scenario, inputs)
    calls = tuple(_batched(scenario, tuple(_calls(scenario, seen, numbers))))
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
