"""What the tests of the reference share: virtual clocks, scripted sources, a way to read."""

from collections.abc import AsyncIterator, Callable
from typing import Any, TypeAlias

import anyio
import pytest
from trio.testing import MockClock

from asyncwait.conformance.harness import VirtualLoop
from asyncwait.spec import Element

Feed: TypeAlias = Callable[..., AsyncIterator[Element]]
Timeline: TypeAlias = list[tuple[float, Any]]


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """Both loops, each on a clock of its own that starts at 0 and jumps to the next timer."""
    if request.param == "asyncio":
        return "asyncio", {"loop_factory": VirtualLoop}
    return "trio", {"clock": MockClock(autojump_threshold=0)}


@pytest.fixture
def feed() -> Feed:
    """A source: gives its arguments in turn, sleeps for a number, raises an exception."""

    async def give(*items: Any) -> AsyncIterator[Element]:
        for item in items:
            if isinstance(item, int | float):
                await anyio.sleep(item)
            elif isinstance(item, BaseException):
                raise item
            else:
                yield item

    return give


@pytest.fixture
def read() -> Callable[..., Any]:
    """Reads results to the end; returns each with the time at which it came."""

    async def read_all(results: AsyncIterator[Element]) -> Timeline:
        return [(round(anyio.current_time(), 6), element) async for element in results]

    return read_all
