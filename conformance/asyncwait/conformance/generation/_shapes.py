"""Large scenarios of known shapes, for defects that small scenarios can't show.

wide    many records in flight at once, many results, long segments, large snapshots
long    thousands of records through a small operator, with objects that are counted
deep    many crashes, each with other capacity and mode
dense   everything in few instants
sparse  long silences, and deadlines from milliseconds to years
fine    instants a millisecond apart, hundreds of deadlines among them
flaky   calls that fail or hang, and are repeated after milliseconds, before they have cleaned up
spared  calls that fail or are late, and handlers that mostly have results for them
lines   long lines of records that wait for few keys, and a few records with a key of their own
batched records that share calls, with all that other profiles bring
limited records that wait for permits, without budgets, which end streams in the middle
cached  records of few keys, whose results are kept, with nearly all that other profiles bring

The size and a seed alone determine a shape, so that a smaller size gives a smaller scenario.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

from msgspec.structs import replace

from asyncwait.conformance.generation._generate import (
    QUICK,
    batch_of,
    cache_of,
    maybe,
    with_batches,
    with_copies,
    with_failure_handlers,
    with_figures,
    with_keys,
    with_limits,
    with_retries,
)
from asyncwait.conformance.generation._random import apart
from asyncwait.spec import Barrier, Element, Record, Snapshot, Watermark, WatermarkStatus
from asyncwait.spec.scenario import (
    GRID,
    Crash,
    Handler,
    Plan,
    Scenario,
    SinkStep,
    SnapshotRequest,
    Step,
    Timed,
    identity,
    with_times,
)
from asyncwait.spec.snapshots import Stored

DAY = 86_400_000
"""Milliseconds of a day."""

Durations = Callable[[Random], int]


def _stream(
    rng: Random, size: int, values: int, gap: Durations, fences: tuple[float, float]
) -> tuple[Timed, ...]:
    """Return `size` elements: records of `values` values, with fences and barriers among them."""
    inputs: list[Timed] = []
    at = 0
    for number in range(size):
        at += gap(rng) if inputs else 0
        inputs.append(Timed(at, _element(rng, number, values, *fences)))
    return tuple(inputs)


def _element(rng: Random, number: int, values: int, fence: float, barrier: float) -> Element:
    chance = rng.random()
    if chance < barrier:
        return Barrier(number)
    if chance < barrier + fence:
        return WatermarkStatus(maybe(rng, 0.5)) if maybe(rng, 0.2) else Watermark(number)
    # Some records equal an earlier record, key and time included.
    return Record(f"v{rng.randrange(values)}", number // 8, rng.choice([None, "k", number]))


def _plans(rng: Random, values: int, takes: Durations, steps: int) -> tuple[Plan, ...]:
    return tuple(
        Plan(
            f"v{value}",
            tuple(
                Step(after=takes(rng), results=_results(rng, f"{value}.{step}"))
                for step in range(steps)
            ),
            Handler("reply", _results(rng, f"{value}?")),
        )
        for value in range(values)
    )


def _results(rng: Random, name: str) -> tuple[str, ...]:
    count = rng.choices([1, 0, 2, 3, 16, 40], [60, 12, 12, 8, 5, 3])[0]
    return tuple(f"{name}.{part}" for part in range(count))


def _ticks(*choices: int) -> Durations:
    return lambda rng: rng.choice(choices) * GRID


def _drawn(
    rng: Random,
    records: int,
    values: int,
    *,
    room: Sequence[int],
    timeouts: Sequence[int | None] = (None,),
    gap: Durations = lambda _: 0,
    takes: Durations,
    steps: int = 4,
    fences: tuple[float, float] = (0.05, 0.05),
    forms: Sequence[Any] = ("coroutine", "coroutine", "callback"),
    **others: Any,
) -> Scenario:
    """Return a scenario of many records.

    Args:
        rng: source of random decisions.
        records: the number of elements.
        values: the number of their values.
        room: capacities to choose from.
        timeouts: to choose from, in ms.
        gap: between two elements.
        takes: duration of a call.
        steps: the number of planned calls of each value.
        fences: shares of fences and of barriers among the elements.
        forms: forms of the function to choose from.
        others: further fields.
    """
    timeout = rng.choice(timeouts)
    return Scenario(
        mode=rng.choice(["ordered", "unordered"]),
        capacity=rng.choice(room),
        timeout=timeout,
        handled=timeout is not None,
        form=rng.choice(forms),
        inputs=_stream(rng, records, values, gap, fences),
        plans=_plans(rng, values, takes, steps),
        **others,
    )


def _wide(rng: Random, size: int) -> Scenario:
    size *= 3
    stored: list[Stored] = [Record(f"v{n % 40}", n) for n in range(rng.choice([0, 0, size // 3]))]
    return _drawn(
        rng,
        size,
        40,
        room=[max(1, size // 10), max(1, size // 3), size - 1],
        timeouts=[None, 4 * GRID],
        gap=_ticks(0, 0, 0, 0, 0, 0, 0, 1),
        takes=_ticks(0, 1, 2, 3, 5, 8),
        sink=rng.choice([(), (SinkStep("pause", 10 * GRID),)]),
        requests=(SnapshotRequest(2 * GRID, 10_000),),
        restore=Snapshot(9_999, tuple(stored)) if stored else None,
    )


def _long(rng: Random, size: int) -> Scenario:
    return _drawn(
        rng,
        size * 30,
        10,
        room=[4, 16],
        timeouts=[None, 3 * GRID],
        takes=_ticks(0, 0, 0, 1, 2),
        steps=40,
        fences=(0.02, 0.005),
        tracked=True,
    )


def _deep(rng: Random, size: int) -> Scenario:
    crashes = tuple(
        Crash(
            rng.randint(1, 8) * GRID,
            rng.choice([None, 1, 2, 5, 20]),
            rng.choice([None, None, "ordered", "unordered"]),
        )
        for _ in range(max(1, size // 12))
    )
    return _drawn(
        rng,
        size // 2,
        5,
        room=[1, 3, 8],
        gap=_ticks(0, 0, 1),
        takes=_ticks(0, 1, 2, 4),
        fences=(0.12, 0.25),
        crashes=crashes,
    )


def _dense(rng: Random, size: int) -> Scenario:
    return _drawn(
        rng,
        size // 3,
        30,
        room=[2, 5, 9],
        timeouts=[None, GRID],
        takes=_ticks(0, 1, 1),
        fences=(0.15, 0.1),
        sink=rng.choice([(), (SinkStep("pause", GRID),), (SinkStep("give_up", GRID),) * 3]),
    )


def _sparse(rng: Random, size: int) -> Scenario:
    return _drawn(
        rng,
        size // 8,
        3,
        room=[1, 3],
        timeouts=[None, GRID, DAY, 3650 * DAY],
        gap=_ticks(0, 10, 200),
        takes=_ticks(0, 1, 20, 100),
        fences=(0.2, 0.1),
        source_ends_at=rng.choice([0, 2_000 * GRID]),
    )


def _fine(rng: Random, size: int) -> Scenario:
    return _drawn(
        rng,
        size * 2,
        30,
        room=[3, size, 3 * size],
        timeouts=[1, 2, 5, 7],
        gap=lambda r: r.choice([0, 0, 1, 1, 2]),
        takes=lambda r: r.choice([0, 3, 4, 6, 9, 30]),
    )


def _flaky(rng: Random, size: int) -> Scenario:
    """Return a scenario with retries and steps of 3 ms; no limit or deadline is on a step."""
    base = _drawn(
        rng,
        size // 2,
        max(1, size // 8),
        room=[2, 5, size],
        timeouts=[None, 9 * GRID, 40 * GRID],
        gap=_ticks(0, 0, 1, 3),
        takes=_ticks(0, 1, 2),
        steps=1,
    )
    off = {"PlannedRetry.attempt_timeout": 1, "Scenario.timeout": 2}
    return with_times(
        with_retries(rng, base), lambda kind, ms: 3 * -(-ms // GRID) + off.get(kind, 0)
    )


def _spared(rng: Random, size: int) -> Scenario:
    base = _drawn(
        rng,
        size // 4,
        max(1, size // 10),
        room=[1, 3, 8],
        timeouts=[None, GRID, 3 * GRID],
        gap=_ticks(0, 0, 0, 1),
        takes=_ticks(0, 1, 1, 2),
        crashes=(Crash(3 * GRID),) if maybe(rng, 0.2) else (),
    )
    return _layered(rng, base, 0.3, 1)


def _lines(rng: Random, size: int) -> Scenario:
    base = _drawn(
        rng,
        size,
        max(1, size // 8),
        room=[2, 6, 40],
        timeouts=[None, 2 * GRID, 5 * GRID],
        gap=_ticks(0, 0, 0, 1),
        takes=_ticks(0, 0, 1, 1, 2, 4),
        max_held=rng.choice([None, None, 3]),
        sink=(SinkStep("read", size // 5), SinkStep("pause", 4 * GRID)),
        crashes=(Crash(6 * GRID),) if maybe(rng, 0.2) else (),
    )
    return _layered(rng, base, 0.5, 0, 1)


def _mixed(
    rng: Random, records: int, values: int, *, ends: int, crash: int, share: float, **others: Any
) -> Scenario:
    """Return a scenario with a little of everything.

    Args:
        rng: source of random decisions.
        records: the number of elements.
        values: the number of their values.
        ends: steps of the grid after which the source may end.
        crash: steps of the grid after which the first leg may crash.
        share: of the scenarios that watch contexts, deadlines, or lists of results.
        others: see `_drawn`.
    """
    base = _drawn(
        rng,
        records,
        values,
        room=[2, 3, 5, records],
        timeouts=[None, None, 3 * GRID, 6 * GRID],
        takes=_ticks(0, 1, 1, 2, 4),
        max_held=rng.choice([None, None, None, 2]),
        source_ends_at=rng.choice([0, ends * GRID]),
        sink=rng.choice([(), (), (SinkStep("pause", 3 * GRID),), (SinkStep("read", 2),)]),
        cancel_at=rng.choice([None] * 6 + [3 * GRID]),
        requests=rng.choice([(), (), (SnapshotRequest(GRID, 70),)]),
        crashes=rng.choice([(), (), (Crash(crash * GRID),)]),
        contexts=maybe(rng, share),
        unshielded=maybe(rng, share),
        **others,
    )
    return replace(base, handled=base.handled and maybe(rng, 0.6))


def _layered(rng: Random, base: Scenario, *shares: float) -> Scenario:
    """Put layers of other profiles on a scenario, each with its probability."""
    layers = with_retries, with_failure_handlers, with_keys, with_figures, with_copies
    for put_on, share in zip(layers, shares, strict=False):
        if maybe(rng, share):
            base = put_on(rng, base)
    return base


def _batched(rng: Random, size: int) -> Scenario:
    records = max(2, size // 6)
    base = _mixed(
        rng,
        records,
        max(1, records // 2),
        gap=_ticks(0, 0, 0, 1, 2),
        steps=1,
        ends=12,
        crash=2,
        share=0.2,
        forms=["coroutine"],
    )
    return with_batches(rng, _layered(rng, base, 0.6, 0.4, 0.3, 0.3, 0.3))


def _cached(rng: Random, size: int) -> Scenario:
    records, values = max(2, size // 5), rng.choice([1, 2, 3, 5])
    cache = cache_of(rng, values)
    base = _mixed(
        rng,
        records,
        values,
        gap=_ticks(0, 0, 1, 1, 2),
        steps=6,
        ends=30,
        crash=4,
        share=0.2,
        forms=["coroutine"],
    )
    base = replace(_layered(rng, base, 0.5, 0.4, 0.2, 0.6), cache=cache)
    return _renamed(base, rng.choice(_ALIKE))


_ALIKE: Sequence[Mapping[str, Any]] = [
    *[{}] * 3,
    {"v0": None},
    {"v0": 1, "v1": 1.0, "v2": True},
    {"v0": ["v0", 1], "v1": ["v0", None]},
]
"""Values that replace the first ones: null, or values that look alike."""


def _renamed(scenario: Scenario, names: Mapping[str, Any]) -> Scenario:
    def named(element: Any) -> Any:
        is_other = isinstance(element, Record) and element.value in names
        return replace(element, value=names[element.value]) if is_other else element

    inputs = tuple(replace(timed, element=named(timed.element)) for timed in scenario.inputs)
    plans = tuple(replace(plan, value=names.get(plan.value, plan.value)) for plan in scenario.plans)
    return replace(scenario, inputs=inputs, plans=plans)


def _limited(rng: Random, size: int) -> Scenario:
    records, values = max(2, size // 6), rng.choice([2, 3, 5])
    base = _mixed(
        rng, records, values, gap=_ticks(0, 0, 0, 1, 2), steps=6, ends=12, crash=2, share=0.1
    )
    base = _layered(rng, base, 0.5, 0.3, 0.3, 0.3, 0.2)
    batch = batch_of(rng, base) if base.form == "coroutine" and maybe(rng, 0.15) else None
    return with_limits(rng, replace(base, batch=batch))


SHAPES: Mapping[str, tuple[Callable[[Random, int], Scenario], int]] = {
    "wide": (_wide, 5),
    "long": (_long, 1),
    "deep": (_deep, 12),
    "dense": (_dense, 20),
    "sparse": (_sparse, 12),
    "fine": (_fine, 8),
    "flaky": (_flaky, 20),
    "spared": (_spared, 30),
    "lines": (_lines, 20),
    "batched": (_batched, 40),
    "cached": (_cached, 40),
    "limited": (_limited, 40),
}
"""Function that draws each shape, and its number among the scenarios of a quick run, by name."""

LARGEST = 100
"""Largest size of a shape."""


def shape(name: str, size: int, seed: int) -> Scenario:
    """Return the scenario of a shape with `size` (1 to `LARGEST`) and `seed`."""
    draw, _ = SHAPES[name]
    scenario = draw(Random(f"{name} {seed}"), size)
    called = {identity(each.value) for each in scenario.elements if isinstance(each, Record)}
    plans = tuple(plan for plan in scenario.plans if identity(plan.value) in called)
    return apart(replace(scenario, plans=plans))


def shapes(count: int, seed: int) -> Iterator[tuple[str, Scenario]]:
    """Yield the shapes that accompany `count` small scenarios, each with a name.

    Both arguments determine them, like the small scenarios. In a quick run a long shape has a third
    of its length.
    """
    for name, (_, share) in SHAPES.items():
        size = LARGEST if name != "long" or count > QUICK else LARGEST // 3
        for number in range(max(1, round(share * count / QUICK))):
            own = seed * 1_000_003 + number
            yield f"{name} {number} of seed {seed}", shape(name, size, own)
