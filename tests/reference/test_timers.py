"""Timers, step by step on a clock made of one number, and on the virtual clocks of both loops."""

from collections.abc import Callable
from typing import Any

import pytest

from asyncwait.reference import TimerService
from asyncwait.spec.mailbox import Loop


class HandClock:
    def __init__(self) -> None:
        self.now = 0.0
        self.ring: Callable[[], object] | None = None
        self.rings_at: list[float] = []

    @property
    def loop(self) -> Loop:
        return Loop(lambda: self.now, lambda function: function(), self.call_at)

    def call_at(self, when: float, ring: Callable[[], object]) -> Any:
        self.ring = ring
        self.rings_at.append(when)
        return self

    def cancel(self) -> None:
        self.ring = None

    def move_to(self, now: float) -> None:
        self.now = now
        assert self.ring is not None
        self.ring()


def run_at_once(run: Callable[[], object]) -> None:
    run()


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def timers(clock: HandClock) -> TimerService:
    return TimerService(clock.loop, run_at_once, spawn=pytest.fail)


def test_the_alarm_is_set_anew_only_for_an_earlier_timer(
    clock: HandClock, timers: TimerService
) -> None:
    for when in (5.0, 6.0, 4.0, 7.0):
        timers.register(when, list)

    assert clock.rings_at == [5.0, 4.0]
    clock.move_to(5.0)
    assert clock.rings_at == [5.0, 4.0, 6.0]


def test_a_timer_can_be_cancelled_after_it_fired(clock: HandClock, timers: TimerService) -> None:
    timer = timers.register(1.0, list)
    clock.move_to(1.0)

    timers.cancel(timer)

    assert len(timers) == 0


def test_an_alarm_that_rings_a_tick_early_fires_what_it_was_set_for(
    clock: HandClock, timers: TimerService
) -> None:
    fired: list[str] = []
    timers.register(1.0, lambda: fired.append("due"))

    clock.move_to(1.0 - 1e-9)

    assert fired == ["due"]
