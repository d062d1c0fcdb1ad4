"""One leg on the partition operator, as the workers play it; here without Spark."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from judged import broken_rules, judge
from late_completions import COMPLETED_LATE, raising_late_completions
from msgspec.structs import replace

from asyncwait.backends.pool import open_operator
from asyncwait.backends.spark import _partition
from asyncwait.backends.spark._reader import InMemorySource, ThreadedSource
from asyncwait.backends.spark._rows import ElementRows
from asyncwait.backends.spark.conformance import _loop_side
from asyncwait.backends.spark.conformance._backend import LACKS
from asyncwait.backends.spark.conformance._player import PartitionPlayer
from asyncwait.backends.spark.conformance._ways import ElementWay
from asyncwait.backends.threads import LoopThread, OperatorHost
from asyncwait.conformance.areas import EXAMPLES
from asyncwait.conformance.evidence import Example, Run
from asyncwait.conformance.generation import generate
from asyncwait.conformance.judging import impossible
from asyncwait.conformance.running import adapted
from asyncwait.spec import Barrier, Element, Record
from asyncwait.spec.scenario import (
    ALL_CAPABILITIES,
    Crash,
    Leg,
    LegStart,
    Plan,
    Scenario,
    SinkGaveUp,
    SinkLeft,
    SinkStep,
    SinkTook,
    Step,
    Timed,
    Trace,
    next_leg,
)

ROWS = ElementRows()


def play(scenario: Scenario) -> Trace:
    """Play all legs of `scenario` on the virtual clock."""
    legs: list[Leg] = []
    plan: LegStart | None = LegStart.first(scenario)
    while plan is not None:
        inputs = [timed.element for timed in plan.inputs]
        player = PartitionPlayer(plan, ElementWay(), real=False)
        out = [e for b in player.play(iter([ROWS.encode(inputs)])) for e in ROWS.decode(b)]
        assert player.leg is not None
        assert out == taken(player.leg)
        legs.append(player.leg)
        plan = next_leg(plan, player.leg)
    return Trace(tuple(legs))


def taken(leg: Leg) -> list[Element]:
    """What the consumer took."""
    return [event.element for event in leg.events if isinstance(event, SinkTook)]


def fitting(scenario: Scenario) -> Scenario:
    """The scenario as this backend can play it."""
    return adapted(scenario, ALL_CAPABILITIES - LACKS)


def at_once(*elements: Element) -> tuple[Timed, ...]:
    """Inputs that are all there at the beginning."""
    return tuple(Timed(0, element) for element in elements)


ABC = Scenario(
    capacity=2,
    inputs=at_once(Record("a"), Record("b"), Record("c")),
    plans=(Plan("a", (Step(after=40, results=("a1", "a2")),)), Plan("c", (Step(after=80),))),
)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_examples_break_no_rule(example: Example) -> None:
    """Every example that the backend can play, judged by every rule."""
    scenario = fitting(example.scenario)
    trace = play(scenario)
    assert impossible(scenario, trace) is None
    assert broken_rules(Run(scenario, trace)) == {}


def test_generated_scenarios_break_no_rule_and_are_repeatable() -> None:
    """Each is played twice: the same things happen at the same times, and end the same way."""
    for scenario in map(fitting, generate(150, 7)):
        first, second = play(scenario), play(scenario)
        assert broken_rules(Run(scenario, first)) == {}
        for leg, again in zip(first.legs, second.legs, strict=True):
            assert again.ending == leg.ending
            # Within an instant an operator may cancel its calls in any order.
            assert Counter(map(repr, again.events)) == Counter(map(repr, leg.events))


def test_a_script_is_followed_to_the_letter() -> None:
    """Two elements, a pause, and the rest: taken one by one, at these times."""
    script = (SinkStep("read", 2), SinkStep("pause", 200), SinkStep("read", 1), SinkStep("leave"))
    inputs = at_once(*(Record(value) for value in "abcde"))
    leg = play(Scenario(inputs=inputs, sink=script)).legs[0]
    times = [event.at for event in leg.events if isinstance(event, SinkTook)]
    assert times == [0, 0, 200]
    assert (leg.ending.how, leg.ending.after) == ("left", "stop")


def test_a_wait_is_given_up() -> None:
    """It ends at its time with nothing, and what comes later is taken by the next one."""
    script = (SinkStep("give_up", 40), SinkStep("give_up", 80))
    plans = (Plan("a", (Step(after=80, results=("a1",)),)),)
    leg = play(Scenario(inputs=at_once(Record("a")), plans=plans, sink=script)).legs[0]
    assert [event.at for event in leg.events if isinstance(event, SinkGaveUp)] == [40]
    assert taken(leg) == [Record("a1")]


@pytest.mark.parametrize("at", [0, 40])
def test_a_cancellation_ends_the_leg_at_its_time(at: int) -> None:
    """The consumer's wait is cut short, and the operator closed."""
    scenario = Scenario(
        inputs=at_once(Record("a")), plans=(Plan("a", (Step("never"),)),), cancel_at=at
    )
    leg = play(scenario).legs[0]
    assert (leg.ending.how, leg.ending.at) == ("left", at)
    assert [event.at for event in leg.events if isinstance(event, SinkLeft)] == [at]


def test_a_crash_is_gone_on_from() -> None:
    """The second leg starts from the snapshot of the first."""
    scenario = Scenario(
        inputs=at_once(Record("a"), Barrier(1), Record("b")),
        plans=(Plan("a", (Step(after=80, results=("a1",)), Step(results=("a2",)))),),
        crashes=(Crash(40, capacity=1),),
    )
    first, second = play(scenario).legs
    assert (first.ending.how, first.ending.at) == ("crashed", 40)
    assert (second.first_index, second.capacity) == (2, 1)
    assert taken(second) == [Record("a1"), Record("b")]


def test_what_never_ends_is_a_hang() -> None:
    """A call without an answer and without a deadline is bounded by the harness."""
    leg = play(Scenario(inputs=at_once(Record("a")), plans=(Plan("a", (Step("never"),)),))).legs[0]
    assert leg.ending.how == "hung"


def test_an_operator_that_spins_is_a_livelock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turns of the loop without time are bounded, too."""

    async def spin(self: Any, limit: int) -> list[Element]:
        while True:
            await asyncio.sleep(0)

    monkeypatch.setattr(OperatorHost, "take", spin)
    assert play(ABC).legs[0].ending.how == "livelock"


def test_an_operator_that_loses_results_is_convicted(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is handed over is judged: the second of two ready elements is dropped here."""
    take = OperatorHost.take

    async def lossy(self: Any, limit: int) -> list[Element]:
        return (await take(self, limit))[:1]

    monkeypatch.setattr(OperatorHost, "take", lossy)
    assert "RES-1" in broken_rules(Run(ABC, play(ABC)))


def test_an_operator_that_leaves_tasks_behind_is_convicted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A task and its timer that outlive the operator are counted, though they are ended later."""

    @asynccontextmanager
    async def littering(*args: Any) -> AsyncIterator[Any]:
        async with open_operator(*args) as results:
            yield results
        litter.append(asyncio.create_task(asyncio.sleep(3600)))
        await asyncio.sleep(0)

    litter: list[asyncio.Task[None]] = []
    monkeypatch.setattr(_partition, "open_operator", littering)
    trace = play(ABC)
    assert (trace.legs[0].tasks_left, trace.legs[0].timers_left) == (1, 1)
    assert broken_rules(Run(ABC, trace)) == {"END-4": ["1 task is left"]}


def test_answers_of_the_harness_are_not_the_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    """A callback that is still to come when the operator is gone is no leak of its."""
    scenario = Scenario(
        form="callback",
        inputs=at_once(Record("a"), Record("b")),
        plans=(Plan("a", (Step(after=400),)), Plan("b", (Step("raise", 40),))),
    )
    trace = play(scenario)
    assert judge("END-4", Run(scenario, trace)).applied
    assert broken_rules(Run(scenario, trace)) == {}


def test_a_completion_that_raises_at_the_user_is_convicted() -> None:
    """Also when it comes late."""
    with raising_late_completions():
        trace = play(COMPLETED_LATE)
    assert trace.legs[0].refused == "RuntimeError('it is decided')"
    assert list(broken_rules(Run(COMPLETED_LATE, trace))) == ["RES-4"]


def test_an_error_of_closing_is_the_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a failure that nothing explains, and no broken harness."""

    class Unclosable(InMemorySource):
        async def aclose(self) -> None:
            raise LookupError("no door")

    monkeypatch.setattr(_loop_side, "InMemorySource", Unclosable)
    trace = play(ABC)
    assert (trace.legs[0].ending.how, trace.legs[0].ending.error) == ("failed", "LookupError")
    assert list(broken_rules(Run(ABC, trace))) == ["FAIL-8"]


def test_threads_that_are_left_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop that goes on when the operator says that it is gone is a leak."""
    running: list[Any] = []
    stop = _partition.LoopThread.stop

    def keep(self: Any) -> None:
        running.append(self)

    monkeypatch.setattr(_partition.LoopThread, "stop", keep)
    trace = play(ABC)
    stop(running[0])
    assert list(broken_rules(Run(ABC, trace))) == ["END-4"]


def test_errors_of_opening_are_endings(monkeypatch: pytest.MonkeyPatch) -> None:
    """An operator that does not open has failed."""

    def refuse(*_: Any) -> Iterator[None]:
        raise LookupError("no room")

    monkeypatch.setattr(_partition, "open_operator", refuse)
    ending = play(ABC).legs[0].ending
    assert (ending.how, ending.error, ending.detail) == ("failed", "LookupError", "no room")


STALL = 0.045
"""Seconds, hardly more than a step of the grid: rounded, what comes so late is in time."""


def stalled(method: Any, *, before: bool) -> Any:
    """Return `method` with a thread that stalls before or after it."""

    def stalling(*args: Any, **options: Any) -> Any:
        if before:
            time.sleep(STALL)
        try:
            return method(*args, **options)
        finally:
            if not before:
                time.sleep(STALL)

    return stalling


@pytest.mark.parametrize(
    ("owner", "name", "before"),
    [
        (LoopThread, "ask", True),
        (LoopThread, "ask", False),
        (LoopThread, "stop", True),
        (LoopThread, "stop", False),
        (ThreadedSource, "_tell", True),
    ],
)
def test_a_stall_of_any_thread_is_lateness(
    monkeypatch: pytest.MonkeyPatch,
    owner: type,
    name: str,
    before: bool,  # noqa: FBT001
) -> None:
    """What the machine takes beside the loop must not pass for what the operator takes."""
    plan = LegStart.first(replace(ABC, sink=(SinkStep("read", 1), SinkStep("leave"))))
    inputs = [timed.element for timed in plan.inputs]
    monkeypatch.setattr(owner, name, stalled(getattr(owner, name), before=before))
    player = PartitionPlayer(plan, ElementWay(), real=True)
    list(player.play(iter([ROWS.encode(inputs)])))
    assert player.leg is not None
    assert player.leg.late_by >= 1000 * STALL
