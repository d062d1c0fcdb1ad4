"""KeyboardInterrupt and SystemExit: they pass, everything is closed, and nothing hangs."""

import asyncio
import gc
import warnings
from typing import Any

import anyio
import pytest
from operators import INTERRUPTIONS, Sleeper, Source, in_threads

from asyncwait.conformance.harness import VirtualLoop
from asyncwait.spec import Element, OpenOperator, OperatorConfig, ResultFuture
from asyncwait.toolkit import running_trio

CALLBACK_PLACES = {"invoke", "supplier", "supplier in a thread"}
PLACES = [
    "call at once",
    "call later",
    "call in a group",
    "call cancelled",
    "results",
    "handler",
    "invoke",
    "supplier",
    "supplier in a thread",
    "source at once",
    "source later",
    "closing the source",
    "open",
    "close",
    "body",
]


class Program:
    def __init__(self, open_operator: OpenOperator, place: str, error: BaseException) -> None:
        self.open_operator = open_operator
        self.place = place
        self.error = error
        self.log: list[str] = []
        self.running = 0
        self.called: list[str] = []

    def at(self, place: str) -> None:
        if place == self.place:
            raise self.error

    async def call(self, value: str) -> Any:
        self.called.append(value)
        self.running += 1
        try:
            self.at("call at once")
            await anyio.sleep(1)
            self.at("call later")
            if self.place == "call in a group":
                raise BaseExceptionGroup("of the call", [ValueError(), self.error])
            if self.place == "results" and value == "b":
                return self.results()
            await anyio.sleep_forever()
        finally:
            self.running -= 1
            if value == "b":
                self.at("call cancelled")

    def results(self) -> Any:
        yield 1
        self.at("results")

    def invoke(self, value: str, result: ResultFuture) -> None:
        self.at("invoke")
        if self.place == "supplier":
            supply: Any = lambda: self.at("supplier")  # noqa: E731 - it gives nothing
            result.complete_with(supply)
        elif self.place in CALLBACK_PLACES:
            supply: Any = lambda: self.at("supplier in a thread")  # noqa: E731 - it gives nothing
            in_threads(lambda: result.complete_with(supply))

    def function(self) -> Any:
        program = self

        class Parts:
            async def __call__(self, value: str) -> Any:
                return await program.call(value)

            def timeout(self, value: str) -> list[str]:
                program.at("handler")
                return []

            async def open(self) -> None:
                await anyio.sleep(1)
                program.log.append("open")
                program.at("open")

            async def close(self) -> None:
                await anyio.sleep(1)
                program.log.append("close")
                program.at("close")

        parts: Any = Parts()
        if self.place in CALLBACK_PLACES:
            parts.async_invoke = self.invoke
        return parts

    def source(self) -> Source:
        program = self

        class Raising(Source):
            async def __anext__(self) -> Element:
                program.at("source at once")
                return await super().__anext__()

            async def aclose(self) -> None:
                await super().aclose()
                program.log.append("closed")
                program.at("closing the source")

        later = [0.5, self.error] if self.place == "source later" else []
        return Raising("a", "b", *later, 99)

    async def run(self) -> None:
        if running_trio() is None:
            # asyncio itself says what ends the loop, and once is enough.
            asyncio.get_running_loop().set_exception_handler(lambda *_: None)
        config = OperatorConfig(timeout=3)
        async with self.open_operator(config, self.function(), self.source()) as results:
            if self.place in {"body", "close", "closing the source", "call cancelled"}:
                await anyio.sleep(1.5)
                self.at("body")
            else:
                await anext(results)


@pytest.mark.all_profiles
@pytest.mark.parametrize("kind", INTERRUPTIONS)
@pytest.mark.parametrize("place", PLACES)
def test_what_is_meant_for_the_program_passes_and_everything_is_closed(
    open_operator: OpenOperator,
    anyio_backend: tuple[str, dict[str, Any]],
    place: str,
    kind: type[BaseException],
) -> None:
    name, options = anyio_backend
    error = kind("over")
    program = Program(open_operator, place, error)

    with pytest.raises(kind) as caught:
        anyio.run(program.run, backend=name, backend_options=options)

    assert caught.value is error
    if place == "call at once":
        assert program.called == ["a"]
    assert program.running == 0
    assert program.log.count("closed") == 1
    assert program.log == (["open", "closed"] if place == "open" else ["open", "closed", "close"])


@pytest.mark.parametrize("turns", range(6))
def test_a_task_that_never_begins_leaves_nothing_behind(
    open_operator: OpenOperator, turns: int
) -> None:
    """An interruption cancels the tasks of its turn, which asyncio then never runs."""

    def interrupt(turns: int) -> None:
        if turns == 0:
            raise KeyboardInterrupt
        asyncio.get_running_loop().call_soon(interrupt, turns - 1)

    async def run() -> None:
        asyncio.get_running_loop().call_soon(interrupt, turns)
        config = OperatorConfig(capacity=3, timeout=1)
        async with open_operator(config, Sleeper(), Source("a1", "b1", "c1")) as results:
            await anext(results)

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with pytest.raises(KeyboardInterrupt), asyncio.Runner(loop_factory=VirtualLoop) as runner:
            runner.run(run())
        gc.collect()

    assert [str(warning.message) for warning in warned] == []
