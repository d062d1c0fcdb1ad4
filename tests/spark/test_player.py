"""One leg on the partition operator, as the workers play it; here without Spark.

Workers play all examples for `asyncwait verify spark`; here is that a faulty operator would show.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from between_backends import play_between
from judged import broken_rules, judge

from asyncwait.backends.pool import open_operator
from asyncwait.backends.pool._callbacks import Inbox
from asyncwait.backends.spark import _partition
from asyncwait.backends.spark._rows import ElementRows
from asyncwait.backends.spark.conformance import _player
from asyncwait.backends.spark.conformance._player import (
    ElementPath,
    PartitionPlayer,
)
from asyncwait.backends.threads import LoopThread, OperatorHost
from asyncwait.conformance.evidence import Run, scenario_of
from asyncwait.spec import Element
from asyncwait.spec.scenario import Leg, LegStart, Scenario, SinkTook, Trace

ROWS = ElementRows()


def play_one(plan: LegStart) -> Leg:
    player = PartitionPlayer(plan, ElementPath())
    batches = player.play(iter([ROWS.encode([timed.element for timed in plan.inputs])]))
    out = [element for batch in batches for element in ROWS.decode(batch)]
    leg = player.leg
    assert leg is not None
    assert out == [event.element for event in leg.events if isinstance(event, SinkTook)]
    return leg


def play(scenario: Scenario) -> Trace:
    return play_between(play_one, play_one, scenario)


ABC = scenario_of("capacity 2; 0: a b c; a: 40 gives a1 a2; c: 80 gives")


def test_what_never_ends_is_a_hang() -> None:
    leg = play(scenario_of("0: a; a: never")).legs[0]
    assert leg.ending.how == "hung"


async def no_door(_: Any) -> None:
    raise LookupError("no door")


async def spin(self: Any, limit: int) -> list[Element]:
    while True:
        await asyncio.sleep(0)


take = OperatorHost.take
stop = LoopThread.stop
left: list[Any] = []


async def lossy(self: Any, limit: int) -> list[Element]:
    return (await take(self, limit))[:1]


@asynccontextmanager
async def littering(*args: Any) -> AsyncIterator[Any]:
    async with open_operator(*args) as results:
        yield results
    left.append(asyncio.create_task(asyncio.sleep(3600)))
    await asyncio.sleep(0)


def keep(self: Any) -> None:
    left.append(self)


def refuse(*_: Any) -> Iterator[None]:
    raise LookupError("no room")


@pytest.mark.parametrize(
    ("owner", "name", "fault", "shows"),
    [
        (OperatorHost, "take", spin, ("livelock", "END-8")),
        (OperatorHost, "take", lossy, ("finished", "RES-1")),
        (_partition, "open_operator", littering, ("finished", "END-4")),
        (LoopThread, "stop", keep, ("finished", "END-4")),
        (_partition, "open_operator", refuse, ("failed", "FAIL-8")),
        (_player._WatchedPartition, "aclose", no_door, ("failed", "FAIL-8")),
    ],
)
def test_an_operator_that_does_wrong_is_convicted(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, fault: Any, shows: tuple[str, str]
) -> None:
    left.clear()
    monkeypatch.setattr(owner, name, fault)
    trace = play(ABC)
    for thread in left if fault is keep else []:
        stop(thread)
    how, rule = shows
    assert trace.legs[0].ending.how == how
    assert rule in broken_rules(Run(ABC, trace))


def test_answers_of_the_harness_are_not_the_operators() -> None:
    scenario = scenario_of("form callback; 0: a b; a: 400 gives; b: 40 raises own")
    trace = play(scenario)
    assert judge("END-4", Run(scenario, trace)).applied
    assert broken_rules(Run(scenario, trace)) == {}


COMPLETED_LATE = scenario_of(
    "form callback; timeout 40; handled; 0: a b; a: 80 gives a1, late gives late; "
    "b: 120 gives b1, late gives later; sink pause 200"
)
"""Both records are decided at 40, and completed after that."""


def test_a_completion_that_raises_at_the_user_is_convicted(monkeypatch: pytest.MonkeyPatch) -> None:
    put = Inbox.put

    def strict(self: Inbox, entry: Any, *outcome: Any) -> None:
        if entry.results is not None:
            raise RuntimeError("it is decided")
        put(self, entry, *outcome)

    monkeypatch.setattr(Inbox, "put", strict)
    trace = play(COMPLETED_LATE)
    assert trace.legs[0].refused == "RuntimeError('it is decided')"
    assert list(broken_rules(Run(COMPLETED_LATE, trace))) == ["RES-4"]
