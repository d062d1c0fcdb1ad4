"""A snapshot of Flink's operator restores in any other backend, and theirs in Flink's.

The scenarios are generated ones in which Flink by itself keeps every rule: `kept_by_flink` says
what is left out of them, and why. So what is found here is found in the exchange. All rules judge
that Flink is held to, but for one in unordered mode.
"""

from collections.abc import Callable, Mapping
from itertools import islice

import pytest
from between_backends import (
    IN_PROCESS,
    PlayLeg,
    handed_over,
    hands_over,
    leg_player,
    one_by_one,
    play_rounds,
    played_by,
    remembered,
)
from kept_by_flink import kept_by_flink, wrongs

from asyncwait.backends.flink.conformance import backend
from asyncwait.conformance.generation import generate
from asyncwait.spec import Element, Watermark
from asyncwait.spec.scenario import (
    Leg,
    Scenario,
    Trace,
)

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
    return play_rounds(one_by_one(player(first)), one_by_one(player(other)), scenarios)


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
