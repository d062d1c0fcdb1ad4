"""Times as they are written down: exact on a virtual clock, on a grid on the real one."""

import asyncio

import pytest

from asyncwait.conformance.harness import Recorder
from asyncwait.spec.scenario import Scenario


class Clock:
    def __init__(self) -> None:
        self.ms = 0.0

    def __call__(self) -> float:
        return 5 + self.ms / 1000


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.mark.parametrize(
    ("ms", "instant", "late"),
    [
        (0, 0, 0),
        (3, 0, 3),
        (34, 40, 34),
        (36, 40, 0),
        (40, 40, 0),
        (59, 40, 19),
        (61, 80, 21),
        (112, 120, 32),
    ],
)
def test_times_are_those_of_the_nearest_instant(
    clock: Clock, ms: float, instant: float, late: float
) -> None:
    recorder = Recorder(Scenario(), clock, grid=40)
    clock.ms = ms
    assert recorder.now() == instant
    assert recorder.late_by == pytest.approx(late, abs=0.01)


def test_the_greatest_lateness_is_kept(clock: Clock) -> None:
    recorder = Recorder(Scenario(), clock, grid=40)
    for clock.ms in (47, 82):
        recorder.now()
    assert recorder.late_by == pytest.approx(7, abs=0.01)


@pytest.mark.parametrize(
    ("ms", "due", "late"),
    [
        (125, (75,), 50),
        # What comes before it is due, beside others that came late, is no less wrong.
        (5, (205,), 200),
        # Whoever knows when it came says so.
        (500, (75, 90), 15),
    ],
)
def test_something_that_was_known_to_be_due_may_be_out_of_time(
    clock: Clock, ms: float, due: tuple[float, ...], late: float
) -> None:
    recorder = Recorder(Scenario(), clock, grid=40)
    clock.ms = ms
    recorder.was_due(*due)
    assert recorder.late_by == pytest.approx(late, abs=0.01)


def test_a_stall_right_before_the_end_is_measured(clock: Clock) -> None:
    recorder = Recorder(Scenario(), clock, grid=40)

    async def measure() -> None:
        measuring = asyncio.create_task(recorder.measure_lateness())
        await asyncio.sleep(0)
        clock.ms = 50
        measuring.cancel()
        await asyncio.wait([measuring])

    asyncio.run(measure())
    assert recorder.late_by == pytest.approx(45, abs=0.01)


def test_a_virtual_clock_is_not_rounded_to_a_grid(clock: Clock) -> None:
    recorder = Recorder(Scenario(), clock)
    clock.ms = 61.23456
    assert recorder.now() == 61.235
    assert recorder.late_by == 0


@pytest.mark.parametrize("ms", [126.223, 0.1, 333.333])
def test_time_in_which_the_loop_is_blocked_leaves_nothing_over(clock: Clock, ms: float) -> None:
    def block(seconds: float) -> None:
        clock.ms += 1000 * seconds

    recorder = Recorder(Scenario(), clock, blocker=block)
    clock.ms = ms
    before = recorder.unblocked()
    recorder.block(40)
    assert recorder.unblocked() == before
