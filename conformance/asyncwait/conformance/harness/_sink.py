"""The scripted consumer: reads, pauses, gives up, leaves; notes what it gets."""

import asyncio
import math
from collections.abc import Iterator
from typing import Any

import anyio

from asyncwait.conformance.harness._recorder import Recorder
from asyncwait.spec import OperatorError
from asyncwait.spec.scenario import Ending, SinkGaveUp, SinkLeft, SinkStep, SinkTook, SinkWaits


class ScriptedSink:
    """Reads the results of an operator by a script, then to the end.

    Args:
        script: the steps.
        recorder: notes what happens.
        source_error: to see whether it comes out unchanged.
    """

    def __init__(
        self,
        script: tuple[SinkStep, ...],
        recorder: Recorder,
        source_error: BaseException | None,
    ) -> None:
        self._script = script
        self._recorder = recorder
        self._source_error = source_error
        self._raised: BaseException | None = None

    async def consume(self, results: Any) -> Ending:
        """Read until the end, a failure, or the script leaves; return how it ended."""
        for step in self._steps():
            if step.does == "pause":
                await anyio.sleep(step.n / 1000)
            elif step.does == "leave":
                self._recorder.events.append(SinkLeft(self._recorder.now()))
                return Ending("left", self._recorder.now())
            elif step.does == "give_up":
                with anyio.move_on_after(step.n / 1000) as scope:
                    if (ending := await self._read(results)) is not None:
                        return ending
                if scope.cancelled_caught:
                    self._recorder.events.append(SinkGaveUp(self._recorder.now()))
            elif (ending := await self._read(results)) is not None:
                return ending
        raise AssertionError("the script never ends before the stream")

    async def again(self, results: Any) -> str:
        """Return what one more `__anext__` gives: "stop", "same", or a description."""
        try:
            element = await results.__anext__()
        except StopAsyncIteration:
            return "stop"
        except BaseException as error:
            if _is_for_the_harness(error):
                raise
            return "same" if error is self._raised else f"raised {type(error).__name__}"
        return f"gave {element}"

    def _steps(self) -> Iterator[SinkStep]:
        for step in self._script:
            if step.does == "read":
                yield from [step] * step.n
            else:
                yield step
        while True:
            yield SinkStep("read", 1)

    async def _read(self, results: Any) -> Ending | None:
        recorder = self._recorder
        recorder.events.append(SinkWaits(recorder.now()))
        try:
            element = await results.__anext__()
        except StopAsyncIteration:
            return Ending("finished", recorder.now())
        except BaseException as error:
            if _is_for_the_harness(error):
                raise
            self._raised = error
            return self._failure(error)
        recorder.events.append(SinkTook(recorder.now(), element))
        return None

    def _failure(self, error: BaseException) -> Ending:
        return describe_failure(error, self._recorder.now(), self._source_error)


def _is_for_the_harness(error: BaseException) -> bool:
    """Whether it is no failure of the operator: the program ends, or the harness cancels.

    A CancelledError that nobody asked for is one: the operator let it out of a call.
    """
    if isinstance(error, anyio.get_cancelled_exc_class()):
        return anyio.current_effective_deadline() == -math.inf
    return not isinstance(error, Exception | asyncio.CancelledError)


def describe_failure(
    error: BaseException, at: float, source_error: BaseException | None = None
) -> Ending:
    """Return the ending of a leg whose consumer got `error` at the time `at` (ms)."""
    return Ending(
        "failed",
        at,
        error=type(error).__name__,
        record=error.record if isinstance(error, OperatorError) else None,
        cause="" if error.__cause__ is None else type(error.__cause__).__name__,
        unchanged=error is source_error,
        detail=str(error),
    )
