"""The scripted source of a leg: it gives each element in time, and notes each read."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from typing import Any, Self

import anyio
from msgspec.json import encode

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


class FalsySourceError(PlannedSourceError):
    """A source error that `if error` and `error or ...` take for no error."""

    def __bool__(self) -> bool:
        return False


FalsySourceError.__name__ = FalsySourceError.__qualname__ = PlannedSourceError.__name__


def planned_source_error(scenario: Scenario) -> BaseException | None:
    """Return the error of the source of `scenario` in place of its end; None for a plain end."""
    match scenario.source_error:
        case "own":
            return PlannedSourceError("planned")
        case "falsy":
            return FalsySourceError("planned")
        case "contract":
            return CallFailed(Record("of an operator before"), "planned")
        case "cancelled":
            return asyncio.CancelledError("planned")
        case "interrupt":
            return KeyboardInterrupt("planned")
        case _:
            return None


class WatchedSource:
    """A source that notes reads and elements.

    It blocks the loop where the plan says so. As with an async generator, no other task may read or
    close it while a task waits for an element.

    Args:
        elements: gives the elements; a cancelled `__anext__` of it must lose nothing.

    Attributes:
        has_ended: it has reported its end, or raised its error instead.
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
        self._is_closed = False
        self.has_ended = False
        self._before: Element | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Element:
        self._refuse_another("__anext__")
        self._asked = True
        try:
            return await self._give()
        finally:
            self._asked = False

    async def _give(self) -> Element:
        recorder = self._recorder
        recorder.events.append(SourceAsked(recorder.now()))
        if recorder.contexts is not None:
            recorder.contexts.source_reads()
        try:
            element = await self._elements.__anext__()
        except anyio.get_cancelled_exc_class():
            recorder.misused("interrupted", "the read of the source")
            raise
        except StopAsyncIteration:
            ended: Element = self._end()
            return ended
        element = self._before = self._the_same(element)
        recorder.block(self._plan.inputs[self._given].blocks)
        recorder.events.append(Taken(recorder.now(), self._plan.first_index + self._given))
        self._given += 1
        return recorder.tracker.given(element)

    def _the_same(self, element: Element) -> Element:
        """Return the previous element itself if it is equal: one object as two inputs."""
        before = self._before
        if before is not None and element == before and encode(element) == encode(before):
            return before  # Encodings distinguish 1 from 1.0 and True.
        return element

    def _end(self) -> Element:
        """End as planned: with the end of the stream, or an error."""
        raised = self._error is not None
        if not self.has_ended or raised:
            self._recorder.events.append(SourceEnded(self._recorder.now(), raised))
        self.has_ended = True
        if self._error is None:
            raise StopAsyncIteration
        raise self._recorder.planned(self._error, passes=True) from None

    async def aclose(self) -> None:
        """Note that the operator has closed its input, once closing has finished."""
        self._refuse_another("aclose")
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
            error = PlannedSourceError("closing")
            raise self._recorder.planned(error, passes=True)

    def _refuse_another(self, name: str) -> None:
        if self._asked:
            raise RuntimeError(f"{name}() while another task waits in __anext__()")


class TimedElements:
    """The inputs of a leg: it gives each input when it is due and a reader waits."""

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
    """An async iterable that is not its own iterator; it is closed after its iterator."""

    def __init__(self, source: WatchedSource) -> None:
        self._source = source
        self._iterator: _Iterator | None = None

    def __aiter__(self) -> "_Iterator":
        self._iterator = _Iterator(self._source)
        return self._iterator

    async def aclose(self) -> None:
        if self._iterator is None or self._iterator.is_closed:
            await self._source.aclose()


class _Iterator:
    def __init__(self, source: WatchedSource) -> None:
        self._source = source
        self.is_closed = False

    def __aiter__(self) -> "_Iterator":
        return self

    async def __anext__(self) -> Element:
        return await self._source.__anext__()

    async def aclose(self) -> None:
        self.is_closed = True


class _Generator:
    """An async generator that notices its closing even if it has never begun.

    The object itself carries out what a `finally` in the generator would await: while it waits for
    an element, its cancelled read cleans up.
    """

    def __init__(self, source: WatchedSource) -> None:
        self._source = source
        self._elements = self._cleaning_up(_plainly(source))
        self._is_closed = False

    def __aiter__(self) -> "_Generator":
        return self

    async def __anext__(self) -> Element:
        return await self._elements.__anext__()

    async def aclose(self) -> None:
        await self._elements.aclose()
        await self._clean_up()

    async def _cleaning_up(
        self, elements: AsyncGenerator[Element, None]
    ) -> AsyncGenerator[Element, None]:
        cancelled = anyio.get_cancelled_exc_class()
        try:
            async for element in elements:
                yield element
        except (cancelled, GeneratorExit):
            await elements.aclose()
            if self._source.has_ended:  # The cancellation is then its planned error.
                raise
            # On trio a clean-up has to be shielded; on asyncio it usually is not.
            with anyio.CancelScope(shield=cancelled is not asyncio.CancelledError):
                await self._clean_up()
            raise

    async def _clean_up(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            await self._source.aclose()


async def _plainly(source: WatchedSource) -> AsyncGenerator[Element, None]:
    async for element in source:
        yield element


def given_as(kind: str, source: WatchedSource) -> AsyncIterable[Any]:
    """Return `source` in the form that a scenario demands; see `Scenario.source`."""
    match kind:
        case "iterable":
            return _Iterable(source)
        case "generator":
            return _Generator(source)
        case _:
            return source
