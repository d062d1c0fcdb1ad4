"""The scripted source: gives each element when its time has come, and notes who asks."""

from collections.abc import AsyncIterator
from typing import Self

import anyio

from asyncwait.conformance.harness._recorder import Recorder
from asyncwait.spec import Element
from asyncwait.spec.scenario import LegStart, SourceAsked, SourceClosed, SourceEnded, Taken


class PlannedSourceError(Exception):
    """The error that the source raises where a scenario says so."""


class WatchedSource:
    """A source that notes who asks and what it gives.

    As with an async generator, nobody may ask or close while somebody waits.

    Args:
        elements: where they come from; a cancelled `__anext__` of it must lose nothing.
        recorder: notes what happens.
        first_index: number of the first element in the scenario.
        error: raised in place of the end.
    """

    def __init__(
        self,
        elements: AsyncIterator[Element],
        recorder: Recorder,
        first_index: int,
        error: BaseException | None,
    ) -> None:
        self._elements = elements
        self._recorder = recorder
        self._next = first_index
        self._error = error
        self._asked = False

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
        try:
            element = await self._elements.__anext__()
        except StopAsyncIteration:
            recorder.events.append(SourceEnded(recorder.now(), self._error is not None))
            raise self._error or StopAsyncIteration from None
        recorder.events.append(Taken(recorder.now(), self._next))
        self._next += 1
        return element

    async def aclose(self) -> None:
        """Note that the operator has closed its input."""
        self._refuse_company("aclose")
        self._recorder.events.append(SourceClosed(self._recorder.now()))

    def _refuse_company(self, name: str) -> None:
        if self._asked:
            raise RuntimeError(f"{name}() while another task waits in __anext__()")


class TimedElements:
    """The inputs of a leg: each is given in the instant in which it is due and somebody asks.

    Args:
        plan: of the leg.
        recorder: knows the time.
    """

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
