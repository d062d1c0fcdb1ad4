"""What random scenarios look like.

All times are multiples of one tick, so that two instants are equal on purpose or a tick apart, and
the same scenarios can be played on a real clock.
"""

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from hypothesis import strategies as st
from msgspec.structs import replace

from asyncwait.spec import (
    Barrier,
    Element,
    LatencyMarker,
    Record,
    Snapshot,
    Stored,
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
)

T = TypeVar("T")
Draw: TypeAlias = Callable[[st.SearchStrategy[Any]], Any]

TICK = GRID
"""Milliseconds between two different instants."""

VALUES: tuple[Any, ...] = ("a", "b", "c", 1, "d")
"""Few, so that equal payloads are common."""

ODD_VALUES: tuple[Any, ...] = (True, ["x"], {"k": 1}, None, "", 0, 1.0)
"""Equal across types, falsy, unhashable: what an opaque value may be, too."""

_KINDS = st.sampled_from(
    ["record"] * 14 + ["watermark"] * 3 + ["barrier"] * 2 + ["status", "marker"]
)
_LEAST = st.sampled_from([1, 0, 1, 2, 3, 4, 4, 6, 6])
"""So many inputs or more; hypothesis alone likes lists short."""
_GAPS = st.sampled_from([0, 0, 0, 0, 0, 1, 1, 2, 4])
_AT_ONCE = st.sampled_from([0] * 9 + [1, 2, 4])
_DURATIONS = st.sampled_from([0, 1, 1, 2, 2, 3, 3, 5, 8])
_COUNTS = st.sampled_from([1, 1, 1, 1, 0, 2, 3])
_RARELY = st.sampled_from([False, False, False, False, False, True])
_SOMETIMES = st.sampled_from([False, False, True])
_ERRORS = st.sampled_from(
    ["ValueError", "StopIteration", "StopAsyncIteration", "CancelledError", "Unpicklable"]
)
_MISRETURNS = st.sampled_from(["none", "text", "bytes", "number", "broken", "broken", "broken"])
_FOR_THE_PROGRAM = st.sampled_from(["KeyboardInterrupt", "SystemExit"])
_BLOCKS = st.sampled_from([0] * 20 + [TICK, 2 * TICK])
_CONSUMERS = ["read", "pause", "give_up", "give_up", "read", "pause", "block", "intrude"]
_FLAVOURS = st.sampled_from(
    ["calm", "crash", "crash", "crash", "failing", "failing", "failing", "leaving", "abandoning"]
)
_HARDLY_EVER = st.sampled_from([False] * 15 + [True])
_KEYS = st.sampled_from(["k0", "k1", "k2", "k1", "k2", "", 7, None])
_EPOCHS = st.sampled_from([0] * 6 + [-(2**62), 2**41])
"""What event time begins with, in ms."""
_STAMPS = st.sampled_from([None, 0, 1, 1, 2])
_TICKS = st.integers(0, 12)
_CAPACITY = st.sampled_from([1, 2, 2, 3, 3, 4, 6])
_CAPACITIES = {
    "abandoning": st.sampled_from([1, 1, 2]),
    "failing": st.sampled_from([3, 1, 2, 3, 4, 4, 6, 6]),
}


@st.composite
def scenarios(draw: Draw) -> Scenario:
    """Scenarios of every kind: calm, failing, crashing, left early, full of abandoned calls."""
    flavour = draw(_FLAVOURS)
    timeouts = [1, 2] if flavour == "abandoning" else [None, None, 2, 3, 5]
    timeout = draw(st.sampled_from(timeouts))
    handled = timeout is not None and (flavour != "failing" or draw(_SOMETIMES))
    # What comes in at once runs at once, and then several calls can fail.
    inputs = draw(_inputs(_AT_ONCE if flavour == "failing" else _GAPS))
    restore = draw(_restores()) if draw(_RARELY) else None
    # Drawn whether they are used or not: what is drawn later must not move when inputs go.
    drawn = [
        draw(_plans(value, flavour, endless=handled or flavour == "leaving"))
        for value in VALUES[: draw(st.integers(1, len(VALUES)))]
    ]
    used = _values(inputs, restore)
    plans = tuple(plan for plan in drawn if identity(plan.value) in used)
    if not handled and flavour != "failing":
        timeout = None  # Without a handler a deadline is a failure, which calm ones are spared.
    plain = Scenario(
        mode=draw(st.sampled_from(["unordered", "ordered"])),
        capacity=draw(_CAPACITIES.get(flavour, _CAPACITY)),
        timeout=None if timeout is None else timeout * TICK,
        inputs=inputs,
        plans=plans,
        handled=handled,
        form=draw(st.sampled_from(["coroutine", "coroutine", "callback"])),
        hooks=draw(st.sampled_from(["none", "none", "none", "plain", "coroutine"])),
        source_ends_at=draw(_TICKS) * TICK if draw(_RARELY) else 0,
        source_error="own" if flavour == "failing" and draw(st.booleans()) else "",
        sink=draw(_sinks(flavour)) if flavour != "crash" else (),
        cancel_at=draw(_TICKS) * TICK if flavour == "leaving" else None,
        requests=draw(_requests()),
        crashes=draw(_crashes()) if flavour == "crash" else (),
        restore=restore,
    )
    dressed: Scenario = draw(_unusual(flavour, plain))
    return dressed


@st.composite
def _unusual(draw: Draw, flavour: str, scenario: Scenario) -> Scenario:
    """Dress a scenario up, now and then: what surrounds an operator is not always plain."""
    failing, coroutine = flavour == "failing", scenario.hooks == "coroutine"
    changes: dict[str, Any] = {
        "function": draw(st.sampled_from(["function"] * 6 + ["partial", "object", "awaitable"])),
        "source": draw(st.sampled_from(["iterator"] * 6 + ["iterable", "generator", "scope"])),
        "hook_takes": draw(st.sampled_from([0, 0, 1, 2])) * TICK if coroutine else 0,
        "close_takes": draw(st.sampled_from([0] * 7 + [1, 2])) * TICK,
        "close_error": failing and draw(_HARDLY_EVER),
        "tracked": draw(_RARELY),
    }
    if failing and scenario.hooks != "none":
        changes["hook_error"] = draw(st.sampled_from(["", "", "", "", "close", "open"]))
    if scenario.source_error:
        changes["source_error"] = draw(st.sampled_from(["own", "own", "contract", "cancelled"]))
    if draw(_RARELY):
        # An operator before this one would make Snapshots of barriers.
        barriers = any(isinstance(t.element, Barrier | Snapshot) for t in scenario.inputs)
        changes["company"] = draw(
            st.sampled_from(["beside", "inside", "beside" if barriers else "before"])
        )
    return replace(scenario, **changes)


def _values(inputs: tuple[Timed, ...], restore: Snapshot | None) -> set[str]:
    """Return the identities of what is called: only these values are worth a plan."""
    elements = [timed.element for timed in inputs] + list(restore.in_flight if restore else ())
    return {identity(element.value) for element in elements if isinstance(element, Record)}


@st.composite
def _inputs(draw: Draw, gaps: st.SearchStrategy[int]) -> tuple[Timed, ...]:
    inputs: list[Timed] = []
    at, stamp = 0, draw(_EPOCHS)
    values = st.sampled_from(VALUES + ODD_VALUES if draw(_RARELY) else VALUES)
    element = st.tuples(_KINDS, gaps, values, _STAMPS)
    for kind, gap, value, step in draw(st.lists(element, min_size=draw(_LEAST), max_size=14)):
        at += gap * TICK
        stamp += step or 0
        key = None if step is None else draw(_KEYS)
        blocks = draw(st.sampled_from([1, 2])) * TICK if draw(_HARDLY_EVER) else 0
        record = Record(value, None if step is None else stamp, key)
        inputs.append(Timed(at, _element(kind, record, stamp, step, len(inputs)), blocks))
    return tuple(inputs)


def _element(kind: str, record: Record, stamp: int, step: int | None, number: int) -> Element:
    match kind:
        case "watermark":
            return Watermark(stamp)
        case "barrier":
            if step == 0:
                return Snapshot(number, (Record("upstream", stamp),))
            return Barrier(number)
        case "status":
            return WatermarkStatus(idle=step is None)
        case "marker":
            return LatencyMarker(number)
        case _:
            return record


@st.composite
def _plans(draw: Draw, value: Any, flavour: str, *, endless: bool) -> Plan:
    steps = tuple(
        draw(_steps(f"{value}{number}", flavour, endless=endless))
        for number in range(draw(st.sampled_from([1, 1, 1, 2, 3])))
    )
    fallback = tuple(f"{value}?{part}" for part in range(draw(_COUNTS)))
    handler = Handler("reply", fallback, blocks=draw(_BLOCKS))
    if flavour == "failing" and draw(_SOMETIMES):
        handler = draw(
            st.sampled_from(
                [
                    Handler("none"),
                    Handler("raise", error="ValueError"),
                    Handler("raise", error=draw(_FOR_THE_PROGRAM)),
                    Handler("misreturn", error="text"),
                ]
            )
        )
    return Plan(value, steps, handler)


@st.composite
def _steps(draw: Draw, name: str, flavour: str, *, endless: bool) -> Step:
    after = draw(_DURATIONS) * TICK
    results = tuple(f"{name}.{part}" for part in range(draw(_COUNTS)))
    if flavour == "abandoning" and not draw(_SOMETIMES):
        return Step("reply", after + 3 * TICK, results, clean_up=draw(st.integers(3, 9)) * TICK)
    blocks, supplied = draw(_BLOCKS), draw(_SOMETIMES)
    if flavour == "failing" and draw(st.booleans()):
        if draw(_RARELY):
            return Step("raise", results=results, error="ValueError", throws=True)
        if draw(st.booleans()):
            error = draw(_FOR_THE_PROGRAM) if draw(_HARDLY_EVER) else draw(_ERRORS)
            return Step("raise", after, error=error, blocks=blocks, supplied=supplied)
        return Step("misreturn", after, error=draw(_MISRETURNS), supplied=supplied)
    if endless and draw(_RARELY):
        return Step("never", clean_up=draw(st.sampled_from([0, 0, 2])) * TICK)
    if draw(_RARELY):
        return Step("reply", after, results, thread=True, supplied=supplied)
    if draw(_RARELY):
        clean_up = draw(st.integers(1, 4)) * TICK
        return Step("reply", after, results, swallow=draw(st.booleans()), clean_up=clean_up)
    return Step("reply", after, results, twice=draw(_SOMETIMES), blocks=blocks, supplied=supplied)


@st.composite
def _sinks(draw: Draw, flavour: str) -> tuple[SinkStep, ...]:
    steps: list[SinkStep] = []
    if flavour == "failing" and not draw(_RARELY):
        # Long enough for a second failure behind the first.
        steps.append(SinkStep("pause", 12 * TICK))
    for does, n in draw(
        st.lists(
            st.tuples(st.sampled_from(_CONSUMERS), st.integers(1, 6)),
            max_size=5,
        )
    ):
        steps.append(SinkStep(does, n if does == "read" else 0 if does == "intrude" else n * TICK))
    if flavour == "leaving" and draw(st.booleans()):
        steps.append(SinkStep("leave"))
    return tuple(steps)


@st.composite
def _requests(draw: Draw) -> tuple[SnapshotRequest, ...]:
    if not draw(_SOMETIMES):
        return ()
    ticks = sorted(draw(st.lists(_TICKS, min_size=1, max_size=2)))
    return tuple(SnapshotRequest(tick * TICK, 100 + i) for i, tick in enumerate(ticks))


@st.composite
def _crashes(draw: Draw) -> tuple[Crash, ...]:
    return tuple(
        Crash(
            draw(st.integers(1, 10)) * TICK,
            draw(st.sampled_from([None, None, 1, 2, 5])),
            draw(st.sampled_from([None, None, None, "ordered", "unordered"])),
        )
        for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3])))
    )


@st.composite
def _restores(draw: Draw) -> Snapshot:
    stored: list[Stored] = []
    for number, value in enumerate(draw(st.lists(st.sampled_from(VALUES), max_size=5))):
        stored.append(Record(value, number))
        if draw(_RARELY):
            stored.append(Watermark(number))
    return Snapshot(99, tuple(stored))
