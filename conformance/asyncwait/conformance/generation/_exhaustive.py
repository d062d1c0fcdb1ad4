"""Every scenario of a small scope: most defects show in three elements already.

The scope has five parts: calls that answer; such calls with two keys; calls that may fail and are
repeated once; and, with two records in a batch, calls that answer, and calls that may fail.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, product

from msgspec.structs import replace

from asyncwait.spec import Barrier, Element, Mode, Record, Watermark
from asyncwait.spec.scenario import (
    GRID,
    Handler,
    Plan,
    PlannedBatch,
    PlannedRetry,
    Scenario,
    SinkStep,
    Step,
    Timed,
)

MOST_INPUTS = 3
"""Largest number of input elements: records, equal or not, watermarks and barriers."""

CAPACITIES = (1, 2)
DURATIONS = (0, GRID, 2 * GRID)
"""Durations of each call, in ms."""

GAPS = (0, GRID)
"""Gaps before each element except the first, in ms."""

DEADLINES = (None, GRID + GRID // 2)
"""Timeouts in ms; with the second, a call may answer before its deadline, or too late."""

KEYS = ("x", "y")
"""Keys of records in key-ordered mode; the first record has the first key."""

LATE: tuple[SinkStep, ...] = (SinkStep("pause", 3 * GRID),)
"""Script of a consumer that reads after everything was decided; the empty script reads at once."""

ONCE_MORE = PlannedRetry(max_attempts=2, initial=GRID)

PAIRS = tuple(PlannedBatch(max_size=2, max_wait=GRID, in_flight=most) for most in CAPACITIES)
HALVED = PlannedBatch(max_size=2, max_wait=GRID, in_flight=2, split=True)

_Way = tuple[tuple[Step, ...], int]
"""Calls of a record: the steps that raise, and the duration of the next call, in ms."""

ANSWERS: tuple[_Way, ...] = tuple(((), after) for after in DURATIONS)
_RAISES, _RAISES_LATE = (Step("raise", after, error="ValueError") for after in GAPS)
SLIPS: tuple[_Way, ...] = (
    ((), 0),
    ((), GRID),
    ((_RAISES,), 0),
    ((_RAISES_LATE,), 0),
    ((_RAISES, _RAISES), 0),
)
"""Calls that may fail; the last entry never answers, as a record is called twice at most."""

_Stream = tuple[tuple[Timed, ...], tuple[Plan, ...]]


def small_scenarios() -> Iterator[Scenario]:
    """Yield every scenario of the scope, each once, the smaller scenarios of each part first."""
    for inputs, plans in _streams(ANSWERS):
        yield from _set_up(("ordered", "unordered"), inputs, plans)
    for inputs, plans in _streams(ANSWERS):
        for keyed in _with_keys(inputs):
            yield from _set_up(("key-ordered",), keyed, plans)
    for inputs, plans in _streams(SLIPS):
        if any(step.does == "raise" for plan in plans for step in plan.steps):
            for scenario in _set_up(("ordered", "unordered", "key-ordered"), inputs, plans, ((),)):
                yield replace(scenario, retry=ONCE_MORE)
                if scenario.mode != "key-ordered" and scenario.capacity > 1:
                    yield replace(scenario, retry=ONCE_MORE, batch=HALVED)
    for inputs, plans in _streams(ANSWERS):
        for scenario in _set_up(("ordered", "unordered"), inputs, plans, ((),)):
            if scenario.capacity > 1:
                yield from (replace(scenario, batch=batch) for batch in PAIRS)


def _set_up(
    modes: Sequence[Mode],
    inputs: tuple[Timed, ...],
    plans: tuple[Plan, ...],
    sinks: Sequence[tuple[SinkStep, ...]] = ((), LATE),
) -> Iterator[Scenario]:
    for mode, capacity, timeout, sink in product(modes, CAPACITIES, DEADLINES, sinks):
        yield Scenario(
            mode=mode,
            capacity=capacity,
            timeout=timeout,
            inputs=inputs,
            plans=plans,
            handled=timeout is not None,
            sink=sink,
        )


def _streams(ways: Sequence[_Way]) -> Iterator[_Stream]:
    for length in range(MOST_INPUTS + 1):
        for kinds in _words(length):
            values = sorted(set(kinds) & set("abc"))
            calls = sum(map(kinds.count, values))
            for gaps in product(GAPS, repeat=max(0, length - 1)):
                inputs = _timed(kinds, gaps)
                for each in product(ways, repeat=calls):
                    yield inputs, _plans(kinds, values, each)


def _words(length: int) -> Iterator[str]:
    """Yield the kinds of elements as words, in which each value has a letter, in order of use."""
    for word in product("abcWB", repeat=length):
        letters = [kind for kind in dict.fromkeys(word) if kind in "abc"]
        if letters == list("abc")[: len(letters)]:
            yield "".join(word)


def _timed(kinds: str, gaps: tuple[int, ...]) -> tuple[Timed, ...]:
    at, inputs = 0, []
    for number, (kind, gap) in enumerate(zip(kinds, (0, *gaps), strict=False)):
        at += gap
        inputs.append(Timed(at, _element(kind, number)))
    return tuple(inputs)


def _element(kind: str, number: int) -> Element:
    """Return an element; two records are equal if their values are."""
    match kind:
        case "W":
            return Watermark(number)
        case "B":
            return Barrier(number)
        case _:
            return Record(kind)


def _with_keys(inputs: tuple[Timed, ...]) -> Iterator[tuple[Timed, ...]]:
    records = sum(isinstance(timed.element, Record) for timed in inputs)
    for others in product(KEYS, repeat=max(0, records - 1)):
        keys = iter((KEYS[0], *others))
        yield tuple(
            replace(timed, element=replace(timed.element, key=next(keys)))
            if isinstance(timed.element, Record)
            else timed
            for timed in inputs
        )


def _plans(kinds: str, values: list[str], calls: Sequence[_Way]) -> tuple[Plan, ...]:
    """Return a plan for each value, in which each call has its own duration and result."""
    rest = iter(calls)
    return tuple(
        Plan(
            value,
            tuple(
                chain.from_iterable(
                    (*slips, Step(after=after, results=(f"{value}{call}",)))
                    for call, (slips, after) in enumerate(
                        next(rest) for _ in range(kinds.count(value))
                    )
                )
            ),
            Handler("reply", (f"{value}?",)),
        )
        for value in values
    )
