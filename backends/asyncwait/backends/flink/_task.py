"""The task that Flink's operator is in: what it does to one, on the loop's side."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterable, Callable
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
from anyio.lowlevel import checkpoint

from asyncwait.backends.flink._kinds import kind_of
from asyncwait.backends.flink._side import FlinkSide
from asyncwait.reference import End, Output, StreamTask
from asyncwait.spec import Element, OperatorConfig, Statistics
from asyncwait.spec.snapshots import Stored
from asyncwait.toolkit import FunctionParts, run_hook, running_loop

if TYPE_CHECKING:
    from asyncwait.reference import Parts


class Given:
    """What Flink has handed out, and nobody has taken.

    It is the queue of the reference's output.
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

    Nothing else of the reference's operator is made. A subclass makes `side`, which holds the
    foreign operator, and `function`, the user's, and connects them.
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
        """Put the two sides together, with a source and an output."""
        self.side, self.function = side, function
        self.given = Given(side.given, self.look)
        self.output: Output = parts.output(self.given, self)  # type: ignore[arg-type]
        self.source = parts.source(elements, self.on_element, self.on_end)
        self.operator = self  # type: ignore[assignment]  # it runs the hooks itself

    async def close(self) -> Exception | None:
        """Run the function's own `close`; return what that raised."""
        try:
            await run_hook(self.function.parts.close)
        except Exception as error:
            return error
        return None

    def stop(self) -> None:
        """Leave nothing running: no thread, no timer, no call, no reader."""
        self.timers.close()
        self.source.stop()
        self.function.cancel()
        self.tasks.cancel_scope.cancel()

    # The loop

    async def work(self) -> None:
        """Go on until the end is told, and then for as long as somebody may ask for more."""
        while not (self.side.is_finished and not self.side.given):
            await checkpoint()
            if not self.go_on():
                await self.wait_for_news()
        self.output.finish(None if self.ended is None else self.ended.error)
        await anyio.sleep_forever()

    def go_on(self) -> bool:
        """Let the operator take one step; return whether there was anything to do."""
        raise NotImplementedError  # The one step in which Flink's task and PyFlink's differ.

    def look(self) -> None:
        """Look again for something to do."""
        self._news.set()

    async def wait_for_news(self) -> None:
        """Wait until there may be something to do."""
        await self._news.wait()
        self._news = anyio.Event()

    # Input

    def on_element(self, element: Element) -> None:
        """Take in an element of the source."""
        self.backlog.append(element)
        self.look()

    def on_end(self, end: End) -> None:
        """Take note that the input has ended."""
        self.ended = end
        self.look()

    # Figures

    def statistics(self) -> Statistics:
        """Return what was counted here; neither Flink nor PyFlink counts anything (MT-1)."""
        function = self.function
        return Statistics(
            calls=function.calls, retries=function.retries, timeouts=function.timeouts
        )


class FlinkTask(ForeignTask):
    """Gives Flink's operator its turns: for mails, for input, for the end.

    One thing at a time: mails first, then input, if what came out was taken. Where the operator
    blocks in that, it goes on when there is a mail, or when its output was taken.
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

    # What opens and leaves it

    async def open(self) -> None:
        """Run the function's own `open`; all that is asked later sees what it has set."""
        function = self._flink.function
        await run_hook(function.parts.open)
        self._flink.context = opened = copy_context()
        function.parts = function.parts.within(opened)

    def fail(self, error: BaseException) -> None:
        """End the output at once, with an error of Python's."""
        self.output.cut(self._flink.failures.plain(error))

    def stop(self) -> None:
        """Leave nothing running: no thread, no timer, no call, no reader."""
        self.timers.close()
        self.source.stop()
        self._flink.turns.end(self._flink.close)
        self.function.cancel()
        self.tasks.cancel_scope.cancel()

    # The loop

    def go_on(self) -> bool:
        """Have Flink do what there is to do; return whether there was anything."""
        goes_on = False
        try:
            goes_on = self._take_turn()
        except Exception:
            if self._flink.failure is None:
                raise
        if self._flink.failure is not None:
            raise self._flink.failure  # its thread may have been ended for it
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
        """Return what a task does next: mails before input, and that if there is room behind it."""
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
        """Make the operator; what it can't be restored from is read as the first of its input."""
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
        """Wait until there may be something to do; the source may be read meanwhile."""
        await super().wait_for_news()
        self._let_read()
