"""Runs on the real clock: what is late is played again, and what is always late is an error.

A virtual clock stands in for the real one, and is late where a test wants it to be.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
from msgspec.structs import replace

from asyncwait.conformance.evidence import scenario_of
from asyncwait.conformance.harness import (
    LONGEST,
    VirtualLoop,
    _player,
    in_real_time,
    play,
    play_in_real_time,
    run_virtual,
    short,
)
from asyncwait.conformance.harness._real_time import ROUNDS
from asyncwait.conformance.running import stream_backend
from asyncwait.reference import open_operator
from asyncwait.spec import OpenOperator, Record
from asyncwait.spec.scenario import (
    Capability,
    Crash,
    Ending,
    Leg,
    Plan,
    Scenario,
    SinkStep,
    SnapshotRequest,
    Step,
    Timed,
    Trace,
)

ONE = scenario_of("0: a; 80: b; a: 40 gives a1; b: 120 gives")


class Machine:
    """Plays nothing; a run of a scenario is late by the next number in its name, then the last."""

    def __init__(self) -> None:
        self.rounds: list[list[str]] = []
        self._runs: dict[str, int] = {}

    def __call__(self, scenarios: Sequence[Scenario]) -> Iterator[Trace]:
        self.rounds.append([scenario.name for scenario in scenarios])
        return map(self._trace, scenarios)

    def _trace(self, scenario: Scenario) -> Trace:
        name = scenario.name
        run = self._runs[name] = self._runs.get(name, 0) + 1
        runs = name.split()
        late = [float(each) for each in runs[min(run, len(runs)) - 1].split("+")]
        return Trace(tuple(Leg(Ending("finished", at=run), late_by=by) for by in late))


def played(*names: str) -> tuple[Machine, dict[str, Ending]]:
    """Play scenarios of these names; return the machine, and how each of them ended."""
    machine = Machine()
    scenarios = [Scenario(name=name) for name in names]
    traces = dict(in_real_time(scenarios, machine))
    return machine, {names[number]: traces[number].legs[0].ending for number in sorted(traces)}


def test_late_runs_are_repeated_together_and_more_often_each_time() -> None:
    """The first run in time counts, all legs of it; where all are late, there is no trace.

    Almost half a step is little enough to be in time.
    """
    machine, endings = played("17", "18 4", "22 3+90 6", "23 24 25 26 8", "27")

    late = ["18 4", "22 3+90 6", "23 24 25 26 8", "27"]
    assert machine.rounds == [
        ["17", *late],
        [name for name in late for _ in range(2)],
        [name for name in late[2:] for _ in range(4)],
        ["27"] * 8,
        *(["27"] * tries for tries in ROUNDS[4:]),
    ]
    assert [ending.at for ending in endings.values()] == [1, 2, 3, 5, 0]
    assert endings["27"] == Ending("error", detail=f"more than 17 ms late in {sum(ROUNDS)} runs")


@pytest.fixture
def real_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_player, "run_real", run_virtual)


def late_by(*lateness: int) -> OpenOperator:
    left = list(lateness)

    @asynccontextmanager
    async def opened(*arguments: Any) -> Any:
        async with open_operator(*arguments) as results:
            loop = asyncio.get_running_loop()
            assert isinstance(loop, VirtualLoop)
            await asyncio.sleep(0.01)  # Something is under way by then.
            loop.jump(left.pop(0) / 1000 if left else 0)
            yield results

    return opened


@pytest.mark.usefixtures("real_clock")
def test_a_stall_between_two_events_is_noticed() -> None:
    trace = play(late_by(25), ONE, real=True)

    assert trace.legs[0].late_by == pytest.approx(25, abs=1)


@pytest.mark.usefixtures("real_clock")
@pytest.mark.parametrize(
    ("lateness", "how"), [((25, 0), "finished"), ((25,) * sum(ROUNDS), "error")]
)
def test_what_is_late_is_played_again(lateness: tuple[int, ...], how: str) -> None:
    assert play_in_real_time(late_by(*lateness), ONE).legs[0].ending.how == how


def test_a_backend_without_virtual_time_is_played_in_real_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loops: list[str] = []

    def run_real(main: Any, loop: Any) -> Any:
        loops.append(loop)
        return run_virtual(main, loop)

    monkeypatch.setattr(_player, "run_real", run_real)
    virtual = stream_backend(open_operator)
    real = stream_backend(open_operator, lacks=[Capability.VIRTUAL_TIME])

    assert list(virtual.run([ONE])) == list(real.run([ONE]))
    assert loops == ["asyncio"]


def test_the_real_clock_is_a_real_one() -> None:
    empty = Scenario()

    assert play(open_operator, empty, real=True).legs[0].ending.how == "finished"
    assert play(open_operator, empty, "trio", real=True).legs[0].ending.how == "finished"


def answered_after(ms: int) -> Scenario:
    return Scenario(inputs=(Timed(0, Record("a")),), plans=(Plan("a", (Step(after=ms),)),))


@pytest.mark.parametrize(
    ("scenario", "fits"),
    [
        (answered_after(LONGEST), True),
        (answered_after(LONGEST + 40), False),
        (replace(answered_after(0), crashes=(Crash(40),)), False),
        (replace(answered_after(0), cancel_at=40), False),
        (replace(answered_after(0), sink=(SinkStep("give_up", 40),)), False),
        (replace(answered_after(0), sink=(SinkStep("block", 40),)), False),
        (replace(answered_after(0), sink=(SinkStep("pause", LONGEST),)), True),
        (replace(answered_after(0), sink=(SinkStep("leave"),)), True),
        (answered_after(30), False),
        (replace(answered_after(0), requests=(SnapshotRequest(41, 1),)), False),
        (replace(answered_after(0), hooks="coroutine", hook_takes=7), False),
    ],
)
def test_what_a_real_clock_can_play(scenario: Scenario, fits: bool) -> None:  # noqa: FBT001
    assert (short({"it": scenario}, partial(play, open_operator), 9) == {"it": scenario}) is fits
