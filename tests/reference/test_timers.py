"""Timers, step by step on a clock made of one number, and on the virtual clocks of both loops."""

import asyncio
import math
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from asyncwait.conformance.harness import VirtualLoop
from asyncwait.reference import TimerService
from asyncwait.spec.mailbox import Loop
from asyncwait.toolkit import running_loop

Post = Callable[[Callable[[], object]], object]


class HandClock:
    """A loop whose clock is moved by hand and whose alarm is rung by hand."""

    def __init__(self) -> None:
        self.now = 0.0
        self.ring: Callable[[], object] | None = None
        self.rings_at: list[float] = []

    @property
    def loop(self) -> Loop:
        """The clock as timers see it."""
        return Loop(lambda: self.now, lambda function: function(), self.call_at)

    def call_at(self, when: float, ring: Callable[[], object]) -> Any:
        """Set the alarm; return what cancels it."""
        self.ring = ring
        self.rings_at.append(when)
        return self

    def cancel(self) -> None:
        """Cancel the alarm."""
        self.ring = None

    def move_to(self, now: float) -> None:
        """Move the clock, and ring the alarm."""
        self.now = now
        assert self.ring is not None
        self.ring()


def run_at_once(run: Callable[[], object]) -> None:
    """Stand in for a mailbox."""
    run()


@pytest.fixture
def clock() -> HandClock:
    """A clock that the test moves."""
    return HandClock()


@pytest.fixture
def timers(clock: HandClock) -> TimerService:
    """Timers over that clock, whose mails run at once."""
    return TimerService(clock.loop, run_at_once, spawn=pytest.fail)


def test_what_is_due_fires_the_earliest_first(clock: HandClock, timers: TimerService) -> None:
    """One ring fires all timers that are due; ties fire in the order of registration."""
    fired: list[str] = []
    for name, when in [("c", 3.0), ("a", 1.0), ("b", 2.0), ("a too", 1.0), ("late", 9.0)]:
        timers.register(when, lambda name=name: fired.append(name))

    clock.move_to(3.0)

    assert fired == ["a", "a too", "b", "c"]
    assert len(timers) == 1


def test_the_alarm_is_set_anew_only_for_an_earlier_timer(
    clock: HandClock, timers: TimerService
) -> None:
    """Deadlines come in the order of admission as a rule, and cost nothing then."""
    for when in (5.0, 6.0, 4.0, 7.0):
        timers.register(when, list)

    assert clock.rings_at == [5.0, 4.0]
    clock.move_to(5.0)
    assert clock.rings_at == [5.0, 4.0, 6.0]


def test_a_cancelled_timer_does_not_fire(clock: HandClock, timers: TimerService) -> None:
    """The alarm rings for it, finds nothing, and is set for the next one."""
    fired: list[str] = []
    timers.cancel(timers.register(1.0, lambda: fired.append("cancelled")))
    timers.register(2.0, lambda: fired.append("kept"))

    clock.move_to(1.0)
    assert fired == []
    clock.move_to(2.0)
    assert fired == ["kept"]


def test_a_timer_can_be_cancelled_after_it_fired(clock: HandClock, timers: TimerService) -> None:
    """Then there is nothing to cancel, and nothing happens."""
    timer = timers.register(1.0, list)
    clock.move_to(1.0)

    timers.cancel(timer)

    assert len(timers) == 0


def test_an_alarm_that_rings_a_tick_early_fires_what_it_was_set_for(
    clock: HandClock, timers: TimerService
) -> None:
    """The asyncio loop runs timers up to the resolution of its clock before their time."""
    fired: list[str] = []
    timers.register(1.0, lambda: fired.append("due"))

    clock.move_to(1.0 - 1e-9)

    assert fired == ["due"]


def test_infinite_means_never(clock: HandClock, timers: TimerService) -> None:
    """The alarm is not even set."""
    timers.register(math.inf, list)

    assert clock.rings_at == []
    assert len(timers) == 1


def test_closing_cancels_all_timers_and_the_alarm(clock: HandClock, timers: TimerService) -> None:
    """Nothing rings for an operator that is over."""
    timers.register(1.0, list)

    timers.close()

    assert clock.ring is None
    assert len(timers) == 0


@pytest.mark.anyio
async def test_timers_fire_on_time_on_either_loop() -> None:
    """Also one that is registered late and due early, while the alarm sleeps for another."""
    fired: list[tuple[str, float]] = []
    async with anyio.create_task_group() as tasks:
        timers = TimerService(running_loop(), run_at_once, tasks.start_soon)

        def fire_at(when: float, name: str) -> None:
            timers.register(when, lambda: fired.append((name, anyio.current_time())))

        fire_at(5.0, "first registered")
        await anyio.sleep(1)
        fire_at(2.0, "earlier")
        fire_at(7.0, "later")
        await anyio.sleep(5)
        fire_at(6.0, "due at once")
        await anyio.sleep(2)
        timers.close()
        tasks.cancel_scope.cancel()

    assert fired == [
        ("earlier", 2.0),
        ("first registered", 5.0),
        ("due at once", 6.0),
        ("later", 7.0),
    ]


@pytest.mark.anyio
async def test_no_timer_of_the_loop_is_left_after_closing(anyio_backend_name: str) -> None:
    """On asyncio the alarm is a timer of the loop, which would outlive the operator."""
    if anyio_backend_name == "trio":
        return  # there the alarm is a task, and ends with the others
    timers = TimerService(running_loop(), run_at_once, spawn=pytest.fail)
    timers.register(1.0, list)
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    assert loop.pending_timers() == 1

    timers.close()

    assert loop.pending_timers() == 0
