"""The task around Flink's or PyFlink's operator: the loop's side, and the operator's thread."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Callable
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
from anyio.lowlevel import checkpoint

from asyncwait.backends.flink._stage import Stage
from asyncwait.reference import End, Output, ResultStream, StreamTask
from asyncwait.spec import Barrier, Element, OperatorConfig, Snapshot, Statistics
from asyncwait.spec.snapshots import Stored
from asyncwait.toolkit import FunctionParts, run_hook, running_loop

if TYPE_CHECKING:
    from asyncwait.reference import Parts


class ForeignResults:
    """The output of an open operator; see `asyncwait.spec.OperatorResults`."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self.statistics = output.statistics

    def __aiter__(self) -> AsyncIterator[Element]:
        return self

    async def __anext__(self) -> Element:
        """Return the next element."""
        return await self._output.__anext__()


class ForeignStream(ResultStream):
    """Opens and leaves a foreign operator as the reference is opened and left."""

    async def __aenter__(self) -> ForeignResults:  # type: ignore[override]
        """Enter; the results have no snapshots on request, because Flink has none."""
        return ForeignResults(await super().__aenter__())


class Given:
    """Elements that the operator has emitted and that the consumer has not taken.

    It replaces the queue of the reference's output.
    """

    begun = False

    def __init__(self, elements: deque[Element], on_taken: Callable[[], object]) -> None:
        self._elements = elements
        self._on_taken = on_taken

    def take(self) -> Element | None:
        """Return the next element; None if no element waits."""
        if not self._elements:
            return None
        element = self._elements.popleft()
        self._on_taken()
        return element


class ForeignSide(ABC):
    """A foreign operator in a thread of its own, which does one piece of work after another.

    Args:
        stage: lets its threads run.
        function: the user's function, as the operator calls it.
        plain: converts an error of the operator.
    """

    has_mail: bool = False
    """Whether mails wait to be run by `run_mails`."""

    is_full: bool = False
    """Whether the operator takes no element."""

    def __init__(
        self, stage: Stage, function: Any, plain: Callable[[BaseException], BaseException]
    ) -> None:
        self.stage, self.function, self._plain = stage, function, plain
        self.given: deque[Element] = deque()
        """Elements that have come out and that the consumer has not taken."""
        self.failure: BaseException | None = None
        """The first error of the operator."""
        self.is_idle = self.is_finished = False
        self._work: Any = None

    # On the loop

    def do(self, work: Callable[[], object]) -> None:
        """Let the thread, which waits for work, do it in its next turn."""
        self._work, self.is_idle = work, False

    # In the thread

    def live(self) -> None:
        """Make the operator, and do its work until the end or an error."""
        try:
            self.begin()
            while not self.is_finished:
                self.is_idle = True
                self.stage.wait(lambda: self._work is not None)
                work, self._work = self._work, None
                work()
                del work
        except Exception as error:
            if self.failure is None:
                self.failure = self._plain(error)

    @abstractmethod
    def begin(self) -> None:
        """Make the operator, and open it."""

    @abstractmethod
    def process(self, element: Element) -> None:
        """Process an element; for a barrier, take a snapshot."""

    @abstractmethod
    def run_mails(self) -> None:
        """Run the waiting mails."""

    @abstractmethod
    def end_input(self) -> None:
        """Report the end of the input, and wait until the operator has emitted everything."""

    def emit_snapshot(self, barrier: Barrier | Snapshot, stored: tuple[Stored, ...]) -> None:
        """Emit the snapshot of a barrier."""
        upstream = barrier if isinstance(barrier, Snapshot) else None
        self.given.append(Snapshot(barrier.checkpoint_id, stored, upstream=upstream))


class ForeignTask(StreamTask, ABC):
    """The task of Flink's or PyFlink's operator, which runs, is cancelled and ends like another.

    It makes no other part of the reference's operator. Mails come first, then input.
    """

    def __init__(
        self,
        parts: Parts,
        config: OperatorConfig,
        function: FunctionParts,
        elements: AsyncIterable[Element],
        stored: tuple[Stored, ...],
    ) -> None:
        self.loop = loop = running_loop()
        self.clock, self.config, self.stored = loop.time, config, stored
        self.life = anyio.CancelScope()
        self.tasks = anyio.create_task_group()
        self.timers = parts.timers(loop, lambda run: run(), self.spawn)
        self.backlog: deque[Element] = deque()
        self.ended: End | None = None
        self._news = anyio.Event()
        self.side = side = self.make_side(function)
        self.given = Given(side.given, self.look)
        self.output: Output = parts.output(self.given, self)  # type: ignore[arg-type]
        self.source = parts.source(elements, self.on_element, self.on_end)
        self.operator = self  # type: ignore[assignment]  # it runs the hooks itself

    @abstractmethod
    def make_side(self, function: FunctionParts) -> ForeignSide:
        """Return the operator, which is not made yet."""

    async def open(self) -> None:
        """Run the function's own `open`; the operator's thread sees variables that it sets."""
        await run_hook(self.side.function.parts.open)
        self.side.stage.start(self.side.live, copy_context())

    async def close(self) -> Exception | None:
        """Run the function's own `close`; return its error."""
        try:
            await run_hook(self.side.function.parts.close)
        except Exception as error:
            return error
        return None

    def stop(self) -> None:
        """Stop the threads, timers, calls and the reader."""
        self.timers.close()
        self.source.stop()
        self.side.stage.end()
        self.side.function.cancel()
        self.tasks.cancel_scope.cancel()

    # The loop

    async def work(self) -> None:
        """Run until the end has come out, and then wait while the consumer may read again."""
        while not (self.side.is_finished and not self.side.given):
            await checkpoint()
            if not self._go_on():
                await self._news.wait()
                self._news = anyio.Event()
        self.output.finish(None if self.ended is None else self.ended.error)
        await anyio.sleep_forever()

    def _go_on(self) -> bool:
        """Let the threads run; return whether a thread ran."""
        side = self.side
        if side.is_idle:
            self._feed()
        has_run = side.stage.run()
        if side.failure is not None:
            raise side.failure
        if has_run:
            self.output.tell()
        if side.is_idle and not (side.is_full or self.backlog):
            self.source.proceed()
        return has_run

    def _feed(self) -> None:
        """Let the idle operator run its mails, or give it the next element, or the end."""
        side = self.side
        if side.has_mail:
            side.do(side.run_mails)
        elif side.is_full:
            pass
        elif self.backlog:
            side.do(partial(side.process, self.backlog.popleft()))
        elif self.ended is not None:
            side.do(side.end_input)

    def look(self) -> None:
        """Wake the task to look for work."""
        self._news.set()

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
        function = self.side.function
        return Statistics(
            calls=function.calls, retries=function.retries, timeouts=function.timeouts
        )
