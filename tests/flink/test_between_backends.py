"""A snapshot of Flink's operator restores in any other backend, and theirs in Flink's.

The scenarios are generated ones in which Flink by itself keeps every rule, so a violation is one of
the exchange.

Scenarios lack, because of Flink's departures:

- statuses: they overtake (LM-2), and what is stored behind one is restored as input (RS-6);
- calls that give None, calls in callback form that raise, and handlers that give no results (CO-7,
  CO-8, FA-1, TO-9, TO-10);
- retries with deadlines or in callback form, back-offs that grow, predicates that raise, and an end
  of the input while there is something to repeat (RT-5, RT-10, RT-14 to RT-18, EI-4, EI-5);
- what blocks the loop until a deadline has passed (TO-6);
- lists of results that their user changes once the call has returned (EL-6);
- answers in callback form for an operator that is being left, which takes no time here (CO-15).

Flink's snapshots of unordered mode have an order of their own within a segment (SN-3): whether they
are in input order is not judged in that mode.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice

import pytest
from between_backends import (
    IN_PROCESS,
    PlayLeg,
    handed_over,
    hands_over,
    leg_player,
    play_between,
    played_by,
    remembered,
    violations,
)
from msgspec.structs import replace

from asyncwait.backends.flink.conformance import backend
from asyncwait.conformance.generation import TICK, generate
from asyncwait.conformance.running import adapted
from asyncwait.spec import Barrier, Element, Watermark, WatermarkStatus
from asyncwait.spec.scenario import Capability, Leg, Plan, Scenario, Timed, Trace

FLINK = "flink"
SNAPSHOTS = 200
# A few more: where things happen in one instant, another backend may have less in flight.
SCENARIOS = 210
GENERATED = 4_000
OF_A_KIND = 20

Player = Callable[[str], PlayLeg]

both_ways = pytest.mark.parametrize(
    ("first", "other"),
    [pair for name in IN_PROCESS for pair in ((FLINK, name), (name, FLINK))],
)


@pytest.fixture(scope="module")
def player(flink: None) -> Player:
    on_flink = remembered(played_by(backend()))
    return lambda name: on_flink if name == FLINK else leg_player(name)


@pytest.fixture(scope="module")
def crashing(player: Player) -> list[Scenario]:
    generated = kept_by_flink(generate(GENERATED, 0), backend().capabilities)
    # The reference is the quicker one to say of most that there is not.
    likely = (each for each in generated if hands_over(player("reference-asyncio"), each))
    return list(islice((each for each in likely if hands_over(player(FLINK), each)), SCENARIOS))


def play_all(player: Player, first: str, other: str, scenarios: list[Scenario]) -> list[Trace]:
    return [play_between(player(first), player(other), each) for each in scenarios]


def test_flink_by_itself_keeps_every_rule(player: Player, crashing: list[Scenario]) -> None:
    traces = play_all(player, FLINK, FLINK, crashing)
    assert handed_over(traces) >= SNAPSHOTS
    assert wrongs(crashing, traces, backend().capabilities) == [[] for _ in crashing]


@pytest.mark.sampled(3)
@both_ways
def test_a_snapshot_of_one_backend_restores_in_the_other(
    player: Player, crashing: list[Scenario], first: str, other: str
) -> None:
    traces = play_all(player, first, other, crashing)
    assert handed_over(traces) >= SNAPSHOTS
    assert wrongs(crashing, traces, backend().capabilities) == [[] for _ in crashing]


KINDS: Mapping[str, Callable[[Scenario, Leg], bool]] = {
    "results in input order": lambda scenario, _: scenario.mode == "ordered",
    "results as they are ready": lambda scenario, _: scenario.mode == "unordered",
    "calls that are repeated": lambda scenario, _: scenario.retry is not None,
    "calls with a deadline": lambda scenario, _: scenario.timeout is not None,
    "calls in callback form": lambda scenario, _: scenario.form == "callback",
    "several elements": lambda _, leg: len(stored(leg)) > 1,
    "a watermark": lambda _, leg: any(isinstance(each, Watermark) for each in stored(leg)),
    "more than there is room for": lambda _, leg: len(stored(leg)) > leg.capacity,
    "another mode": lambda scenario, leg: leg.mode != scenario.mode,
    "another capacity": lambda scenario, leg: leg.capacity != scenario.capacity,
}


@pytest.mark.parametrize("kind", KINDS)
def test_snapshots_of_many_kinds_are_handed_over(
    player: Player, crashing: list[Scenario], kind: str
) -> None:
    traces = play_all(player, FLINK, FLINK, crashing)
    found = [KINDS[kind](*pair) for pair in zip(crashing, (t.legs[1] for t in traces), strict=True)]
    assert sum(found) >= OF_A_KIND


def stored(leg: Leg) -> tuple[Element, ...]:
    return () if leg.restored is None else leg.restored.in_flight


_BARRIER = 1_000
"""A checkpoint id that no generated scenario has."""

_LATE = 1_000 * TICK
"""Milliseconds; all calls and back-offs of a generated scenario are over by then."""


def kept_by_flink(scenarios: Iterable[Scenario], can: frozenset[Capability]) -> Iterator[Scenario]:
    for scenario in scenarios:
        if scenario.crashes:
            fitting = _calm(_with_barrier(_without_statuses(scenario)))
            fitting = adapted(fitting, can)
            if fitting.retry is not None:
                fitting = _steady(fitting, can)
            if not any(_departs(fitting, plan) for plan in fitting.plans):
                yield fitting


def wrongs(
    scenarios: Iterable[Scenario], traces: Iterable[Trace], can: frozenset[Capability]
) -> list[list[str]]:
    found = []
    for scenario, trace in zip(scenarios, traces, strict=True):
        unordered = (number for number, leg in enumerate(trace.legs) if leg.mode == "unordered")
        departs = tuple(f"SNAP-4, leg {number}," for number in unordered)
        wrong = violations(scenario, trace, can)
        found.append([each for each in wrong if not each.startswith(departs)])
    return found


def _without_statuses(scenario: Scenario) -> Scenario:
    inputs = tuple(t for t in scenario.inputs if not isinstance(t.element, WatermarkStatus))
    stored = () if scenario.restore is None else scenario.restore.in_flight
    kept = tuple(each for each in stored if not isinstance(each, WatermarkStatus))
    restore = None if scenario.restore is None else replace(scenario.restore, in_flight=kept)
    return replace(scenario, inputs=inputs, restore=restore)


def _with_barrier(scenario: Scenario) -> Scenario:
    at = max(0, scenario.crashes[0].at - TICK)
    before = sum(timed.at <= at for timed in scenario.inputs)
    barrier = Timed(at, Barrier(_BARRIER))
    inputs = (*scenario.inputs[:before], barrier, *scenario.inputs[before:])
    return replace(scenario, inputs=inputs)


def _calm(scenario: Scenario) -> Scenario:
    """Have nothing block the loop, leaving take no time, and no list change that was returned.

    Objects are not counted, either, which takes most of the time and says nothing of snapshots.
    """
    inputs = tuple(replace(timed, blocks=0) for timed in scenario.inputs)
    plans = tuple(replace(plan, handler=replace(plan.handler, blocks=0)) for plan in scenario.plans)
    calm = replace(scenario, inputs=inputs, plans=plans, tracked=False)
    return replace(calm, hook_takes=0, close_takes=0)


def _steady(scenario: Scenario, can: frozenset[Capability]) -> Scenario:
    fitting = adapted(scenario, can - {Capability.TIMEOUTS, Capability.CALLBACKS})
    retry = fitting.retry
    assert retry is not None
    on_error = "any" if retry.on_error == "breaks" else retry.on_error
    on_result = "never" if retry.on_result == "breaks" else retry.on_result
    steady = replace(retry, multiplier=1, on_error=on_error, on_result=on_result)
    return replace(fitting, retry=steady, source_ends_at=_LATE)


def _departs(scenario: Scenario, plan: Plan) -> bool:
    is_callback = scenario.form == "callback"
    return (
        (scenario.handled and plan.handler.does != "reply")
        or any(step.error == "none" for step in plan.steps)
        or (is_callback and any(step.does == "raise" for step in plan.steps))
    )
