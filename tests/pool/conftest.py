"""What the tests of the pool share: virtual clocks, a scripted source, a scripted function."""

from collections.abc import AsyncIterator, Callable
from typing import Any, TypeAlias

import anyio
import pytest
from trio.testing import MockClock

from asyncwait.conformance.harness import VirtualLoop
from asyncwait.spec import Element, Record

Feed: TypeAlias = Callable[..., AsyncIterator[Element]]


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """Both loops, each on a clock of its own that starts at 0 and jumps to the next timer."""
    if request.param == "asyncio":
        return "asyncio", {"loop_factory": VirtualLoop}
    return "trio", {"clock": MockClock(autojump_threshold=0)}


@pytest.fixture
def feed() -> Feed:
    """A source: gives its elements, sleeps for a number, raises an exception."""

    async def source(*items: Any) -> AsyncIterator[Element]:
        for item in items:
            if isinstance(item, float):
                await anyio.sleep(item)
            elif isinstance(item, BaseException):
                raise item
            else:
                yield item if isinstance(item, Element) else Record(item)

    return source


class Sleeper:
    """Sleeps for as many seconds as its value says, then returns the value as its one result.

    It notes the calls that began and the cancellations that arrived, with their times.
    """

    def __init__(self) -> None:
        self.began: list[tuple[float, Any]] = []
        self.cancelled: list[tuple[float, Any]] = []
        self.running = 0
        self.most = 0

    async def __call__(self, value: float) -> list[float]:
        self.began.append((now(), value))
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await anyio.sleep(value)
        except anyio.get_cancelled_exc_class():
            self.cancelled.append((now(), value))
            await self.clean_up(value)
            raise
        finally:
            self.running -= 1
        return [value]

    async def clean_up(self, value: float) -> None:
        """Do what a cancelled call still has to do."""


@pytest.fixture
def sleeper() -> Sleeper:
    """A function that takes as many seconds as its value says."""
    return Sleeper()


def now() -> float:
    """The seconds since the test began, without rounding errors."""
    return round(anyio.current_time(), 6)
