"""The scripted source: gives each element when its time has come, and notes who asks."""

import anyio

from asyncwait.conformance.harness._recorder import Recorder
from asyncwait.spec import Element
from asyncwait.spec.scenario import SourceAsked, SourceClosed, SourceEnded, Taken, Timed


class PlannedSourceError(Exception):
    """The error that the source raises where a scenario says so."""


class ScriptedSource:
    """An async iterator over planned elements.

    An element is handed over in the instant in which both it is due and somebody asks. A
    cancelled `__anext__` loses nothing: the element is given to the next one who asks. As with an
    async generator, nobody may ask or close while somebody waits.

    Args:
        inputs: what to give; times since the leg began.
        ends_at: ms; the end is not reported before.
        error: raised in place of the end.
        recorder: notes what happens.
        first_index: number of the first element of `inputs` in the scenario.
    """

    def __init__(
        self,
        inputs: tuple[Timed, ...],
        ends_at: int,
        error: BaseException | None,
        recorder: Recorder,
        first_index: int,
    ) -> None:
        self._inputs = inputs
        self._ends_at = ends_at
        self._error = error
        self._recorder = recorder
        self._first_index = first_index
        self._next = 0
        self._asked = False

    def __aiter__(self) -> "ScriptedSource":
        return self

    async def __anext__(self) -> Element:
        """Return the next element when it is due."""
        self._refuse_company("__anext__")
        self._asked = True
        try:
            return await self._give()
        finally:
            self._asked = False

    async def _give(self) -> Element:
        recorder = self._recorder
        recorder.events.append(SourceAsked(recorder.now()))
        if self._next == len(self._inputs):
            await self._wait_until(self._ends_at)
            recorder.events.append(SourceEnded(recorder.now(), self._error is not None))
            raise self._error or StopAsyncIteration
        timed = self._inputs[self._next]
        await self._wait_until(timed.at)
        recorder.events.append(Taken(recorder.now(), self._first_index + self._next))
        self._next += 1
        return timed.element

    async def aclose(self) -> None:
        """Note that the operator has closed its input."""
        self._refuse_company("aclose")
        self._recorder.events.append(SourceClosed(self._recorder.now()))

    def _refuse_company(self, name: str) -> None:
        if self._asked:
            raise RuntimeError(f"{name}() while another task waits in __anext__()")

    async def _wait_until(self, at: int) -> None:
        wait = at - self._recorder.now()
        if wait > 0:
            await anyio.sleep(wait / 1000)
