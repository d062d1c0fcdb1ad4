"""What the tests of the pool share: virtual clocks, a scripted source, a function that sleeps.

The value "a3" stands for a record named a whose call takes 3 seconds.
"""

from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import pytest
from operators import block
from trio.testing import MockClock

from asyncwait.conformance.harness import VirtualLoop
from asyncwait.spec import Element, Record


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """Both loops, each on a clock of its own that starts at 0 and jumps to the next timer."""
    if request.param == "asyncio":
        return "asyncio", {"loop_factory": VirtualLoop}
    return "trio", {"clock": MockClock(autojump_threshold=0)}


def seconds_now() -> float:
    """The time of the loop, without rounding errors."""
    return round(anyio.current_time(), 6)


@pytest.fixture
def now() -> Callable[[], float]:
    """The seconds since the test began, without rounding errors."""
    return seconds_now


@pytest.fixture
def pass_time() -> Callable[[float], None]:
    """Lets time pass as a call does that blocks the loop."""
    return block


class Source:
    """Gives elements (a text is a Record), sleeps for a number, raises an exception.

    Attributes:
        taken: how many elements it gave.
        closed: how often it was closed.
    """

    def __init__(self, *script: Any) -> None:
        self._script = list(script)
        self.taken = 0
        self.closed = 0

    def __aiter__(self) -> AsyncIterator[Element]:
        return self

    async def __anext__(self) -> Element:
        while self._script:
            item = self._script.pop(0)
            if isinstance(item, int | float):
                await anyio.sleep(item)
            elif isinstance(item, BaseException):
                raise item
            else:
                self.taken += 1
                return Record(item) if isinstance(item, str) else item
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Count."""
        self.closed += 1


@pytest.fixture
def feed() -> type[Source]:
    """The scripted source."""
    return Source


class Sleeper:
    """Sleeps for as long as its value says; its result is the value.

    Attributes:
        clean_up: how many seconds a cancelled call goes on.
        began: time and value of each call.
        cancelled: time and value of each cancellation.
        running: the calls that run.
        most: the most calls that ran at once.
    """

    def __init__(self) -> None:
        self.clean_up = 0.0
        self.began: list[tuple[float, str]] = []
        self.cancelled: list[tuple[float, str]] = []
        self.running: list[str] = []
        self.most = 0

    async def __call__(self, value: str) -> list[Any]:
        """Sleep."""
        self.began.append((seconds_now(), value))
        self.running.append(value)
        self.most = max(self.most, len(self.running))
        try:
            await anyio.sleep(float(value[1:]))
        except anyio.get_cancelled_exc_class():
            self.cancelled.append((seconds_now(), value))
            with anyio.CancelScope(shield=True):
                await anyio.sleep(self.clean_up)
            raise
        finally:
            self.running.remove(value)
        return [value]


@pytest.fixture
def sleeper() -> Sleeper:
    """A function that takes as long as its value says."""
    return Sleeper()


@pytest.fixture
def read() -> Callable[..., Any]:
    """Reads results to the end; returns each (a Record's value, or the element) with its time."""

    async def read_all(results: AsyncIterator[Element]) -> list[tuple[float, Any]]:
        return [(seconds_now(), shown(element)) async for element in results]

    return read_all


def shown(element: Element) -> Any:
    """What a test compares an output with."""
    return element.value if isinstance(element, Record) else element
