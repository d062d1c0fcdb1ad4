"""The consumer's side of an operator: outputs, their order, and the wait for them."""

from __future__ import annotations

from collections import deque
from types import TracebackType
from typing import Protocol, Self

import anyio
import anyio.lowlevel

from asyncwait.reference._queues import ElementQueue
from asyncwait.spec import Element, Snapshot, Statistics
from asyncwait.toolkit import HomeLoop


class ReadingTask(Protocol):
    """The task of an operator as its output uses it; see `StreamTask`."""

    def let_read(self) -> None:
        """Let the source read the next element, if there is room."""
        ...

    def snapshot(self, checkpoint_id: int) -> Snapshot:
        """Return a snapshot on demand."""
        ...

    def statistics(self) -> Statistics:
        """Return the present figures of the operator."""
        ...


class Output:
    """Outputs that the consumer takes.

    An element leaves the operator in the step in which `__anext__` returns it, not earlier. So a
    consumer that gives up waiting loses nothing (END-9), and elements that it has not taken are in
    the next snapshot (SNAP-2).

    Args:
        queue: admitted elements.
        task: task that reads on when elements have left.
    """

    def __init__(self, queue: ElementQueue, task: ReadingTask) -> None:
        self.queue = queue
        self.task = task
        self.ahead: deque[Element] = deque()  # elements that overtake the queue
        self.news: anyio.Event | None = None
        self.error: BaseException | None = None
        self.traceback: TracebackType | None = None  # of the error, before its first read
        self.finished = self.is_cut = self.told = self.interrupted = False
        self.is_withheld = False
        self.home: HomeLoop | None = None  # the loop that has entered the operator

    # The contract

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Element:
        """Return the next element; wait for it if necessary.

        Raises:
            StopAsyncIteration: the output has ended (END-7).
            RuntimeError: another task is waiting here, or another event loop reads.
            BaseException: the operator's error, the same object each time (FAIL-6).
        """
        if self.home is not None:
            self.home.require("read")
        if self.news is not None:
            raise RuntimeError("another task is waiting in __anext__; one can at a time")
        while True:
            if self.is_cut:
                if self.is_interrupted:
                    await anyio.lowlevel.checkpoint_if_cancelled()  # The consumer usually is.
                self.raise_end()
            element = self.take()
            if element is not None:
                return element
            if self.finished:
                self.raise_end()
            await self.wait_for_news()

    def statistics(self) -> Statistics:
        """Return the present figures."""
        return self.task.statistics()

    def request_snapshot(self, checkpoint_id: int) -> None:
        """Emit a Snapshot as the next output, with or without room (SNAP-8, SNAP-9).

        After a failure or the end it has no effect.
        """
        if not self.is_over:
            self.put_first(self.task.snapshot(checkpoint_id))

    # Elements to take

    @property
    def overtakers(self) -> int:
        """Number of input elements that have overtaken the queue, and wait without a slot."""
        return sum(not _is_requested(element) for element in self.ahead)

    @property
    def is_over(self) -> bool:
        """Whether the output has ended: it was cut, or the consumer has received the end."""
        return self.is_cut or self.told

    def take(self) -> Element | None:
        """Take the next overtaking element or output of the queue; None if none is ready.

        Results of one record come out without other elements between them (ELEM-5, SNAP-6).
        """
        if self.is_withheld:
            return None
        if self.queue.begun or not self.ahead:
            return self.queue.take()
        element = self.ahead.popleft()
        self.task.let_read()
        return element

    def put_ahead(self, element: Element) -> None:
        """Let `element` overtake the queue, after earlier overtaking elements."""
        self.ahead.append(element)
        self.tell()

    def put_first(self, snapshot: Snapshot) -> None:
        """Let `snapshot` overtake everything but the snapshots requested before it (SNAP-8)."""
        self.ahead.insert(sum(map(_is_requested, self.ahead)), snapshot)
        self.tell()

    def finish(self, error: BaseException | None) -> None:
        """End the output, possibly with `error`, when all elements have been taken."""
        self.finished = True
        self.end_with(error)
        self.tell()

    def cut(self, error: BaseException | None) -> None:
        """End the output at once, possibly with `error`; keep an end that was received."""
        if not self.is_over and self.error is None:
            self.end_with(error)
        self.is_cut = True
        self.tell()

    def withhold(self) -> None:
        """Emit nothing more, because an error ends the program; the consumer gets the error later.

        Cancelled calls may clean up for long, and the consumer may read meanwhile (FAIL-3).
        """
        self.is_withheld = True

    def interrupt(self) -> None:
        """End the output, because of a cancellation from outside, or an error for the program.

        The consumer is usually cancelled, too; a consumer with a shield must not wait for ever.
        """
        if not self.is_over:
            text = "the operator was cancelled from outside, and its consumer reads on"
            self.cut(RuntimeError(text))
            self.interrupted = True

    def leave(self, error: BaseException | None = None) -> None:
        """End the output on leaving the context, possibly with `error`; an earlier end stays."""
        if self.interrupted:
            self.end_with(error)
        self.cut(error)

    def end_with(self, error: BaseException | None) -> None:
        """Set the error that the consumer receives at the end; None for a plain end."""
        self.error = error
        self.traceback = None if error is None else error.__traceback__

    def tell(self) -> None:
        """Wake a waiting consumer."""
        if self.news is not None:
            self.news.set()

    async def wait_for_news(self) -> None:
        """Wait until an element may be ready."""
        self.news = news = anyio.Event()
        try:
            await news.wait()
        finally:
            self.news = None

    @property
    def is_interrupted(self) -> bool:
        """Whether a read raises the error of an interrupted operator."""
        return self.interrupted and self.error is not None

    def raise_end(self) -> None:
        """Raise the error of the end, or StopAsyncIteration."""
        self.told = True
        if self.error is None:
            raise StopAsyncIteration
        # Without `with_traceback` each further read would add its frames to the error.
        raise self.error.with_traceback(self.traceback)


def _is_requested(element: Element) -> bool:
    """Return whether `element` is a snapshot requested on demand, not by a barrier."""
    return isinstance(element, Snapshot) and element.read is not None
