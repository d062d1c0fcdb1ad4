"""The operators that are shipped, on either loop, and what their tests do with them."""

import threading
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Self

import anyio
import anyio.lowlevel
import pytest
from trio.testing import MockClock

import asyncwait.backends.emitter
import asyncwait.backends.pool
import asyncwait.reference
from asyncwait.conformance.harness import VirtualLoop
from asyncwait.spec import (
    Element,
    Mode,
    OpenOperator,
    OperatorConfig,
    OperatorResults,
    Record,
    ResultFuture,
    Snapshot,
)
from asyncwait.toolkit import PlainWait

OPERATORS: dict[str, OpenOperator] = {
    "reference": asyncwait.reference.open_operator,
    "pool": asyncwait.backends.pool.open_operator,
}
"""Those with all profiles."""

EVERY = {**OPERATORS, "emitter": asyncwait.backends.emitter.open_operator}
"""The same, and the emitter, which has no more than its design needs."""

PLAIN_FORMS: dict[str, dict[Mode, PlainWait]] = {
    "reference": {
        "ordered": asyncwait.reference.ordered_wait,
        "unordered": asyncwait.reference.unordered_wait,
        "key-ordered": asyncwait.reference.key_ordered_wait,
    },
    "pool": {
        "ordered": asyncwait.backends.pool.ordered_wait,
        "unordered": asyncwait.backends.pool.unordered_wait,
        "key-ordered": asyncwait.backends.pool.key_ordered_wait,
    },
}
"""For plain values, as each package has it: the pool does without the detour through records."""

SIDE_BY_SIDE: tuple[Mode, ...] = ("ordered", "unordered")
"""Modes in which records without keys of their own are called beside each other."""

INTERRUPTIONS = [KeyboardInterrupt, SystemExit]


def virtual_loop(name: str) -> tuple[str, dict[str, Any]]:
    if name == "asyncio":
        return name, {"loop_factory": VirtualLoop}
    return name, {"clock": MockClock(autojump_threshold=0)}


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    return virtual_loop(request.param)


def seconds_now() -> float:
    return round(anyio.current_time(), 6)


def in_threads(*jobs: Callable[[], object]) -> None:
    for job in jobs:
        thread = threading.Thread(target=job)
        thread.start()
        thread.join()


def in_a_row(first: OpenOperator, second: OpenOperator) -> Any:
    """Return what opens two operators, the second behind the first, with a function for each."""

    @asynccontextmanager
    async def opened(
        config: OperatorConfig,
        functions: tuple[Any, Any],
        elements: AsyncIterable[Element],
        restore: Snapshot | None = None,
    ) -> AsyncIterator[OperatorResults]:
        upstream = None if restore is None else restore.upstream
        async with (
            first(config, functions[0], elements, upstream) as between,
            second(config, functions[1], between, restore) as results,
        ):
            yield results

    return opened


async def turns(count: int) -> None:
    for _ in range(count):
        await anyio.lowlevel.checkpoint()


async def read_all(results: AsyncIterator[Element]) -> list[Any]:
    return [shown(element) async for element in results]


async def read_timed(results: AsyncIterator[Element]) -> list[tuple[float, Any]]:
    return [(seconds_now(), shown(element)) async for element in results]


def shown(element: Element) -> Any:
    return element.value if isinstance(element, Record) else element


async def failure_of(results: AsyncIterator[Element]) -> BaseException:
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - the tests look at it closely
        async for _ in results:
            pass
    return caught.value


class Changed:
    """The results of an operator, which a subclass changes."""

    def __init__(self, results: Any) -> None:
        self._results = results

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        return await self._results.__anext__()

    def statistics(self) -> Any:
        return self._results.statistics()


def changed(
    results: Any = Changed, leaving: Callable[[], Awaitable[Any]] | None = None
) -> OpenOperator:
    @asynccontextmanager
    async def opened(*arguments: Any) -> AsyncIterator[Any]:
        async with OPERATORS["reference"](*arguments) as given:
            yield results(given)
        if leaving is not None:
            await leaving()

    return opened


class Source:
    """Gives elements (what is none is a record's value), sleeps for a number, raises an exception.

    Attributes:
        clean_up: how many seconds closing takes.
        closing_error: what closing raises then.
        log: "cancelled" for each read that was, "closed" for each time it was closed.
    """

    def __init__(self, *script: Any) -> None:
        self._script = list(script)
        self.clean_up = 0.0
        self.closing_error: BaseException | None = None
        self.log: list[str] = []

    def __aiter__(self) -> AsyncIterator[Element]:
        return self

    async def __anext__(self) -> Element:
        while self._script:
            item = self._script.pop(0)
            if isinstance(item, int | float):
                await self._sleep(item)
            elif isinstance(item, BaseException):
                raise item
            else:
                return item if isinstance(item, Element) else Record(item)
        raise StopAsyncIteration

    async def _sleep(self, seconds: float) -> None:
        try:
            await anyio.sleep(seconds)
        except anyio.get_cancelled_exc_class():
            self.log.append("cancelled")
            raise

    async def aclose(self) -> None:
        if self.clean_up:
            await anyio.sleep(self.clean_up)
        self.log.append("closed")
        if self.closing_error is not None:
            raise self.closing_error


async def echo(value: Any) -> list[Any]:
    return [value]


class Sleeper:
    """A function that sleeps for as long as its value, "a3" for 3 seconds, says.

    Attributes:
        clean_up: how many seconds a cancelled call goes on.
        cancelled: time and value of each cancellation.
        running: the values of the calls that run.
    """

    def __init__(self) -> None:
        self.clean_up = 0.0
        self.cancelled: list[tuple[float, str]] = []
        self.running: list[str] = []

    async def __call__(self, value: str) -> list[str]:
        self.running.append(value)
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


class Callbacks:
    def __init__(self, invoke: Callable[[Any, ResultFuture], object] = lambda *_: None) -> None:
        self.futures: dict[Any, ResultFuture] = {}
        self._invoke = invoke

    def async_invoke(self, value: Any, result: ResultFuture) -> None:
        self.futures[value] = result
        self._invoke(value, result)


class Odd:
    def __init__(self, number: int) -> None:
        self.number = number

    def __hash__(self) -> int:
        return 7

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Odd) or other.number != self.number:
            raise ValueError(self.number)
        return True
