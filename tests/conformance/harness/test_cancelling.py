"""How consumers are cancelled: as asyncio does, once; or by a scope, again and again."""

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, Self

import anyio
import pytest
from judged import OPERATORS, broken_rules, each_loop
from msgspec.structs import replace
from odd import ODD, sound
from sample import some

from asyncwait.backends.faulty import Variation
from asyncwait.conformance.areas import EXAMPLES
from asyncwait.conformance.evidence import Run, at, replies
from asyncwait.conformance.generation import generate
from asyncwait.conformance.harness import PATIENCE, LoopName, play
from asyncwait.reference import open_operator
from asyncwait.spec import OpenOperator, Record
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
)

PLAIN = [
    odd for odd in ODD if odd.change.__module__.startswith(sound.__name__) and odd.loop == "asyncio"
]
"""Operators that know no anyio; one has its tasks in a group, the others keep them themselves."""

each_plain_operator = pytest.mark.parametrize("operator", PLAIN, ids=lambda each: each.name)


class Changed:
    """The results of the reference, changed by a test."""

    def __init__(self, results: Any) -> None:
        self._results = results
        self.statistics = results.statistics

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        return await self._results.__anext__()


def changed(
    leaving: Callable[[], Awaitable[Any]] | None = None, results: Any = Changed
) -> OpenOperator:
    """The reference, which does something else when it has been left."""

    @asynccontextmanager
    async def opened(*arguments: Any) -> AsyncIterator[Any]:
        async with open_operator(*arguments) as given:
            yield results(given)
        if leaving is not None:
            await leaving()

    return opened


# The second call cleans up for 80 ms when it is cancelled.
CALM = Scenario(
    inputs=at(0, Record("a"), Record("b")) + at(40, Record("c")),
    plans=(
        replies("a", 40, "a1", "a2"),
        Plan("b", (Step(after=400, results=("b1",), clean_up=80),)),
        replies("c", 120, "c1"),
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
    operator: Variation, scenario: Scenario
) -> None:
    """However its consumer leaves; what is cancelled may take its time, and the clock moves."""
    last_leg(operator.open_operator, scenario)


@pytest.mark.parametrize("cancel", ["once", "scope"])
@pytest.mark.parametrize("name", ["gives-each-record-a-task", *OPERATORS])
def test_clean_up_takes_its_time_after_a_cancellation(name: str, cancel: Any) -> None:
    """Also while a scope cancels the one who waits for it again and again."""
    plain = {odd.name: odd.open_operator for odd in PLAIN}
    leg = last_leg((OPERATORS | plain)[name], replace(SCENARIOS["cancelled"], cancel=cancel))

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

    class Stubborn(Changed):
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

    play(changed(results=Stubborn), replace(CALM, cancel_at=40, cancel=cancel))
    return seen


def test_asyncio_cancels_once_and_a_scope_again_and_again() -> None:
    """A scope does so in every turn of the loop; time goes on all the same."""
    assert cancellations_seen_by("once") == 1
    assert cancellations_seen_by("scope") > 100


def test_the_operator_is_in_no_scope_of_the_harness() -> None:
    """It sees what it sees in any program on asyncio: no deadline that nobody set."""
    deadlines: list[float] = []

    @asynccontextmanager
    async def looking(*arguments: Any) -> AsyncIterator[Any]:
        deadlines.append(anyio.current_effective_deadline())
        async with open_operator(*arguments) as results:
            yield results

    last_leg(looking, CALM)

    assert deadlines == [math.inf]


def test_a_call_that_is_cancelled_twice_cleans_up_once() -> None:
    """An operator may cancel a call at its deadline, and all that run when it is left."""
    calls: list[asyncio.Task[Any]] = []

    @asynccontextmanager
    async def impatient(config: Any, fn: Any, *others: Any) -> AsyncIterator[Any]:
        async def called(value: Any) -> Any:
            calls.append(asyncio.ensure_future(fn(value)))
            return await asyncio.shield(calls[-1])

        async with open_operator(config, called, *others) as results:
            try:
                yield results
            finally:
                for _ in range(3):
                    for call in calls:
                        call.cancel()
                    await asyncio.sleep(0.02)
                await asyncio.wait(calls)

    leg = play(impatient, replace(CALM, sink=(SinkStep("pause", 80), SinkStep("leave")))).legs[-1]

    assert times(leg, CallCancelled) == [80, 80]
    assert times(leg, CallEnded)[-1] == 160


async def deaf() -> None:
    """Wait for ever, whoever cancels it."""
    while True:
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()


async def spinning() -> None:
    """Neither a cancellation nor time can end it."""
    while True:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(0)


LIMIT = PATIENCE * CALM.horizon + 1_000


@pytest.mark.parametrize(
    ("leaving", "how", "at"), [(deaf, "hung", LIMIT), (spinning, "livelock", None)]
)
def test_an_operator_that_refuses_to_end_is_left_alone(
    leaving: Callable[[], Awaitable[None]], how: str, at: float | None
) -> None:
    """It hangs; neither the harness nor the end of its loop waits for it any longer."""
    (leg,) = play(changed(leaving), replace(CALM, sink=(SinkStep("leave"),))).legs

    assert leg.ending.how == how
    assert at is None or (leg.ending.at, leg.ending.detail) == (at, "while it is left")


@pytest.mark.sampled
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", OPERATORS)
def test_shipped_operators_leave_correctly_in_a_scope(name: str) -> None:
    """Examples and generated scenarios, cancelled again and again instead of once."""
    scenarios = [example.scenario for example in EXAMPLES] + list(generate(150, 3))
    for scenario in some(scenarios, 5, f"leave {name}"):
        last_leg(OPERATORS[name], replace(scenario, cancel="scope"))
