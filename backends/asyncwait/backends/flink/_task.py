"""The task around Flink's operator, on the loop's side."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterable, Callable
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
from anyio.lowlevel import checkpoint

from asyncwait.backends.flink._operator import kind_of
from asyncwait.backends.flink._side import FlinkSide
from asyncwait.reference import End, Output, StreamTask
from asyncwait.spec import Element, OperatorConfig, Statistics
from asyncwait.spec.snapshots import Stored
from asyncwait.toolkit import FunctionParts, run_hook, running_loop

if TYPE_CHECKING:
    from asyncwait.reference import Parts


class Given:
    """Elements that Flink has emitted and that the consumer has not taken.

    It replaces the queue of the reference's output.
    """

    begun = False

    def __init__(self, elements: deque[Element], on_taken: Callable[[], object]) -> None:
        self._elements = elements
        self._on_taken = on_taken

    def take(self) -> Element | None:
        """Return the next element; None if there is none."""
        if not self._elements:
            return None
        element = self._elements.popleft()
        self._on_taken()
        return element


class ForeignTask(StreamTask):
    """The task of Flink's or PyFlink's operator, which runs, is cancelled and ends like another.

    It makes no other part of the reference's operator. A subclass makes `side`, which holds the
    foreign operator, and `function`, the user's function, and connects them.
    """

    def __init__(self, parts: Parts, config: OperatorConfig, stored: tuple[Stored, ...]) -> None:
        self.loop = loop = running_loop()
        self.clock, self.config, self.stored = loop.time, config, stored
        self.life = anyio.CancelScope()
        self.tasks = anyio.create_task_group()
        self.timers = parts.timers(loop, lambda run: run(), self.spawn)
        self.backlog: deque[Element] = deque()
        self.ended: End | None = None
        self._news = anyio.Event()

    def connect(
        self, parts: Parts, elements: AsyncIterable[Element], side: Any, function: Any
    ) -> None:
        """Connect the two sides with a source and an output."""
        self.side, self.function = side, function
        self.given = Given(side.given, self.look)
        self.output: Output = parts.output(self.given, self)  # type: ignore[arg-type]
        self.source = parts.source(elements, self.on_element, self.on_end)
        self.operator = self  # type: ignore[assignment]  # it runs the hooks itself

    async def close(self) -> Exception | None:
        """Run the function's own `close`; return its error."""
        try:
            await run_hook(self.function.parts.close)
        except Exception as error:
            return error
        return None

    def stop(self) -> None:
        """Stop the threads, timers, calls and the reader."""
        self.timers.close()
        self.source.stop()
        self.function.cancel()
        self.tasks.cancel_scope.cancel()

    # The loop

    async def work(self) -> None:
        """Run until the end has come out, and then wait while the consumer may read again."""
        while not (self.side.is_finished and not self.side.given):
            await checkpoint()
            if not self.go_on():
                await self.wait_for_news()
        self.output.finish(None if self.ended is None else self.ended.error)
        await anyio.sleep_forever()

    def go_on(self) -> bool:
        """Let the operator take one step; return whether it had work."""
        raise NotImplementedError  # Only this step differs between Flink's task and PyFlink's.

    def look(self) -> None:
        """Wake the task to look for work."""
        self._news.set()

    async def wait_for_news(self) -> None:
        """Wait until there may be work."""
        await self._news.wait()
        self._news = anyio.Event()

    # Input

    def on_element(self, element: Element) -> None:
        """Queue an element of the source."""
        self.backlog.append(element)
        self.look()

    def on_end(self, end: End) -> None:
        """Store the end of the input."""
        self.ended = end
        self.look()

    # Figures

    def statistics(self) -> Statistics:
        """Return the figures counted here; neither Flink nor PyFlink counts anything (MT-1)."""
        function = self.function
        return Statistics(
            calls=function.calls, retries=function.retries, timeouts=function.timeouts
        )


class FlinkTask(ForeignTask):
    """Gives Flink's operator its turns: for mails, for input, for the end.

    Each turn does one thing: mails come first, then input, once the output is taken. If the
    operator blocks in a turn, it goes on when a mail comes, or when its output is taken.
    """

    def __init__(
        self,
        parts: Parts,
        config: OperatorConfig,
        function: FunctionParts,
        elements: AsyncIterable[Element],
        stored: tuple[Stored, ...],
    ) -> None:
        super().__init__(parts, config, stored)
        self._flink = FlinkSide(
            config, function, self.loop, timers=self.timers, spawn=self.spawn, look=self.look
        )
        self._is_begun = False
        self.connect(parts, elements, self._flink, self._flink.function)

    # Opening and leaving

    async def open(self) -> None:
        """Run the function's own `open`; later calls and handlers see variables that it sets."""
        function = self._flink.function
        await run_hook(function.parts.open)
        self._flink.context = opened = copy_context()
        function.parts = function.parts.within(opened)

    def fail(self, error: BaseException) -> None:
        """End the output at once, with an error of Python's."""
        self.output.cut(self._flink.failures.plain(error))

    def stop(self) -> None:
        """Stop the threads, timers, calls and the reader."""
        self.timers.close()
        self.source.stop()
        self._flink.turns.end(self._flink.close)
        self.function.cancel()
        self.tasks.cancel_scope.cancel()

    # The loop

    def go_on(self) -> bool:
        """Let Flink do its next work; return whether it had any."""
        goes_on = False
        try:
            goes_on = self._take_turn()
        except Exception:
            if self._flink.failure is None:
                raise
        if self._flink.failure is not None:
            raise self._flink.failure  # the failure may have ended Flink's thread
        if goes_on:
            self.output.tell()
            self._let_read()
        return goes_on

    def _take_turn(self) -> bool:
        side = self._flink
        match side.turns.waits_for:
            case "mail" if side.has_mail:
                side.turns.go_on()
            case "room" if not side.given or side.has_mail:
                side.turns.go_on()
            case "work" if (work := self._next_work()) is not None:
                side.turns.do(work)
            case _:
                return False
        return True

    def _next_work(self) -> Callable[[], object] | None:
        """Return the next work of the task: mails before input, and input only if there is room."""
        side = self._flink
        if not self._is_begun:
            return self._begin()
        if not side.is_open:
            return None
        if side.has_mail:
            return side.run_mails
        if side.given or side.is_finished:
            return None
        if self.backlog:
            return partial(side.process, self.backlog.popleft())
        return None if self.ended is None else side.end_input

    def _begin(self) -> Callable[[], object]:
        """Make the operator; the elements that it cannot restore become its first input."""
        self._is_begun = True
        stored, rest = kind_of(self.config.mode).restorable(self.stored)
        self.stored = ()
        self.backlog.extendleft(reversed(rest))
        return partial(self._flink.begin, stored)

    def _let_read(self) -> None:
        side = self._flink
        is_idle = side.turns.waits_for == "work" and side.is_open
        if is_idle and not self.backlog and not side.given:
            self.source.proceed()

    async def wait_for_news(self) -> None:
        """Wait until there may be work; the source may be read meanwhile."""
        await super().wait_for_news()
        self._let_read()
