"""Operators of their own mechanism: how they open and leave where no scenario goes so far."""

import ast
import asyncio
import inspect
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
import trio
from odd import ODD
from odd import sound as package

from asyncwait.backends.faulty import Variation
from asyncwait.conformance.harness import run_virtual
from asyncwait.spec import OperatorConfig, Record

SOUND = [odd for odd in ODD if odd.change.__module__.startswith(package.__name__)]
ON_ASYNCIO = [odd for odd in SOUND if odd.loop == "asyncio"]
ON_TRIO = [odd for odd in SOUND if odd.loop == "trio"]
MODULES = sorted(Path(inspect.getfile(package)).parent.glob("*.py"))


each = pytest.mark.parametrize("odd", SOUND, ids=lambda odd: odd.name)
each_on_asyncio = pytest.mark.parametrize("odd", ON_ASYNCIO, ids=lambda odd: odd.name)
each_on_trio = pytest.mark.parametrize("odd", ON_TRIO, ids=lambda odd: odd.name)
each_module = pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)


class Source:
    """Gives one record and then nothing, until it is cancelled."""

    def __init__(self, trouble: Exception | None = None) -> None:
        self.trouble = trouble
        self.closed: list[float] = []
        self._given = False

    def __aiter__(self) -> AsyncIterator[Record]:
        return self

    async def __anext__(self) -> Record:
        if self._given:
            await anyio.sleep_forever()
        self._given = True
        return Record("a")

    async def aclose(self) -> None:
        """Note when, and raise what there is."""
        self.closed.append(seconds())
        if self.trouble is not None:
            raise self.trouble


class Service:
    """Never answers; a cancelled call cleans up for two seconds."""

    def __init__(self) -> None:
        self.log: list[tuple[str, float]] = []

    async def __call__(self, _: Any) -> list[Any]:
        """Wait to be cancelled."""
        try:
            await anyio.sleep_forever()
        finally:
            self.note("cancelled")
            with anyio.CancelScope(shield=True):
                await anyio.sleep(2)
            self.note("cleaned up")
        return []

    def timeout(self, value: Any) -> list[Any]:
        """Give a substitute."""
        return [f"no {value}"]

    def close(self) -> None:
        """Note when."""
        self.note("closed")

    def note(self, what: str) -> None:
        """Write down what happens, and when."""
        self.log.append((what, seconds()))


def seconds() -> float:
    """The time of the loop, without rounding errors."""
    return round(anyio.current_time(), 6)


def played(odd: Variation, body: Callable[[], Awaitable[Any]]) -> Any:
    """Run `body` on the operator's loop, on a virtual clock."""
    return run_virtual(lambda _: body(), odd.loop)


def consumed(
    odd: Variation, service: Any, source: Any, timeout: float | None = None
) -> Awaitable[list[Any]]:
    """Open an operator, and read all that it gives."""

    async def consume() -> list[Any]:
        async with odd.open_operator(OperatorConfig(timeout=timeout), service, source) as results:
            return [element async for element in results]

    return consume()


@each_on_asyncio
def test_a_cancelled_task_leaves_when_its_calls_have_cleaned_up(odd: Variation) -> None:
    """A single `task.cancel()` is enough, and the clean-up takes its time."""
    service, source = Service(), Source()

    async def body() -> float:
        task = asyncio.ensure_future(consumed(odd, service, source))
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return seconds()

    assert played(odd, body) == 3
    assert service.log == [("cancelled", 1), ("cleaned up", 3), ("closed", 3)]
    assert len(source.closed) == 1


@each_on_asyncio
def test_no_further_cancellation_cuts_the_clean_up_short(odd: Variation) -> None:
    """Whoever is impatient waits all the same: what was opened round it stays open till then."""
    service, source = Service(), Source()

    async def body() -> None:
        task = asyncio.ensure_future(consumed(odd, service, source))
        for _ in range(2):
            await asyncio.sleep(1)
            task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    played(odd, body)
    assert service.log == [("cancelled", 1), ("cleaned up", 3), ("closed", 3)]


@each_on_asyncio
def test_a_timeout_round_it_is_a_timeout(odd: Variation) -> None:
    """`asyncio.timeout` finds its cancellation again and makes a TimeoutError of it."""
    service = Service()

    async def body() -> None:
        async with asyncio.timeout(1):
            await consumed(odd, service, Source())

    with pytest.raises(TimeoutError):
        played(odd, body)
    assert service.log[-1] == ("closed", 3)


@each
def test_a_late_call_is_cancelled_once(odd: Variation) -> None:
    """Leaving does not disturb the clean-up of a call that was cancelled at its deadline."""
    service = Service()

    async def body() -> Any:
        config = OperatorConfig(timeout=1)
        async with odd.open_operator(config, service, Source()) as results:
            first = await anext(results)
            await anyio.sleep(1)
        return first, seconds()

    assert played(odd, body) == (Record("no a"), 3)
    assert service.log == [("cancelled", 1), ("cleaned up", 3), ("closed", 3)]


@each_on_trio
def test_a_cancelled_scope_is_left_when_calls_have_cleaned_up(odd: Variation) -> None:
    """The scope round the operator catches its own cancellation, after the clean-up."""
    service, source = Service(), Source()

    async def body() -> tuple[bool, float]:
        with trio.move_on_after(1) as scope:
            await consumed(odd, service, source)
        return scope.cancelled_caught, seconds()

    assert played(odd, body) == (True, 3)
    assert service.log == [("cancelled", 1), ("cleaned up", 3), ("closed", 3)]
    assert len(source.closed) == 1


@each_on_trio
def test_a_shielded_consumer_does_not_wait_for_ever(odd: Variation) -> None:
    """A cancellation from outside ends the operator, and whoever still waits for it is told."""

    async def body() -> None:
        config = OperatorConfig()
        with trio.CancelScope() as scope:
            async with odd.open_operator(config, Service(), Source()) as results:
                scope.cancel()
                with (
                    trio.CancelScope(shield=True),
                    pytest.raises(RuntimeError, match="cancelled from outside"),
                ):
                    await anext(results)

    played(odd, body)


@each
def test_what_closing_the_source_raises_comes_out(odd: Variation) -> None:
    """Plainly where nothing else went wrong, or as a note on what did."""

    async def leave(error: Exception | None) -> None:
        trouble = ValueError("not closed")
        async with odd.open_operator(OperatorConfig(), Service(), Source(trouble)):
            if error is not None:
                raise error

    with pytest.raises(ValueError, match="not closed"):
        played(odd, lambda: leave(None))
    with pytest.raises(LookupError, match="mine") as raised:
        played(odd, lambda: leave(LookupError("mine")))
    assert "not closed" in raised.value.__notes__[0]


@each
def test_an_open_that_raises_closes_the_source(odd: Variation) -> None:
    """Nothing was entered, and nothing is left open."""
    service, source = Service(), Source()

    def fail() -> None:
        raise LookupError("no connection")

    service.open = fail  # type: ignore[attr-defined]
    with pytest.raises(LookupError, match="no connection"):
        played(odd, lambda: consumed(odd, service, source))
    assert source.closed == [0]
    assert service.log == []


@each
def test_what_is_for_the_whole_program_passes(odd: Variation) -> None:
    """A KeyboardInterrupt in a call ends the program, and is nobody's CallFailed."""

    async def interrupted(_: Any) -> list[Any]:
        await anyio.sleep(1)
        raise KeyboardInterrupt

    source = Source()
    with pytest.raises(KeyboardInterrupt):
        played(odd, lambda: consumed(odd, interrupted, source))
    assert len(source.closed) == 1


@each
def test_a_second_reader_is_refused(odd: Variation) -> None:
    """There is one consumer; the second gets an error, and the first loses nothing."""

    async def body() -> list[Any]:
        got: list[Any] = []

        async def first() -> None:
            got.append(await anext(results))

        async with (
            odd.open_operator(OperatorConfig(timeout=1), Service(), Source()) as results,
            anyio.create_task_group() as readers,
        ):
            readers.start_soon(first)
            await anyio.wait_all_tasks_blocked()
            with pytest.raises(RuntimeError, match="there is one consumer"):
                await anext(results)
        return got

    assert played(odd, body) == [Record("no a")]


@each_module
def test_it_is_written_from_the_contract_alone(module: Path) -> None:
    """No anyio, no reference, no pool: the standard library, trio, the contract and its toolkit."""
    allowed = {*sys.stdlib_module_names, "trio"}
    names = [name for name in _imports(module) if name.partition(".")[0] not in allowed]

    own = ("asyncwait.spec", "asyncwait.toolkit", package.__name__)
    assert [name for name in names if not name.startswith(own)] == []


def _imports(module: Path) -> list[str]:
    names: list[str] = []
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
    return names
