"""The scripted source: gives each element when its time has come, and notes who asks."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable
from typing import Any, Self, cast

import anyio

from asyncwait.conformance.harness._recorder import Recorder
from asyncwait.spec import CallFailed, Element, Record
from asyncwait.spec.scenario import (
    LegStart,
    Scenario,
    SourceAsked,
    SourceClosed,
    SourceEnded,
    Taken,
)


class PlannedSourceError(Exception):
    """The error that the source raises where a scenario says so."""


def planned_source_error(scenario: Scenario) -> BaseException | None:
    """Return what the source of `scenario` raises in place of its end; None if it just ends."""
    match scenario.source_error:
        case "own":
            return PlannedSourceError("planned")
        case "contract":
            return CallFailed(Record("of an operator before"), "planned")
        case "cancelled":
            return asyncio.CancelledError("planned")
        case "interrupt":
            return KeyboardInterrupt("planned")
        case _:
            return None


class WatchedSource:
    """A source that notes who asks and what it gives.

    It blocks the loop where the plan says so. As with an async generator, nobody may ask or close
    while somebody waits.

    Args:
        elements: where they come from; a cancelled `__anext__` of it must lose nothing.
    """

    def __init__(
        self,
        elements: AsyncIterator[Element],
        plan: LegStart,
        recorder: Recorder,
        error: BaseException | None,
    ) -> None:
        self._elements = elements
        self._plan = plan
        self._recorder = recorder
        self._error = error
        self._given = 0
        self._asked = False
        self._is_closed = self._has_ended = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Element:
        """Return the next element."""
        self._refuse_company("__anext__")
        self._asked = True
        try:
            return await self._give()
        finally:
            self._asked = False

    async def _give(self) -> Element:
        recorder = self._recorder
        recorder.events.append(SourceAsked(recorder.now()))
        if recorder.contexts is not None:
            recorder.contexts.source_looks()
        try:
            element = await self._elements.__anext__()
        except anyio.get_cancelled_exc_class():
            recorder.misused("interrupted", "the read of the source")
            raise
        except StopAsyncIteration:
            ended: Element = self._end()
            return ended
        recorder.block(self._plan.inputs[self._given].blocks)
        recorder.events.append(Taken(recorder.now(), self._plan.first_index + self._given))
        self._given += 1
        return recorder.tracker.given(element)

    def _end(self) -> Element:
        """End as planned: there is no further element, or an error, or what is no element."""
        gives_none = self._plan.scenario.source_error == "no-element" and not self._has_ended
        raised = gives_none or self._error is not None
        if not self._has_ended or self._error is not None:
            self._recorder.events.append(SourceEnded(self._recorder.now(), raised))
        self._has_ended = True
        if gives_none:
            return cast("Element", 7)
        if self._error is None:
            raise StopAsyncIteration
        raise self._recorder.planned(self._error, passes=True) from None

    async def aclose(self) -> None:
        """Note that the operator has closed its input, once that is done."""
        self._refuse_company("aclose")
        if self._recorder.contexts is not None:
            self._recorder.contexts.source_closes()
        takes = 0 if self._is_closed else self._plan.scenario.close_takes
        try:
            if takes:
                await anyio.sleep(takes / 1000)
        except anyio.get_cancelled_exc_class():
            if self._recorder.is_cut:
                self._close()
            raise
        self._close()

    def _close(self) -> None:
        self._recorder.events.append(SourceClosed(self._recorder.now()))
        is_closed, self._is_closed = self._is_closed, True
        if self._plan.scenario.close_error and not is_closed:
            raise self._recorder.planned(PlannedSourceError("closing"), passes=True)

    def _refuse_company(self, name: str) -> None:
        if self._asked:
            raise RuntimeError(f"{name}() while another task waits in __anext__()")


class TimedElements:
    """The inputs of a leg: each is given in the instant in which it is due and somebody asks."""

    def __init__(self, plan: LegStart, recorder: Recorder) -> None:
        self._inputs = plan.inputs
        self._ends_at = max(0, plan.scenario.source_ends_at - plan.began_at)
        self._recorder = recorder
        self._next = 0

    def __aiter__(self) -> AsyncIterator[Element]:
        return self

    async def __anext__(self) -> Element:
        """Return the next element when it is due."""
        if self._next == len(self._inputs):
            await self._wait_until(self._ends_at)
            raise StopAsyncIteration
        timed = self._inputs[self._next]
        await self._wait_until(timed.at)
        self._next += 1
        return timed.element

    async def _wait_until(self, at: int) -> None:
        wait = self._recorder.until(at)
        if wait > 0:
            await anyio.sleep(wait / 1000)


class _Iterable:
    """An async iterable that is not its own iterator."""

    def __init__(self, source: WatchedSource) -> None:
        self._source = source

    def __aiter__(self) -> WatchedSource:
        return self._source

    async def aclose(self) -> None:
        await self._source.aclose()


class _Generator:
    """An async generator; a plain one that never began would not notice that it is closed."""

    def __init__(
        self,
        source: WatchedSource,
        generate: Callable[[WatchedSource], AsyncGenerator[Element, None]],
    ) -> None:
        self._source = source
        self._elements = generate(source)
        self._is_closed = False

    def __aiter__(self) -> "_Generator":
        return self

    async def __anext__(self) -> Element:
        return await self._elements.__anext__()

    async def aclose(self) -> None:
        await self._elements.aclose()
        if not self._is_closed:
            self._is_closed = True
            await self._source.aclose()


async def _plainly(source: WatchedSource) -> AsyncGenerator[Element, None]:
    async for element in source:
        yield element


async def _in_a_scope(source: WatchedSource) -> AsyncGenerator[Element, None]:
    """Hold a scope of its own while the operator has the element, as many real sources do."""
    with anyio.CancelScope():
        async for element in source:
            yield element


def given_as(kind: str, source: WatchedSource) -> AsyncIterable[Any]:
    """Return `source` in the form that a scenario wants it in; see `Scenario.source`."""
    match kind:
        case "iterable":
            return _Iterable(source)
        case "generator":
            return _Generator(source, _plainly)
        case "scope":
            return _Generator(source, _in_a_scope)
        case _:
            return source
