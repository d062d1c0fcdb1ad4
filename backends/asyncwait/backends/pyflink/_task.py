"""The task that PyFlink's operation is in: what it does to it, on the loop's side."""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable
from contextvars import copy_context
from typing import TYPE_CHECKING

from asyncwait.backends.flink._task import ForeignTask
from asyncwait.backends.pyflink._function import CalledFunction
from asyncwait.backends.pyflink._side import PyFlinkSide
from asyncwait.backends.pyflink._stage import Stage
from asyncwait.reference import TimerService
from asyncwait.spec import Element, OperatorConfig, Stored
from asyncwait.toolkit import FunctionParts, run_hook

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


class PyFlinkTask(ForeignTask):
    """Feeds PyFlink's operation, and lets its threads run."""

    def __init__(
        self,
        parts: Parts,
        config: OperatorConfig,
        function: FunctionParts,
        elements: AsyncIterable[Element],
        stored: tuple[Stored, ...],
    ) -> None:
        super().__init__(parts, config, stored)
        self._stage = Stage(LoopClock(self.clock, self.timers), self.look)
        called = CalledFunction(function, self.spawn, self.look)
        self._side = PyFlinkSide(config, called, self._stage)
        self.connect(parts, elements, self._side, called)

    async def open(self) -> None:
        """Run the function's own `open`; the thread that feeds PyFlink sees what it has set."""
        await run_hook(self.function.parts.open)
        self._stage.start(self._side.live, copy_context())

    def stop(self) -> None:
        """Leave nothing running: no thread, no timer, no call, no reader."""
        self._stage.end()
        super().stop()

    def go_on(self) -> bool:
        """Let the threads run; return whether one did."""
        self._feed()
        has_run = self._stage.run()
        if self._side.failure is not None:
            raise self._side.failure
        if has_run:
            self.output.tell()
        self._let_read()
        return has_run

    def _feed(self) -> None:
        """Give PyFlink what comes next, if it has nothing to do."""
        if not self._side.is_idle:
            return
        if self.backlog:
            self._side.process(self.backlog.popleft())
        elif self.ended is not None:
            self._side.end_input()

    def _let_read(self) -> None:
        """Let the next element be taken, when the last one has found room."""
        if self._side.is_idle and not self.backlog:
            self.source.proceed()
