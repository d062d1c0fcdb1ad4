"""Seeded scenarios: random ones, with layers of profiles on them, so that any two profiles meet.

Each layer draws from its own random generator, so its draws change nothing in other layers.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, combinations, islice, product
from random import Random
from typing import Any, NamedTuple

from msgspec.structs import replace

from asyncwait.conformance.generation._random import TICK, Chance, apart, scenario
from asyncwait.spec import Barrier, Element, Record, Snapshot, Watermark
from asyncwait.spec.scenario import (
    GRID,
    Handler,
    Plan,
    PlannedBatch,
    PlannedCache,
    PlannedLimit,
    PlannedRetry,
    Scenario,
    Step,
    key_of,
)

_ATTEMPTS = [3, 2, 3, 4, 2, 3, 1, 9]
_PAUSES = [1, 1, 1, 2, 3, 10]
_CAPS = [60_000, 60_000, 60_000, 2 * TICK, 4 * TICK]
_LIMITS = [None, 1, 2, 3, 5]
_ON_ERROR: list[Any] = ["any"] * 8 + ["some", "asked", "told", "breaks"]
_ON_RESULT: list[Any] = ["never", "never", "empty", "pair", "pair", "pair", "breaks"]
_JITTER = [0, 50]
_FAILURES = [0, 1, 1, 1, 2, 2, 4]
_ERRORS = ["ValueError", "RetryAfter"] * 4 + ["", "Unpicklable", "StopIteration", "CancelledError"]
_AFTER = [0, 0, 1, 1, 2, 3]
_KINDS = ["raise"] * 4 + ["refused"] * 3 + ["broken"] + ["hangs"] * 4
_SOMETIMES = [False, False, True]
_RARELY = [False] * 5 + [True]


def has_failing_calls(scenario: Scenario) -> bool:
    """Whether a call raises or misreturns; scenarios show its consequences best without retries."""
    steps = (step for plan in scenario.plans for step in plan.steps)
    return any(step.does in {"raise", "misreturn"} for step in steps)


def with_retries(chance: Chance, scenario: Scenario) -> Scenario:
    """Return `scenario` with calls that fail first and are repeated."""
    limit, jitter = chance.choice(_LIMITS), chance.choice(_JITTER)
    retry = PlannedRetry(
        max_attempts=chance.choice(_ATTEMPTS),
        initial=chance.choice(_PAUSES) * TICK,
        multiplier=chance.choice([1, 2, 2, 3]),
        cap=chance.choice(_CAPS),
        # No random jitter decides whether a back-off outlasts the deadline.
        jitter=jitter if scenario.timeout is None else 0,
        attempt_timeout=None if limit is None else limit * TICK,
        on_error=chance.choice(_ON_ERROR),
        on_result=chance.choice(_ON_RESULT),
    )
    plans = tuple(_failing(chance, retry, plan) for plan in scenario.plans)
    return replace(scenario, retry=retry, plans=plans)


def _failing(chance: Chance, retry: PlannedRetry, plan: Plan) -> Plan:
    failures = (_failure(chance, retry, plan.value) for _ in range(chance.choice(_FAILURES)))
    steps = tuple(replace(step, throws=False) for step in plan.steps)
    handler = Handler("raise", error="ValueError") if chance.choice(_RARELY) else plan.handler
    return replace(plan, steps=(*failures, *steps), handler=handler)


def _failure(chance: Chance, retry: PlannedRetry, value: Any) -> Step:
    after, supplied = chance.choice(_AFTER) * TICK, chance.choice(_RARELY)
    twice = chance.choice(_RARELY)
    again = chance.choice([0, 1, 2]) * TICK if twice else 0
    told: dict[str, Any] = {
        "supplied": supplied,
        "thread": chance.choice(_RARELY),
        "twice": twice,
        "again": again,
    }
    match chance.choice(_KINDS):
        case "refused" if retry.on_result in {"empty", "pair"}:
            results = (f"{value}-no", f"{value}-never") if retry.on_result == "pair" else ()
            return Step(after=after, results=results, **told)
        case "broken":
            return Step("misreturn", after, error="broken", **told)
        case "hangs" if retry.attempt_timeout is not None:
            return _hanging(chance, retry.attempt_timeout, value)
        case _:
            error = chance.choice(_ERRORS)
            pause = chance.choice([0, 1, 2, 5]) * TICK if error == "RetryAfter" else 0
            return Step("raise", after, error=error, retry_after=pause, **told)


def _hanging(chance: Chance, limit: int, value: Any) -> Step:
    late = limit + chance.choice([1, 2, 3]) * TICK
    clean_up, swallow = chance.choice([0, 0, 1, 3]) * TICK, chance.choice(_SOMETIMES)
    if chance.choice(_SOMETIMES):
        return Step("never", clean_up=clean_up)
    results = (f"{value}-late",)
    return Step(after=late, results=results, clean_up=clean_up, swallow=swallow)


_HANDLED = ["reply", "raise", "reply", "misreturn", "raise", "never"]
_UNHANDLED = ["ValueError"] * 3 + [
    "",
    "Unpicklable",
    "StopIteration",
    "RetryAfter",
    "CancelledError",
]
_MISRETURNS = ["none", "none", "text", "number", "broken"]
_COUNTS = [1, 1, 1, 0, 2]
_DOES: list[Any] = ["reply"] * 6 + ["none", "raise", "misreturn"]
_LATE = [None] * 4 + [
    *(Handler("none"), Handler("none")),
    *(Handler("raise", error="ValueError"), Handler("misreturn", error="text")),
]
"""Timeout handlers that give no results, so that the operator asks the failure handler."""


def with_failure_handlers(chance: Chance, scenario: Scenario) -> Scenario:
    """Return `scenario` with failing calls, and with failure handlers that often have results."""
    kinds = [kind for kind in _HANDLED if kind != "never" or scenario.timeout is not None]
    # A call that completes its record and then raises fails at once: no attempt follows.
    throws = _RARELY if scenario.form == "callback" and scenario.retry is None else [False]
    plans = tuple(_spared_plan(chance, plan, kinds, throws) for plan in scenario.plans)
    handled = scenario.handled and chance.choice([True, True, False])
    return replace(scenario, failures_handled=True, handled=handled, plans=plans)


def _spared_plan(chance: Chance, plan: Plan, kinds: Sequence[str], throws: Sequence[bool]) -> Plan:
    steps = tuple(_step(chance, step, kinds, throws) for step in plan.steps)
    results = tuple(f"{plan.value}-{part}?" for part in range(chance.choice(_COUNTS)))
    match chance.choice(_DOES):
        case "raise":
            failure = Handler("raise", error=chance.choice(["ValueError", ""]))
        case "misreturn":
            failure = Handler("misreturn", error=chance.choice(_MISRETURNS))
        case "none":
            failure = Handler("none")
        case _:
            failure = Handler("reply", results)
    handler = chance.choice(_LATE) or plan.handler
    return replace(plan, steps=steps, handler=handler, failure=failure)


def _step(chance: Chance, step: Step, kinds: Sequence[str], throws: Sequence[bool]) -> Step:
    """Return the step, or a failing step instead; a step that throws keeps its results."""
    match chance.choice(kinds):
        case "raise":
            at_once = step.after == 0 and not step.thread and chance.choice(throws)
            error = chance.choice(_UNHANDLED)
            return replace(step, does="raise", error=error, swallow=False, throws=at_once)
        case "misreturn":
            error = chance.choice(_MISRETURNS)
            return replace(step, does="misreturn", error=error, swallow=False, throws=False)
        case "never":
            return Step("never", clean_up=step.clean_up)
        case _:
            return step


KEYS: tuple[tuple[Any, ...], ...] = (
    ("x",),
    ("x", "x", "y"),
    ("x", "y", "z", "y"),
    (1, 1.0, True, 2, "1"),
    (None, "x", None, ""),
    (["x", 1], ["x", 1.0], {"id": 1}, 7),
)
"""Sets of keys, the simplest first; a scenario draws one set, and each record a key of it."""

_MODES: Sequence[Any] = ["key-ordered"] * 5 + ["ordered", "unordered"]
_NEXT: Sequence[Any] = [None, None, "key-ordered", "ordered", "unordered"]


def with_keys(chance: Chance, scenario: Scenario) -> Scenario:
    """Return `scenario` with new keys, in key-ordered mode at once or after a crash."""
    keys = chance.choice(KEYS)
    crashes = tuple(replace(crash, mode=chance.choice(_NEXT)) for crash in scenario.crashes)
    mode = chance.choice(_MODES) if crashes else "key-ordered"
    restore = scenario.restore
    if restore is not None:
        stored: Any = tuple(_keyed(chance, element, keys) for element in restore.in_flight)
        restore = Snapshot(restore.checkpoint_id, stored)
    inputs = tuple(
        replace(timed, element=_keyed(chance, timed.element, keys)) for timed in scenario.inputs
    )
    return replace(scenario, mode=mode, inputs=inputs, restore=restore, crashes=crashes)


def _keyed(chance: Chance, element: Element, keys: Sequence[Any]) -> Element:
    return replace(element, key=chance.choice(keys)) if isinstance(element, Record) else element


_READINGS = (3, 4, 5, 6)
_TICKS = range(16)
_OFF = TICK // 2
"""Milliseconds between a tick and a reading of figures: no other event happens at a reading."""

_ROOMS = (1, 2, 3, 1, 2, 6)


def with_figures(chance: Chance, scenario: Scenario) -> Scenario:
    """Return `scenario` with a few readings of the statistics."""
    drawn = {chance.choice(_TICKS) * TICK + _OFF for _ in range(chance.choice(_READINGS))}
    return replace(scenario, figures_at=tuple(sorted(drawn)))


def with_copies(_: Chance, scenario: Scenario) -> Scenario:
    """Return `scenario` with copies."""
    return replace(scenario, copies=True)


def maybe(rng: Random, chance: float) -> bool:
    """Return True with the probability `chance`."""
    return rng.random() < chance


def batch_of(rng: Random, base: Scenario) -> PlannedBatch:
    """Return the configuration of batches that fits the capacity and the retries of `base`."""
    return PlannedBatch(
        max_size=rng.randint(1, min(4, base.capacity)),
        max_wait=rng.choice([0, 1, 1, 2, 5, 100]) * GRID,
        in_flight=rng.choice([1, 2, 2, 8]),
        split=base.retry is not None and maybe(rng, 0.6) and base.retry.max_attempts > 1,
        answers=rng.choice(["list", "mapping"]),
    )


def with_batches(rng: Random, scenario: Scenario) -> Scenario:
    """Return `scenario` with batches, some of which fail or answer as a whole."""
    plans = tuple(_shared(rng, plan) for plan in scenario.plans)
    return replace(scenario, plans=plans, batch=batch_of(rng, scenario))


def _shared(rng: Random, plan: Plan) -> Plan:
    shares = {"raise": 0.4, "reply": 0.1}
    wholes = [maybe(rng, shares.get(step.does, 0.15)) for step in plan.steps]
    steps = tuple(
        replace(step, whole=whole) for step, whole in zip(plan.steps, wholes, strict=True)
    )
    return replace(plan, steps=steps)


def cache_of(rng: Random, values: int) -> PlannedCache:
    """Return a cache for `values` keys; its entries expire half a step after all calls."""
    refresh_ahead = rng.choice([None, None, None, 30, 50])
    stale_if_error = rng.choice([None, None, 2 * GRID, 20 * GRID])
    is_bounded = refresh_ahead is None and stale_if_error is None
    return PlannedCache(
        max_keys=rng.choice([1, 2, values]) if is_bounded else values,
        ttl=rng.choice([1, 2, 4, 10, 30]) * GRID + GRID // 2,
        missing_ttl=rng.choice([None, GRID + GRID // 2, 5 * GRID + GRID // 2]),
        refresh_ahead=refresh_ahead,
        stale_if_error=stale_if_error,
    )


def with_limits(rng: Random, scenario: Scenario) -> Scenario:
    """Return `scenario` with one or two limits, and with costs of its values."""
    number = rng.choice([1, 1, 2])
    limits = tuple(_limit(rng, keyed=scenario.batch is None) for _ in range(number))
    plans = tuple(_costing(rng, plan, limits) for plan in scenario.plans)
    return replace(scenario, plans=plans, limits=limits)


def _limit(rng: Random, *, keyed: bool) -> PlannedLimit:
    """Return a limit; its window ends half a step after other events, so no events coincide."""
    if maybe(rng, 0.15):
        return PlannedLimit("breaker", rng.choice([1, 2]), 4 * GRID, rest=3 * GRID + GRID // 2)
    costs = maybe(rng, 0.4)
    most = rng.choice([3, 4, 6]) if costs else rng.choice([1, 2, 2, 3])
    by = keyed and maybe(rng, 0.25)
    wait = rng.choice([None] * 5 + [3 * GRID + GRID // 4])
    if maybe(rng, 0.4):
        return PlannedLimit("in-flight", most, costs=costs, by=by, max_wait=wait)
    burst = most - 1 if not costs and most > 1 and maybe(rng, 0.3) else None
    per, latency = rng.choice([2, 3, 5]) * GRID + GRID // 2, rng.choice([0, 0, GRID])
    window = PlannedLimit("window", most, per, costs=costs, by=by, burst=burst, latency=latency)
    return replace(window, max_wait=wait)


def _costing(rng: Random, plan: Plan, limits: Sequence[PlannedLimit]) -> Plan:
    most = min((limit.most for limit in limits if limit.costs), default=1)
    handler = Handler("raise", error="ValueError") if maybe(rng, 0.1) else plan.handler
    cost, group = rng.randint(0, most), rng.choice(["g", "g", "h"])
    if maybe(rng, 0.2):
        cost = most + 1
    return replace(plan, cost=cost, group=group, handler=handler)


QUICK, FULL = 700, 10_000
"""Numbers of scenarios that a quick and a full run generate."""


class Layer(NamedTuple):
    """Change that some random scenarios get."""

    share: float
    """Share of the drawn scenarios; scenarios in which rare pairs meet get it more often."""

    put_on: Callable[[Chance, Scenario], Scenario]
    fails: bool = False
    """Whether the layer makes calls fail: it skips scenarios in which calls fail already."""


def _with(name: str) -> Callable[[Chance, Scenario], Scenario]:
    return lambda _, scenario: replace(scenario, **{name: True})


LAYERS: Mapping[str, Layer] = {
    "retries": Layer(0.35, with_retries, fails=True),
    "failure handlers": Layer(0.2, with_failure_handlers, fails=True),
    "room": Layer(0.1, lambda chance, scenario: replace(scenario, max_held=chance.choice(_ROOMS))),
    "keys": Layer(0.18, with_keys),
    "figures": Layer(0.1, with_figures),
    "copies": Layer(0.15, with_copies),
    "contexts": Layer(0.3, _with("contexts")),
    "unshielded": Layer(0.3, _with("unshielded")),
}
"""Layers in the order of their use: failures follow retries, and copies follow failures."""

_TRAITS: Mapping[str, Callable[[Scenario], object]] = {
    "ordered": lambda base: base.mode == "ordered",
    "unordered": lambda base: base.mode == "unordered",
    "callbacks": lambda base: base.form == "callback",
    "timeout handler": lambda base: base.timeout and base.handled,
    "restore": lambda base: base.crashes or base.restore,
    "snapshots": lambda base: base.requests or _has(base, Barrier, Snapshot),
    "fences": lambda base: _has(base, Watermark),
    "pauses": lambda base: _does(base, "pause"),
    "leaves": lambda base: base.cancel_at is not None or _does(base, "give_up", "leave", "raise"),
}
"""Traits of a scenario that each layer shall meet, too."""

_SETS = 3
"""Number of sets of layers drawn for a scenario; the set whose pairs occurred least is used."""

_RARE = 1_000_000
"""Weight of a pair that has never met; n earlier meetings divide it by n + 1."""


def generate(count: int, seed: int) -> tuple[Scenario, ...]:
    """Return the first `count` scenarios of `seed`, all different."""
    return tuple(islice(_different(seed), count))


def _different(seed: int) -> Iterator[Scenario]:
    chance, of_layers = Random(seed), Random(f"layers {seed}")
    chances = {name: Random(f"{name} {seed}") for name in LAYERS}
    met: Counter[tuple[str, str]] = Counter()
    found: set[bytes] = set()
    while True:
        drawn = scenario(chance)
        for name in _chosen(of_layers, drawn, met):
            drawn = LAYERS[name].put_on(chances[name], drawn)
        drawn = apart(drawn)
        if (key := key_of(drawn)) not in found:
            found.add(key)
            yield drawn


def _chosen(chance: Random, base: Scenario, met: Counter[tuple[str, str]]) -> Sequence[str]:
    """Return the layers for `base`, and count their pairs in `met`.

    Weights are whole numbers, so that their sum is the same in every Python.
    """
    traits = [name for name, is_there in _TRAITS.items() if is_there(base)]
    has_failed = has_failing_calls(base)
    fitting = [each for each in LAYERS.items() if not (has_failed and each[1].fails)]
    sets = [
        [name for name, layer in fitting if chance.random() < layer.share] for _ in range(_SETS)
    ]
    best = max(sets, key=lambda names: sum(_RARE // (1 + met[p]) for p in _pairs(names, traits)))
    met.update(_pairs(best, traits))
    return best


def _pairs(layers: Sequence[str], traits: Sequence[str]) -> Iterator[tuple[str, str]]:
    return chain(combinations(layers, 2), product(layers, traits))


def _does(scenario: Scenario, *whats: str) -> bool:
    return any(step.does in whats for step in scenario.sink)


def _has(scenario: Scenario, *kinds: type[Element]) -> bool:
    return any(isinstance(timed.element, kinds) for timed in scenario.inputs)
