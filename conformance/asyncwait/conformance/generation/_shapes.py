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
    KEYS,
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
    PlannedRetry,
    Scenario,
    SinkStep,
    SnapshotRequest,
    Step,
    Timed,
    identity,
)
from asyncwait.spec.snapshots import Stored

DAY = 86_400_000
"""Milliseconds of a day."""

Durations = Callable[[Random], int]


def _stream(
    rng: Random,
    size: int,
    values: int,
    *,
    gap: Durations = lambda _: 0,
    fence: float = 0.05,
    barrier: float = 0.05,
) -> tuple[Timed, ...]:
    """Return `size` elements: records of `values` values, with fences and barriers among them."""
    inputs: list[Timed] = []
    at = 0
    for number in range(size):
        at += gap(rng) if inputs else 0
        inputs.append(Timed(at, _element(rng, number, values, fence, barrier)))
    return tuple(inputs)


def _element(rng: Random, number: int, values: int, fence: float, barrier: float) -> Element:
    chance = rng.random()
    if chance < barrier:
        return Barrier(number)
    if chance < barrier + fence:
        return WatermarkStatus(maybe(rng, 0.5)) if maybe(rng, 0.2) else Watermark(number)
    # Some records equal an earlier record, key and time included.
    return Record(f"v{rng.randrange(values)}", number // 8, rng.choice([None, "k", number]))


def _plans(
    rng: Random, values: int, duration: Durations, *, steps: int = 4, **others: Any
) -> tuple[Plan, ...]:
    """Return a plan for each value; `others` are fields of its steps."""
    return tuple(
        Plan(
            f"v{value}",
            tuple(
                Step(after=duration(rng), results=_results(rng, f"{value}.{step}"), **others)
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


def _mode(rng: Random) -> Any:
    return rng.choice(["ordered", "unordered"])


def _form(rng: Random) -> Any:
    return rng.choice(["coroutine", "coroutine", "callback"])


def _wide(rng: Random, size: int) -> Scenario:
    size *= 3
    timeout = rng.choice([None, 4 * GRID])
    stored: list[Stored] = [Record(f"v{n % 40}", n) for n in range(rng.choice([0, 0, size // 3]))]
    return Scenario(
        mode=_mode(rng),
        capacity=max(1, rng.choice([size // 10, size // 3, size - 1])),
        timeout=timeout,
        handled=timeout is not None,
        form=_form(rng),
        inputs=_stream(rng, size, 40, gap=_ticks(0, 0, 0, 0, 0, 0, 0, 1)),
        plans=_plans(rng, 40, _ticks(0, 1, 2, 3, 5, 8)),
        sink=rng.choice([(), (SinkStep("pause", 10 * GRID),)]),
        requests=(SnapshotRequest(2 * GRID, 10_000),),
        restore=Snapshot(9_999, tuple(stored)) if stored else None,
    )


def _long(rng: Random, size: int) -> Scenario:
    timeout = rng.choice([None, 3 * GRID])
    return Scenario(
        mode=_mode(rng),
        capacity=rng.choice([4, 16]),
        timeout=timeout,
        handled=timeout is not None,
        form=_form(rng),
        inputs=_stream(rng, size * 30, 10, fence=0.02, barrier=0.005),
        plans=_plans(rng, 10, _ticks(0, 0, 0, 1, 2), steps=40),
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
    return Scenario(
        mode=_mode(rng),
        capacity=rng.choice([1, 3, 8]),
        form=_form(rng),
        inputs=_stream(rng, size // 2, 5, gap=_ticks(0, 0, 1), fence=0.12, barrier=0.25),
        plans=_plans(rng, 5, _ticks(0, 1, 2, 4)),
        crashes=crashes,
    )


def _dense(rng: Random, size: int) -> Scenario:
    timeout = rng.choice([None, GRID])
    return Scenario(
        mode=_mode(rng),
        capacity=rng.choice([2, 5, 9]),
        timeout=timeout,
        handled=timeout is not None,
        form=_form(rng),
        inputs=_stream(rng, size // 3, 30, fence=0.15, barrier=0.1),
        plans=_plans(rng, 30, _ticks(0, 1, 1), thread=maybe(rng, 0.2)),
        sink=rng.choice([(), (SinkStep("pause", GRID),), (SinkStep("give_up", GRID),) * 3]),
    )


def _sparse(rng: Random, size: int) -> Scenario:
    timeout = rng.choice([None, GRID, DAY, 3650 * DAY])
    return Scenario(
        mode=_mode(rng),
        capacity=rng.choice([1, 3]),
        timeout=timeout,
        handled=timeout is not None,
        form=_form(rng),
        inputs=_stream(rng, size // 8, 3, gap=_ticks(0, 10, 200), fence=0.2, barrier=0.1),
        plans=_plans(rng, 3, _ticks(0, 1, 20, 100)),
        source_ends_at=rng.choice([0, 2_000 * GRID]),
    )


def _fine(rng: Random, size: int) -> Scenario:
    return Scenario(
        mode=_mode(rng),
        capacity=rng.choice([3, size, 3 * size]),
        timeout=rng.choice([1, 2, 5, 7]),
        handled=True,
        form=_form(rng),
        inputs=_stream(rng, size * 2, 30, gap=lambda r: r.choice([0, 0, 1, 1, 2]), fence=0.03),
        plans=_plans(rng, 30, lambda r: r.choice([0, 3, 4, 6, 9, 30])),
    )


def _flaky(rng: Random, size: int) -> Scenario:
    timeout, limit = rng.choice([None, 9, 40]), rng.choice([None, 3, 6])
    retry = PlannedRetry(
        max_attempts=rng.choice([3, 5]),
        initial=rng.choice([1, 2, 5]),
        multiplier=rng.choice([1, 2]),
        cap=rng.choice([3, 60_000]),
        # No random jitter decides whether a back-off outlasts the deadline.
        jitter=rng.choice([0, 0, 100]) if timeout is None else 0,
        attempt_timeout=limit,
        on_result=rng.choice(["never", "pair"]),
    )
    values = max(1, size // 8)
    plans = tuple(
        replace(plan, steps=(*(_slip(rng, limit) for _ in range(rng.randint(1, 4))), plan.steps[0]))
        for plan in _plans(rng, values, lambda r: r.choice([0, 1, 2]), steps=1)
    )
    return Scenario(
        mode=_mode(rng),
        capacity=rng.choice([2, 5, size]),
        timeout=timeout,
        retry=retry,
        handled=timeout is not None,
        form=_form(rng),
        inputs=_stream(rng, size // 2, values, gap=lambda r: r.choice([0, 0, 1, 3])),
        plans=plans,
    )


def _slip(rng: Random, limit: int | None) -> Step:
    """Return a call that fails: it raises, gives two results, or hangs and cleans up."""
    after = rng.choice([0, 0, 1, 2])
    kind = rng.choice(["raise", "told", "pair", "hang"])
    if kind == "hang" and limit is not None:
        return Step("never", clean_up=rng.choice([0, 0, 1, 4, 30]))
    if kind == "pair":
        return Step(after=after, results=("no", "never"), twice=True, again=rng.choice([0, 2]))
    if kind == "told":
        return Step("raise", after, error="RetryAfter", retry_after=rng.choice([0, 1, 4]))
    return Step("raise", after, error="ValueError", thread=maybe(rng, 0.1))


def _spared(rng: Random, size: int) -> Scenario:
    timeout = rng.choice([None, GRID, 3 * GRID])
    retry = PlannedRetry(max_attempts=2) if maybe(rng, 0.3) else None
    values = max(1, size // 10)
    plans = tuple(
        replace(
            plan,
            steps=tuple(_failing(rng, step, late=timeout is not None) for step in plan.steps),
            handler=plan.handler if maybe(rng, 0.5) else Handler("none"),
            failure=_instead(rng, f"{plan.value}!"),
        )
        for plan in _plans(rng, values, _ticks(0, 1, 1, 2))
    )
    return Scenario(
        mode=_mode(rng),
        capacity=rng.choice([1, 3, 8]),
        timeout=timeout,
        retry=retry,
        handled=timeout is not None and maybe(rng, 0.5),
        failures_handled=True,
        form=_form(rng),
        inputs=_stream(rng, size // 4, values, gap=_ticks(0, 0, 0, 1)),
        plans=plans,
        crashes=(Crash(3 * GRID),) if maybe(rng, 0.2) else (),
    )


def _lines(rng: Random, size: int) -> Scenario:
    timeout = rng.choice([None, 2 * GRID, 5 * GRID])
    values = max(1, size // 8)
    plans = _plans(rng, values, _ticks(0, 0, 1, 1, 2, 4))
    retry = rng.choice([None, PlannedRetry(max_attempts=6, initial=GRID)])
    if retry is not None:
        plans = tuple(_at_last(rng, plan) for plan in plans)
    keys = rng.choice(KEYS)
    inputs = tuple(
        replace(timed, element=_of_a_line(rng, timed.element, keys, number))
        for number, timed in enumerate(_stream(rng, size, values, gap=_ticks(0, 0, 0, 1)))
    )
    return Scenario(
        mode="key-ordered",
        capacity=rng.choice([2, 6, 40]),
        timeout=timeout,
        retry=retry,
        handled=timeout is not None,
        max_held=rng.choice([None, None, 3]),
        form=_form(rng),
        inputs=inputs,
        plans=plans,
        sink=(SinkStep("read", size // 5), SinkStep("pause", 4 * GRID)),
        crashes=(Crash(6 * GRID, mode=_mode(rng)),) if maybe(rng, 0.2) else (),
    )


def _mixed(
    rng: Random,
    records: int,
    values: int,
    *,
    room: Sequence[int],
    gap: Durations,
    plans: tuple[int, int],
    ends: int,
    crash: int,
    share: float,
    form: Callable[[Random], Any] = lambda _: "coroutine",
) -> Scenario:
    """Return a scenario with a little of everything.

    Args:
        rng: source of random decisions.
        records: the number of elements.
        values: the number of their values.
        room: capacities to choose from.
        gap: between two elements.
        plans: the number of planned values, and the steps of each.
        ends: steps of the grid after which the source may end.
        crash: steps of the grid after which the first leg may crash.
        share: of the scenarios that watch contexts, deadlines, or lists of results.
        form: of the function.
    """
    timeout = rng.choice([None, None, 3 * GRID, 6 * GRID])
    return Scenario(
        mode=_mode(rng),
        capacity=rng.choice(room),
        timeout=timeout,
        handled=timeout is not None and maybe(rng, 0.6),
        max_held=rng.choice([None, None, None, 2]),
        form=form(rng),
        inputs=_stream(rng, records, values, gap=gap),
        plans=_plans(rng, plans[0], _ticks(0, 1, 1, 2, 4), steps=plans[1]),
        source_ends_at=rng.choice([0, ends * GRID]),
        sink=rng.choice([(), (), (SinkStep("pause", 3 * GRID),), (SinkStep("read", 2),)]),
        cancel_at=rng.choice([None] * 6 + [3 * GRID]),
        requests=rng.choice([(), (), (SnapshotRequest(GRID, 70),)]),
        crashes=rng.choice([(), (), (Crash(crash * GRID),)]),
        contexts=maybe(rng, share),
        unshielded=maybe(rng, share),
    )


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
        room=[2, 3, 5, records],
        gap=_ticks(0, 0, 0, 1, 2),
        plans=(records, 1),
        ends=12,
        crash=2,
        share=0.2,
    )
    return with_batches(rng, _layered(rng, base, 0.6, 0.4, 0.3, 0.3, 0.3))


def _cached(rng: Random, size: int) -> Scenario:
    records, values = max(2, size // 5), rng.choice([1, 2, 3, 5])
    cache = cache_of(rng, values)
    base = _mixed(
        rng,
        records,
        values,
        room=[2, 3, 5, records],
        gap=_ticks(0, 0, 1, 1, 2),
        plans=(values, 6),
        ends=30,
        crash=4,
        share=0.2,
    )
    base = _layered(rng, base, 0.5, 0.4, 0.2, 0.6)
    plans = tuple(
        replace(plan, handler=Handler("raise", error="ValueError")) if maybe(rng, 0.1) else plan
        for plan in base.plans
    )
    return _renamed(replace(base, plans=plans, cache=cache), rng.choice(_ALIKE))


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
        rng,
        records,
        values,
        room=[2, 3, 5, records, records],
        gap=_ticks(0, 0, 0, 1, 2),
        plans=(values, 6),
        ends=12,
        crash=2,
        share=0.1,
        form=_form,
    )
    base = _layered(rng, base, 0.5, 0.3, 0.3, 0.3, 0.2)
    batch = batch_of(rng, base) if base.form == "coroutine" and maybe(rng, 0.15) else None
    return with_limits(rng, replace(base, batch=batch))


def _at_last(rng: Random, plan: Plan) -> Plan:
    slip = Step("raise", rng.choice([0, GRID]), error="ValueError")
    steps = (slip if maybe(rng, 0.5) else step for step in plan.steps[:-1])
    return replace(plan, steps=(*steps, plan.steps[-1]))


def _of_a_line(rng: Random, element: Element, keys: Sequence[Any], number: int) -> Element:
    if not isinstance(element, Record):
        return element
    key = f"own {number}" if maybe(rng, 0.1) else rng.choice(keys)
    return replace(element, key=key)


def _failing(rng: Random, step: Step, *, late: bool) -> Step:
    """Return a call that often fails: it raises, misreturns, or never answers."""
    kind = rng.choice(["reply", "raise", "misreturn", "never" if late else "raise"])
    if kind == "raise":
        return Step("raise", step.after, error=rng.choice(["ValueError", "", "StopIteration"]))
    if kind == "misreturn":
        return Step("misreturn", step.after, error=rng.choice(["none", "text", "broken"]))
    return Step("never") if kind == "never" else step


def _instead(rng: Random, name: str) -> Handler:
    match rng.choices(["reply", "none", "raise", "misreturn"], [94, 2, 2, 2])[0]:
        case "raise":
            return Handler("raise", error=rng.choice(["ValueError", ""]))
        case "misreturn":
            return Handler("misreturn", error=rng.choice(["number", "broken"]))
        case "none":
            return Handler("none")
        case _:
            return Handler("reply", _results(rng, name))


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
