"""Random scenarios.

Times are drawn as multiples of one tick. `apart` then gives each kind of time an offset of its own,
so that no answer, limit or deadline of a record coincides with another by accident.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from msgspec.structs import replace

from asyncwait.spec import (
    Barrier,
    Element,
    LatencyMarker,
    Record,
    Snapshot,
    Watermark,
    WatermarkStatus,
)
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

T = TypeVar("T")


class Chance(Protocol):
    """Source of random decisions: `random.Random`, or a test tool that shrinks."""

    def choice(self, options: Sequence[T], /) -> T:
        """Return one of `options`, all with the same probability."""
        ...

    def randint(self, least: int, most: int, /) -> int:
        """Return a number from `least` to `most`, both included."""
        ...


TICK = GRID
"""Milliseconds between two drawn times, before `apart` adds offsets."""

_OFFSETS = {
    "Scenario.timeout": 6,
    "PlannedRetry.attempt_timeout": 9,
    "PlannedRetry.initial": 7,
    "PlannedRetry.cap": 8,
    "Step.retry_after": 10,
    "Step.clean_up": 11,
    "Step.again": 12,
    "SinkStep.n": 13,
    "SnapshotRequest.at": 14,
    "Scenario.cancel_at": 15,
    "Crash.at": 16,
    "Scenario.source_ends_at": 17,
}
"""Milliseconds between a tick and each kind of time; inputs come on ticks.

These are the smallest different offsets: only many attempts add up to another offset.
"""

_OF_CALLS = 5
"""Largest offset of a call's duration, in ms; values differ in this offset."""


def apart(scenario: Scenario) -> Scenario:
    """Return a scenario in which each kind of time has its own offset to the ticks."""

    def offset(own: int) -> Callable[[str, int], int]:
        def move(kind: str, ms: int) -> int:
            by = own if kind == "Step.after" else _OFFSETS.get(kind, 0)
            return ms + by if ms and ms % TICK == 0 else ms

        return move

    plans = tuple(
        with_times(plan, offset(1 + number % _OF_CALLS))
        for number, plan in enumerate(scenario.plans)
    )
    return with_times(replace(scenario, plans=plans), offset(0))


VALUES: tuple[Any, ...] = ("a", "b", "c", 1, "d")
"""A few values, so that equal payloads are common."""

ODD_VALUES: tuple[Any, ...] = (True, ["x"], {"k": 1}, None, "", 0, 1.0)
"""Values that are equal across types, falsy or unhashable: opaque values may be all of these."""

_KINDS = ["record"] * 14 + ["watermark"] * 3 + ["barrier"] * 2 + ["status", "marker"] * 3
_RECORD = ["record"]
_SIZES = [0, 1, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9, 11, 12, 14]
_GAPS = [0, 0, 0, 0, 0, 1, 1, 2, 4]
_AT_ONCE = [0] * 9 + [1, 2, 4]
_DURATIONS = [0, 1, 1, 2, 2, 3, 3, 5, 8]
_COUNTS = [1, 1, 1, 1, 0, 2, 3] * 3 + [20]
_MANY = [0, 2, 3, 3, 3]
_HARDLY_EVER = [False] * 15 + [True]
_RARELY = [False] * 5 + [True]
_SOMETIMES = [False, False, True]
_EITHER = [False, True]
_ERRORS = ["ValueError", "StopIteration", "StopAsyncIteration", "CancelledError", "Unpicklable"]
_MISRETURNS = ["none", "none", "text", "bytes", "number", "broken", "broken", "broken"]
_FOR_THE_PROGRAM = ["KeyboardInterrupt", "SystemExit"]
_CONSUMERS: list[Any] = ["read", "pause", "give_up", "give_up", "read", "pause"]
_FLAVOURS = ["crash", "failing"] * 4 + ["abandoning", "leaving", "calm"] * 2
_KEYS = ["k0", "k1", "k2", "k1", "k2", "", 7, None, ["k"]]
_EPOCHS = [0] * 6 + [-(2**62), 2**41]
"""First timestamps of event time, in ms."""
_STAMPS = [None, 0, 1, 1, 2]
_TICKS = range(13)
_CAPACITY = [1, 2, 2, 3, 3, 4, 6] * 3 + [12]
_CAPACITIES = {"abandoning": [1, 1, 2], "failing": [3, 1, 2, 3, 4, 4, 6, 6]}


def scenario(chance: Chance) -> Scenario:
    """Return a scenario of any kind: calm, failing, crashing, left, full of abandoned calls."""
    flavour = chance.choice(_FLAVOURS)
    timeouts: list[int | None] = [1, 2] if flavour == "abandoning" else [None, None, 2, 3, 5]
    timeout = chance.choice(timeouts)
    handled = timeout is not None and (flavour != "failing" or chance.choice(_EITHER))
    # A consumer may stop in the middle of a record's results.
    stops = flavour != "crash" and chance.choice(_RARELY)
    # Elements that come at once are called at once, so that several calls can fail.
    gaps = _AT_ONCE if flavour == "failing" else _GAPS
    inputs = _inputs(chance, gaps, _RECORD if stops else _KINDS)
    restore = _restore(chance) if not stops and chance.choice(_RARELY) else None
    # All plans are drawn, used or not: later draws must not change when inputs are removed.
    made = [
        _plan(
            chance,
            value,
            flavour,
            counts=_MANY if stops else _COUNTS,
            endless=handled or flavour == "leaving",
        )
        for value in VALUES[: len(VALUES) if stops else chance.randint(1, len(VALUES))]
    ]
    used = _values(inputs, restore)
    plans = tuple(plan for plan in made if identity(plan.value) in used)
    if not handled and flavour != "failing":
        timeout = None  # Without a handler a deadline is a failure.
    plain = Scenario(
        mode=chance.choice(["unordered", "ordered"]),
        capacity=chance.choice(_CAPACITIES.get(flavour, _CAPACITY)),
        timeout=None if timeout is None else timeout * TICK,
        inputs=inputs,
        plans=plans,
        handled=handled,
        form=chance.choice(["coroutine", "coroutine", "callback"]),
        hooks=chance.choice(["none", "none", "none", "plain", "coroutine"]),
        source_ends_at=chance.choice(_TICKS) * TICK if chance.choice(_RARELY) else 0,
        source_error="own" if flavour == "failing" and chance.choice(_SOMETIMES) else "",
        sink=_sink(chance, flavour, stops=stops) if flavour != "crash" else (),
        cancel_at=chance.choice(_TICKS) * TICK if flavour == "leaving" else None,
        requests=_requests(chance),
        crashes=_crashes(chance) if flavour == "crash" else (),
        restore=restore,
    )
    return _dressed(chance, flavour, plain)


def _dressed(chance: Chance, flavour: str, scenario: Scenario) -> Scenario:
    """Return `scenario` with rare variants of its function, source, hooks and consumer."""
    failing, coroutine = flavour == "failing", scenario.hooks == "coroutine"
    changes: dict[str, Any] = {
        "function": chance.choice(["function"] * 6 + ["partial", "object", "awaitable"]),
        "source": chance.choice(["iterator"] * 6 + ["iterable", "generator"]),
        "hook_takes": chance.choice([0, 0, 1, 2]) * TICK if coroutine else 0,
        "close_takes": chance.choice([0] * 7 + [1, 2]) * TICK,
        "close_error": failing and chance.choice(_HARDLY_EVER),
        "tracked": chance.choice(_RARELY),
    }
    if failing and scenario.hooks != "none":
        changes["hook_error"] = chance.choice(["", "", "", "", "close", "open"])
    if scenario.source_error:
        changes["source_error"] = chance.choice(["own", "own", "contract", "cancelled"])
    gives_up = any(step.does == "give_up" for step in scenario.sink)
    if gives_up or scenario.crashes or scenario.cancel_at is not None:
        changes["cancel"] = chance.choice(["once", "once", "scope"])
    return replace(scenario, **changes)


def _values(inputs: tuple[Timed, ...], restore: Snapshot | None) -> set[str]:
    """Return the identities of the called values: other values need no plan."""
    elements = [timed.element for timed in inputs] + list(restore.in_flight if restore else ())
    return {identity(element.value) for element in elements if isinstance(element, Record)}


def _inputs(chance: Chance, gaps: Sequence[int], first: Sequence[str]) -> tuple[Timed, ...]:
    inputs: list[Timed] = []
    at, stamp = 0, chance.choice(_EPOCHS)
    values = VALUES + ODD_VALUES if chance.choice(_RARELY) else VALUES
    for number in range(chance.choice(_SIZES)):
        at += chance.choice(gaps) * TICK
        step = chance.choice(_STAMPS)
        stamp += step or 0
        kind, value = chance.choice(_KINDS if number else first), chance.choice(values)
        key = None if step is None else chance.choice(_KEYS)
        record = Record(value, None if step is None else stamp, key)
        inputs.append(Timed(at, _element(kind, record, stamp, step, number)))
    return tuple(inputs)


def _element(kind: str, record: Record, stamp: int, step: int | None, number: int) -> Element:
    match kind:
        case "watermark":
            return Watermark(stamp)
        case "barrier":
            if step == 0:
                upstream = Snapshot(number, (Record("source", stamp),)) if number % 2 else None
                return Snapshot(number, (Record("upstream", stamp),), upstream=upstream)
            return Barrier(number)
        case "status":
            return WatermarkStatus(idle=number % 2 == 0)
        case "marker":
            return LatencyMarker(number // 3)
        case _:
            return record


def _plan(
    chance: Chance, value: Any, flavour: str, *, counts: Sequence[int], endless: bool
) -> Plan:
    steps = tuple(
        _step(chance, f"{value}{number}", flavour, counts=counts, endless=endless)
        for number in range(chance.choice([1, 1, 1, 2, 3]))
    )
    fallback = tuple(f"{value}?{part}" for part in range(chance.choice(_COUNTS)))
    handler = Handler("reply", fallback)
    if flavour == "failing" and chance.choice(_EITHER):
        handler = chance.choice(
            [
                Handler("none"),
                Handler("none"),
                Handler("raise", error="ValueError"),
                Handler("raise", error=chance.choice(_FOR_THE_PROGRAM)),
                Handler("misreturn", error="text"),
            ]
        )
    return Plan(value, steps, handler)


def _step(chance: Chance, name: str, flavour: str, *, counts: Sequence[int], endless: bool) -> Step:
    after = chance.choice(_DURATIONS) * TICK
    results = tuple(f"{name}.{part}" for part in range(chance.choice(counts)))
    if chance.choice(_HARDLY_EVER):
        results = (name,) * len(results)
    if flavour == "abandoning" and not chance.choice(_SOMETIMES):
        return Step("reply", after + 3 * TICK, results, clean_up=chance.randint(3, 9) * TICK)
    supplied = chance.choice(_SOMETIMES)
    if flavour == "failing" and chance.choice(_EITHER):
        if chance.choice(_RARELY):
            return Step("raise", results=results, error="ValueError", throws=True)
        if chance.choice(_EITHER):
            errors = _FOR_THE_PROGRAM if chance.choice(_SOMETIMES) else _ERRORS
            error = chance.choice(errors)
            return Step("raise", after, error=error, supplied=supplied)
        return Step("misreturn", after, error=chance.choice(_MISRETURNS), supplied=supplied)
    if endless and chance.choice(_RARELY):
        return Step("never", clean_up=chance.choice([0, 0, 2]) * TICK)
    if chance.choice(_RARELY):
        return Step("reply", after, results, thread=True, supplied=supplied)
    if chance.choice(_RARELY):
        clean_up, swallow = chance.randint(1, 4) * TICK, chance.choice(_EITHER)
        return Step("reply", after, results, swallow=swallow, clean_up=clean_up)
    twice = chance.choice(_SOMETIMES)
    return Step("reply", after, results, twice=twice, supplied=supplied)


def _sink(chance: Chance, flavour: str, *, stops: bool) -> tuple[SinkStep, ...]:
    steps: list[SinkStep] = []
    if stops:
        steps += (SinkStep("read", chance.choice([1, 1, 2])), SinkStep("pause", 12 * TICK))
    elif flavour == "failing" and not chance.choice(_SOMETIMES):
        # The pause is long enough for a second failure after the first.
        steps.append(SinkStep("pause", 12 * TICK))
    for _ in range(chance.choice([0, 0, 1, 2, 3, 5])):
        does, n = chance.choice(_CONSUMERS), chance.randint(1, 6)
        steps.append(SinkStep(does, n if does == "read" else n * TICK))
    if flavour == "leaving" and chance.choice(_EITHER):
        steps.append(SinkStep(chance.choice(["leave", "raise"])))
    return tuple(steps)


def _requests(chance: Chance) -> tuple[SnapshotRequest, ...]:
    if not chance.choice(_SOMETIMES):
        return ()
    ticks = sorted(chance.choice(_TICKS) for _ in range(chance.choice([1, 1, 2, 2, 4])))
    step = chance.choice([1, -1])
    return tuple(SnapshotRequest(tick * TICK, 100 + step * i) for i, tick in enumerate(ticks))


def _crashes(chance: Chance) -> tuple[Crash, ...]:
    return tuple(
        Crash(
            chance.randint(1, 10) * TICK,
            chance.choice([None, None, 1, 2, 5]),
            chance.choice([None, None, None, "ordered", "unordered"]),
        )
        for _ in range(chance.choice([1, 1, 1, 2, 3]))
    )


def _restore(chance: Chance) -> Snapshot:
    stored: list[Stored] = []
    for number in range(chance.randint(0, 5)):
        stored.append(Record(chance.choice(VALUES), number // 2))
        if chance.choice(_RARELY):
            fences: list[Stored] = [Watermark(number), WatermarkStatus(idle=True)]
            stored.append(chance.choice(fences))
    return Snapshot(99, tuple(stored))
