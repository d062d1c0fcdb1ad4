"""Opening PyFlink's operation as any other operator, with a task that feeds it."""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from asyncwait.backends.flink._open import FlinkStream
from asyncwait.backends.flink._retries import require_sayable
from asyncwait.backends.flink._task import ForeignTask
from asyncwait.backends.pyflink._function import CalledFunction
from asyncwait.backends.pyflink._load import require_pyflink
from asyncwait.backends.pyflink._side import PyFlinkSide
from asyncwait.backends.pyflink._stage import Stage
from asyncwait.reference import REFERENCE, TimerService
from asyncwait.spec import Element, InvalidConfig, OperatorConfig, Snapshot
from asyncwait.spec.snapshots import Stored
from asyncwait.toolkit import FunctionParts, run_hook

if TYPE_CHECKING:
    from asyncwait.reference import Parts


class LoopClock:
    """The loop's time and timers."""

    def __init__(self, now: Callable[[], float], timers: TimerService) -> None:
        self.time, self._timers = now, timers

    def register(self, when: float, callback: Callable[[], object]) -> Callable[[], object]:
        """Call `callback` at a time; return a function that cancels it."""
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
        """Run the function's own `open`; the thread that feeds PyFlink sees its variables."""
        await run_hook(self.function.parts.open)
        self._stage.start(self._side.live, copy_context())

    def stop(self) -> None:
        """Stop the threads, timers, calls and the reader."""
        self._stage.end()
        super().stop()

    def go_on(self) -> bool:
        """Let the threads run; return whether a thread ran."""
        self._feed()
        has_run = self._stage.run()
        if self._side.failure is not None:
            raise self._side.failure
        if has_run:
            self.output.tell()
        self._let_read()
        return has_run

    def _feed(self) -> None:
        """Give PyFlink the next element, or the end, if it is idle."""
        if not self._side.is_idle:
            return
        if self.backlog:
            self._side.process(self.backlog.popleft())
        elif self.ended is not None:
            self._side.end_input()

    def _let_read(self) -> None:
        if self._side.is_idle and not self.backlog:
            self.source.proceed()


_PARTS = replace(REFERENCE, stream=FlinkStream, task=PyFlinkTask)


def open_operator(
    config: OperatorConfig,
    fn: Any,
    elements: AsyncIterable[Element],
    restore: Snapshot | None = None,
) -> FlinkStream:
    """Open PyFlink's operation; see `asyncwait.spec.OpenOperator`.

    Raises:
        InvalidConfig: an argument is invalid, or PyFlink has no such option.
        MissingExtra: the extra `pyflink` is not installed.
        PyFlinkUnavailable: another release of PyFlink is installed.
    """
    if isinstance(config, OperatorConfig):
        config.require_only("PyFlink's operation", "retry")
        require_sayable(config.retry)
        if config.mode == "key-ordered":
            expected = '"ordered" or "unordered"; PyFlink has no order by key'
            raise InvalidConfig.of("mode", config.mode, expected)
    if restore is not None:
        raise InvalidConfig.of("restore", restore, "None: PyFlink stores nothing (PY-10)")
    require_pyflink()
    return FlinkStream(_PARTS, config, fn, elements, restore)
