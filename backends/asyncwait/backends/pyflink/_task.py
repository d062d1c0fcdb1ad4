"""The task that PyFlink's operation is in: what it does to it, on the loop's side."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterable, Callable
from contextvars import copy_context
from typing import TYPE_CHECKING

import anyio
from anyio.lowlevel import checkpoint

from asyncwait.backends.flink._task import Given
from asyncwait.backends.pyflink._function import CalledFunction
from asyncwait.backends.pyflink._side import PyFlinkSide
from asyncwait.backends.pyflink._stage import Stage
from asyncwait.reference import End, Output, StreamTask, TimerService
from asyncwait.spec import Element, OperatorConfig, Statistics, Stored
from asyncwait.toolkit import FunctionParts, run_hook, running_loop

if TYPE_CHECKING:
    from asyncwait.reference import Parts


class LoopClock:
    """The loop's time and timers."""

    def __init__(self, now: Callable[[], float], timers: TimerService) -> None:
        self.time, self._timers = now, timers

    def register(self, when: float, callback: Callable[[], object]) -> Callable[[], object]:
        """Call back at a time; return what cancels that."""
        timer = self._timers.register(when, callback)
        return lambda: self._timers.cancel(timer)


class PyFlinkTask(StreamTask):
    """Feeds PyFlink's operation, and lets its threads run.

    How it is run, cancelled and ended is the reference's; nothing else of that one is made.
    """

    def __init__(
        self,
        parts: Parts,
        config: OperatorConfig,
        function: FunctionParts,
        elements: AsyncIterable[Element],
        stored: tuple[Stored, ...],
    ) -> None:
        loop = running_loop()
        self.clock, self.config, self.stored = loop.time, config, stored
        self._backlog: deque[Element] = deque()
        self.life = anyio.CancelScope()
        self.tasks = anyio.create_task_group()
        self.timers = parts.timers(loop, lambda run: run(), self.spawn)
        self._stage = Stage(LoopClock(loop.time, self.timers), self.look)
        self._function = CalledFunction(function, self.spawn, self.look)
        self._side = PyFlinkSide(config, self._function, self._stage)
        self.given = Given(self._side.given, self.look)
        self.output: Output = parts.output(self.given, self)  # type: ignore[arg-type]
        self.source = parts.source(elements, self.on_element, self.on_end)
        self.operator = self  # type: ignore[assignment]  # of hooks, to whoever opens it
        self._end: End | None = None
        self._news = anyio.Event()

    # What opens and leaves it

    async def open(self) -> None:
        """Run the function's own `open`; the thread that feeds PyFlink sees what it has set."""
        await run_hook(self._function.parts.open)
        self._stage.start(self._side.live, copy_context())

    async def close(self) -> Exception | None:
        """Run the function's own `close`; return what that raised."""
        try:
            await run_hook(self._function.parts.close)
        except Exception as error:
            return error
        return None

    def stop(self) -> None:
        """Leave nothing running: no thread, no timer, no call, no reader."""
        self._stage.end()
        self.timers.close()
        self.source.stop()
        self._function.cancel()
        self.tasks.cancel_scope.cancel()

    # The loop

    async def work(self) -> None:
        """Go on until the end is told, and then for as long as somebody may ask for more."""
        side = self._side
        while not (side.is_finished and not side.given):
            await checkpoint()
            self._feed()
            has_run = self._stage.run()
            if side.failure is not None:
                raise side.failure
            if has_run:
                self.output.tell()
            self._let_read()
            if not has_run:
                await self._wait_for_news()
        self.output.finish(None if self._end is None else self._end.error)
        await anyio.sleep_forever()

    def _feed(self) -> None:
        """Give PyFlink what comes next, if it has nothing to do."""
        if not self._side.is_idle:
            return
        if self._backlog:
            self._side.process(self._backlog.popleft())
        elif self._end is not None:
            self._side.end_input()

    def _let_read(self) -> None:
        """Let the next element be taken, when the last one has found room."""
        if self._side.is_idle and not self._backlog:
            self.source.proceed()

    def look(self) -> None:
        """Look again what there is to do."""
        self._news.set()

    async def _wait_for_news(self) -> None:
        await self._news.wait()
        self._news = anyio.Event()

    # Input

    def on_element(self, element: Element) -> None:
        """Take in an element of the source."""
        self._backlog.append(element)
        self.look()

    def on_end(self, end: End) -> None:
        """Take note that the input has ended."""
        self._end = end
        self.look()

    # Figures

    def statistics(self) -> Statistics:
        """Return what was counted here; PyFlink counts nothing."""
        function = self._function
        return Statistics(
            calls=function.calls, retries=function.retries, timeouts=function.timeouts
        )
