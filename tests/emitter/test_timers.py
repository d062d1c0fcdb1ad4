"""The timers: they fire in order and on time, and what was cancelled is not kept."""

import math
from typing import Any

import anyio
import pytest
from operators import block, seconds_now

from asyncwait.backends.emitter import Entry, Life, Timers
from asyncwait.spec import Record

pytestmark = pytest.mark.anyio


class Case:
    """Timers that run, and when they fired for whom.

    Args:
        timeout: in seconds.
        limit: of each call, in seconds.
    """

    def __init__(self, timeout: float = 3, limit: float = math.inf) -> None:
        self.life = Life()
        self.timers = Timers(timeout, anyio.current_time, self.life, limit=limit)
        self.timers.on_time = self.on_time
        self.timers.on_limit = self.on_limit
        self.log: list[tuple[float, Any]] = []

    def on_time(self, entry: Entry) -> None:
        """Note it."""
        self.log.append((seconds_now(), shown(entry)))

    def on_limit(self, entry: Entry, due: float) -> None:
        """Note it, with when that was."""
        self.log.append((seconds_now(), f"{shown(entry)} at {due:g}"))

    def start(self, name: str) -> Entry:
        """Start the timer of a new entry."""
        entry = Entry.of(Record(name))
        self.timers.start(entry)
        return entry


def shown(entry: Entry) -> str:
    """The name of an entry."""
    assert isinstance(entry.element, Record)
    return str(entry.element.value)


async def run(case: Case, seconds: float) -> None:
    """Let the timers run for some time."""
    with anyio.move_on_after(seconds):
        await case.timers.run()


async def test_what_was_due_before_a_time_can_be_fired_by_hand() -> None:
    """In the order of the deadlines; what is due in that instant is left to its timer."""
    case = Case()
    case.start("a")
    await anyio.sleep(1)
    case.start("b")
    await anyio.sleep(1)
    case.start("c")
    block(9)

    case.timers.fire_before(5)
    assert case.log == [(11, "a"), (11, "b")]
    await run(case, 1)
    assert case.log[2:] == [(11, "c")]


async def test_nothing_fires_when_the_operator_is_over() -> None:
    """Not even for those that were due in the same instant."""
    case = Case()
    for name in "abc":
        case.start(name)
    fire = case.on_time
    case.timers.on_time = lambda entry: (fire(entry), case.life.leave())

    await run(case, 9)

    assert case.log == [(3, "a")]


async def test_limits_and_deadlines_fire_in_one_order() -> None:
    """The deadline is first where both are due: no call could follow it."""
    case = Case(3, limit=2)
    first = case.start("a")
    await anyio.sleep(1)
    case.timers.start(first)
    case.start("b")
    block(9)

    case.timers.fire_before(4)

    assert case.log == [(10, "a"), (10, "a at 3"), (10, "b at 3")]
