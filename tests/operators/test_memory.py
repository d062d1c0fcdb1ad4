"""What was emitted is not kept: neither records nor results, also while the operator waits."""

import gc
import weakref
from collections.abc import AsyncIterator, Iterator
from typing import Any

import anyio
import pytest
from operators import block, turns

from asyncwait.spec import (
    MODES,
    Element,
    Mode,
    OpenOperator,
    OperatorConfig,
    Record,
    ResultFuture,
    Snapshot,
    Watermark,
)

pytestmark = pytest.mark.anyio


class Value:
    """A value that can be watched.

    Args:
        seconds: how long its call takes.
    """

    def __init__(self, seconds: float = 0) -> None:
        self.seconds = seconds


class Watched:
    """Makes values and results, and knows which are alive."""

    def __init__(self) -> None:
        self.references: list[weakref.ref[Value]] = []

    def make(self, seconds: float = 0) -> Value:
        """Make a value, and keep nothing but a weak reference."""
        value = Value(seconds)
        self.references.append(weakref.ref(value))
        return value

    async def __call__(self, value: Value) -> list[Value]:
        """Take as long as the value says, and answer with two new ones."""
        if value.seconds:
            await anyio.sleep(value.seconds)
        return [self.make(), self.make()]

    def alive(self) -> int:
        """Count what has not died, with what only the collector would find."""
        return sum(reference() is not None for reference in self.references)


@pytest.fixture(autouse=True)
def no_collector() -> Iterator[None]:
    """Nothing may wait for the collector of cycles: it comes late where little is allocated."""
    gc.disable()
    yield
    gc.enable()


async def drop(results: Any, count: int) -> None:
    """Read, and keep nothing."""
    for _ in range(count):
        await anext(results)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("limit", [None, 99], ids=["no timeout", "timeout"])
@pytest.mark.parametrize("seconds", [0, 1], ids=["at once", "later"])
async def test_what_was_emitted_dies_while_the_source_is_silent(
    open_operator: OpenOperator, mode: Mode, limit: float | None, seconds: float
) -> None:
    """Values, results and keys; the operator waits, and has nothing any more."""
    watched = Watched()

    async def source() -> AsyncIterator[Element]:
        for number in range(20):
            yield Record(watched.make(seconds), number, watched.make())
        await anyio.sleep(50)

    async with open_operator(OperatorConfig(mode, 7, limit), watched, source()) as results:
        await drop(results, 40)
        await turns(20)
        assert len(watched.references) == 80
        assert watched.alive() == 0


@pytest.mark.parametrize("mode", MODES)
async def test_what_was_emitted_dies_behind_fences(open_operator: OpenOperator, mode: Mode) -> None:
    """What was finished early and parked is let go when its segment has come."""
    watched = Watched()

    async def source() -> AsyncIterator[Element]:
        yield Record(watched.make(3))
        yield Watermark(1)
        for _ in range(9):
            yield Record(watched.make(1))
        await anyio.sleep(50)

    async with open_operator(OperatorConfig(mode), watched, source()) as results:
        await drop(results, 21)
        await turns(20)
        assert watched.alive() == 0


async def test_what_was_emitted_dies_while_others_run(open_operator: OpenOperator) -> None:
    """A call that takes for ever keeps its own record, and no other."""
    watched = Watched()

    async def source() -> AsyncIterator[Element]:
        yield Record(watched.make(10**6))
        for _ in range(30):
            yield Record(watched.make(1))
        await anyio.sleep(50)

    async with open_operator(OperatorConfig("unordered", 5, 10**7), watched, source()) as results:
        await drop(results, 60)
        await turns(20)
        assert watched.alive() == 1


@pytest.mark.parametrize("mode", MODES)
async def test_what_was_emitted_dies_while_a_later_call_runs(
    open_operator: OpenOperator, mode: Mode
) -> None:
    """Whatever the two calls share, a task for example."""
    watched = Watched()

    async def source() -> AsyncIterator[Element]:
        yield Record(watched.make())
        await anyio.sleep(1)
        yield Record(watched.make(10**6))
        await anyio.sleep(50)

    async with open_operator(OperatorConfig(mode), watched, source()) as results:
        await drop(results, 2)
        await anyio.sleep(2)
        assert len(watched.references) == 4
        assert watched.alive() == 1


@pytest.mark.parametrize("mode", MODES)
async def test_records_without_results_die(open_operator: OpenOperator, mode: Mode) -> None:
    """Nobody takes them."""
    watched = Watched()

    async def fn(value: Value) -> list[Any]:
        return []

    async def source() -> AsyncIterator[Element]:
        for _ in range(20):
            yield Record(watched.make())
        await anyio.sleep(50)

    async with open_operator(OperatorConfig(mode, 3), fn, source()) as results:
        with anyio.move_on_after(5):
            await anext(results)
        assert watched.alive() == 0


@pytest.mark.parametrize("stall", [0, 1])
async def test_records_decided_by_their_deadlines_die_when_their_calls_have_ended(
    open_operator: OpenOperator, stall: float
) -> None:
    """A call that is looked after for a while keeps nothing that was emitted."""
    watched = Watched()

    def handler(value: Value) -> list[Value]:
        if stall:
            block(stall)
        return [watched.make()]

    watched.timeout = handler  # type: ignore[attr-defined]

    async def source() -> AsyncIterator[Element]:
        for _ in range(9):
            yield Record(watched.make(50))
        await anyio.sleep(500)

    async with open_operator(OperatorConfig("ordered", 3, 1), watched, source()) as results:
        await drop(results, 9)
        await anyio.sleep(1)
        assert watched.alive() == 0


async def test_the_callback_form_keeps_nothing(open_operator: OpenOperator) -> None:
    """A client that drops its futures drops the records with them."""
    watched = Watched()

    class Client:
        def async_invoke(self, value: Value, result: ResultFuture) -> None:
            result.complete([watched.make()])

    async def source() -> AsyncIterator[Element]:
        for _ in range(20):
            yield Record(watched.make())
        await anyio.sleep(50)

    async with open_operator(OperatorConfig("ordered", 3, 99), Client(), source()) as results:
        await drop(results, 20)
        await turns(20)
        assert watched.alive() == 0


async def test_what_was_restored_and_emitted_dies(open_operator: OpenOperator) -> None:
    """The snapshot is the user's to keep, not the operator's."""
    watched = Watched()

    async def source() -> AsyncIterator[Element]:
        await anyio.sleep(50)
        yield Watermark(1)

    def stored() -> Snapshot:
        return Snapshot(1, tuple(Record(watched.make()) for _ in range(20)))

    async with open_operator(OperatorConfig("ordered", 3), watched, source(), stored()) as results:
        await drop(results, 40)
        await turns(20)
        assert watched.alive() == 0
