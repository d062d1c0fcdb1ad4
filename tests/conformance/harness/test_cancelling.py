"""How consumers are cancelled: as asyncio does, once; or by a scope, again and again."""

import asyncio
import math
from collections import deque
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, Self

import anyio
import pytest
from judged import OPERATORS, broken_rules, each_loop
from msgspec.structs import replace
from sample import some

from asyncwait.conformance.areas import EXAMPLES
from asyncwait.conformance.evidence import Run
from asyncwait.conformance.generation import generate
from asyncwait.conformance.harness import PATIENCE, LoopName, play
from asyncwait.reference import open_operator
from asyncwait.spec import OpenOperator, Record, Statistics
from asyncwait.spec.scenario import (
    CallCancelled,
    CallEnded,
    Closed,
    Crash,
    Leg,
    Plan,
    Scenario,
    SinkGaveUp,
    SinkLeft,
    SinkStep,
    SinkTook,
    Step,
    Timed,
)
from asyncwait.toolkit import call_failed, collect_results


class Plain:
    """An ordered operator in plain asyncio: a task reads, and one more runs for each call."""

    def __init__(self, config: Any, fn: Any, elements: Any, restore: Any = None) -> None:
        assert restore is None
        self._fn = fn
        self._elements = elements
        self._room = asyncio.Semaphore(config.capacity)
        self._changed = asyncio.Event()
        self._slots: deque[tuple[Record, list[Any] | None]] = deque()
        self._ended = False
        self._error: BaseException | None = None

    def _start(self, coroutine: Coroutine[Any, Any, None]) -> None:
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        self._start(self._read())
        return self

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Record:
        while True:
            if self._error is not None:
                raise self._error
            if self._slots and (results := self._slots[0][1]) is not None:
                record = self._slots[0][0]
                value = results.pop(0)
                if not results:
                    self._slots.popleft()
                    self._room.release()
                return Record(value, record.timestamp, record.key)
            if self._ended and not self._slots:
                raise StopAsyncIteration
            self._changed.clear()
            await self._changed.wait()

    async def _read(self) -> None:
        async for record in self._elements:
            await self._room.acquire()
            slot = [record, None]
            self._slots.append(slot)  # type: ignore[arg-type]
            self._start(self._call(slot))
        self._ended = True
        self._changed.set()

    async def _call(self, slot: list[Any]) -> None:
        try:
            slot[1] = list(collect_results(slot[0], await self._fn(slot[0].value)))
        except Exception as error:
            self._error = call_failed(slot[0], error)
            self._error.__cause__ = error
        self._changed.set()

    def _stop(self) -> None:
        self._slots.clear()
        self._ended = True

    def statistics(self) -> Statistics:
        """Nothing is counted."""
        return Statistics()


class InATaskGroup(Plain):
    """Its tasks are in an `asyncio.TaskGroup`."""

    async def __aenter__(self) -> Self:
        self._tasks: set[asyncio.Task[None]] = set()
        self._group = asyncio.TaskGroup()
        await self._group.__aenter__()
        return await super().__aenter__()

    def _start(self, coroutine: Coroutine[Any, Any, None]) -> None:
        self._tasks.add(self._group.create_task(coroutine))

    async def __aexit__(self, *exc: object) -> None:
        self._stop()
        for task in self._tasks:
            task.cancel()
        try:
            await self._group.__aexit__(*exc)
        finally:
            await self._elements.aclose()


class WithTasks(Plain):
    """It keeps its tasks itself, and gathers them in the end."""

    async def __aenter__(self) -> Self:
        self._tasks: set[asyncio.Task[None]] = set()
        return await super().__aenter__()

    def _start(self, coroutine: Coroutine[Any, Any, None]) -> None:
        self._tasks.add(asyncio.create_task(coroutine))

    async def __aexit__(self, *_: object) -> None:
        self._stop()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._elements.aclose()


each_plain_operator = pytest.mark.parametrize("operator", [InATaskGroup, WithTasks])

# The second call cleans up for 80 ms when it is cancelled.
CALM = Scenario(
    inputs=(Timed(0, Record("a")), Timed(0, Record("b")), Timed(40, Record("c"))),
    plans=(
        Plan("a", (Step(after=40, results=("a1", "a2")),)),
        Plan("b", (Step(after=400, results=("b1",), clean_up=80),)),
        Plan("c", (Step(after=120, results=("c1",)),)),
    ),
)
SCENARIOS = {
    "finishing": CALM,
    "leaving": replace(CALM, sink=(SinkStep("read", 1), SinkStep("leave"))),
    "cancelled": replace(CALM, cancel_at=80),
    "cancelled in a pause": replace(CALM, cancel_at=80, sink=(SinkStep("pause", 200),)),
    "crashing": replace(CALM, crashes=(Crash(80), Crash(40))),
    "giving up": replace(CALM, sink=(SinkStep("give_up", 20), SinkStep("give_up", 40))),
    "failing": replace(CALM, plans=(*CALM.plans[:2], Plan("c", (Step("raise", 80),)))),
}
each_scenario = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)


def last_leg(operator: OpenOperator, scenario: Scenario, loop: LoopName = "asyncio") -> Leg:
    """The last leg of a run that breaks no rule."""
    trace = play(operator, scenario, loop)
    assert broken_rules(Run(scenario, trace)) == {}
    return trace.legs[-1]


def times(leg: Leg, kind: type) -> list[float]:
    """When events of a kind happened."""
    return [event.at for event in leg.events if isinstance(event, kind)]


@each_plain_operator
@each_scenario
def test_an_operator_in_plain_asyncio_breaks_no_rule(
    operator: OpenOperator, scenario: Scenario
) -> None:
    """However its consumer leaves; what is cancelled may take its time, and the clock moves."""
    last_leg(operator, scenario)


@pytest.mark.parametrize("cancel", ["once", "scope"])
@pytest.mark.parametrize("name", ["task group", "pool", "reference", "emitter"])
def test_clean_up_takes_its_time_after_a_cancellation(name: str, cancel: Any) -> None:
    """Also while a scope cancels the one who waits for it again and again."""
    operator = OPERATORS.get(name, InATaskGroup)
    leg = last_leg(operator, replace(SCENARIOS["cancelled"], cancel=cancel))

    assert (leg.ending.how, leg.ending.at, leg.ending.after) == ("left", 80, "stop")
    assert times(leg, SinkLeft) == [80]
    assert times(leg, CallCancelled)[0] == 80
    assert times(leg, CallEnded)[-1] == 160
    assert times(leg, Closed) == [160]


@each_loop
@pytest.mark.parametrize("cancel", ["once", "scope"])
def test_a_read_that_is_given_up_is_cancelled(loop: LoopName, cancel: Any) -> None:
    """By whatever means, at its time, and nothing is lost."""
    leg = last_leg(open_operator, replace(SCENARIOS["giving up"], cancel=cancel), loop)

    assert times(leg, SinkGaveUp) == [20]
    assert times(leg, SinkTook) == [40, 40, 400, 400]


def cancellations_seen_by(cancel: Any) -> int:
    """How often a consumer's read that goes on waiting is cancelled, until it has waited 3 s."""
    seen = 0

    class Stubborn(InATaskGroup):
        async def __anext__(self) -> Record:
            nonlocal seen
            loop = asyncio.get_running_loop()
            end = loop.time() + 3
            while loop.time() < end:
                try:
                    await asyncio.sleep(end - loop.time())
                except asyncio.CancelledError:
                    seen += 1
            raise StopAsyncIteration

    play(Stubborn, replace(CALM, cancel_at=40, cancel=cancel))
    return seen


def test_asyncio_cancels_once_and_a_scope_again_and_again() -> None:
    """A scope does so in every turn of the loop; time goes on all the same."""
    assert cancellations_seen_by("once") == 1
    assert cancellations_seen_by("scope") > 100


def test_the_operator_is_in_no_scope_of_the_harness() -> None:
    """It sees what it sees in any program on asyncio: no deadline that nobody set."""
    deadlines: list[float] = []

    class Looking(WithTasks):
        async def __aenter__(self) -> Self:
            deadlines.append(anyio.current_effective_deadline())
            return await super().__aenter__()

    last_leg(Looking, CALM)

    assert deadlines == [math.inf]


def test_a_call_that_is_cancelled_twice_cleans_up_once() -> None:
    """An operator may cancel a call at its deadline, and all that run when it is left."""

    class Impatient(WithTasks):
        async def __aexit__(self, *exc: object) -> None:
            for _ in range(3):
                for task in self._tasks:
                    task.cancel()
                await asyncio.sleep(0.02)
            await super().__aexit__(*exc)

    leg = last_leg(Impatient, SCENARIOS["cancelled"])

    assert times(leg, CallCancelled) == [80, 80]
    assert times(leg, CallEnded)[-1] == 160


def test_an_operator_that_refuses_to_end_is_left_alone() -> None:
    """It hangs; neither the harness nor the end of its loop waits for it any longer."""

    class Deaf(WithTasks):
        async def __aexit__(self, *exc: object) -> None:
            while True:
                with suppress(asyncio.CancelledError):
                    await asyncio.Event().wait()

    scenario = replace(CALM, sink=(SinkStep("leave"),))
    (leg,) = play(Deaf, scenario).legs

    limit = PATIENCE * scenario.horizon + 1_000
    assert (leg.ending.how, leg.ending.at) == ("hung", limit)
    assert leg.ending.detail == "while it is left"


def test_an_operator_that_spins_for_ever_is_left_alone() -> None:
    """Neither a cancellation nor time can end it."""

    class Spinning(WithTasks):
        async def __aexit__(self, *exc: object) -> None:
            while True:
                with suppress(asyncio.CancelledError):
                    await asyncio.sleep(0)

    (leg,) = play(Spinning, replace(CALM, sink=(SinkStep("leave"),))).legs

    assert leg.ending.how == "livelock"


@pytest.mark.sampled
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", OPERATORS)
def test_shipped_operators_leave_correctly_in_a_scope(name: str) -> None:
    """Examples and generated scenarios, cancelled again and again instead of once."""
    scenarios = [example.scenario for example in EXAMPLES] + list(generate(150, 3))
    for scenario in some(scenarios, 5, f"leave {name}"):
        last_leg(OPERATORS[name], replace(scenario, cancel="scope"))
