"""The consumer's side of an operator: what it takes, in which order, and how it waits."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Self

import anyio
import anyio.lowlevel

from asyncwait.spec import Element, Snapshot, Statistics

if TYPE_CHECKING:
    from types import TracebackType

    from asyncwait.reference._queues import ElementQueue
    from asyncwait.reference._task import StreamTask
    from asyncwait.toolkit import HomeLoop


class Output:
    """Lets the consumer take what may come out.

    An element leaves the operator in the step in which `__anext__` returns it, not earlier. So a
    consumer that gives up waiting loses nothing (END-9), and what it has not got is in the next
    snapshot (SNAP-2).

    Args:
        queue: what was admitted.
        task: that lets elements in; it is told when it may go on.
    """

    def __init__(self, queue: ElementQueue, task: StreamTask) -> None:
        self.queue = queue
        self.task = task
        self.ahead: deque[Element] = deque()  # what overtakes the queue
        self.news: anyio.Event | None = None
        self.error: BaseException | None = None
        self.traceback: TracebackType | None = None  # of the error, before anybody read it
        self.finished = self.is_cut = self.told = self.interrupted = False
        self.is_withheld = False
        self.home: HomeLoop | None = None  # the loop that has entered the operator

    # The contract

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Element:
        """Return the next element; wait for it if there is none.

        Raises:
            StopAsyncIteration: there will be none (END-7).
            RuntimeError: another task is waiting here, or another event loop reads.
            BaseException: what the operator ended with, the same object each time (FAIL-6).
        """
        if self.home is not None:
            self.home.require("read")
        if self.news is not None:
            raise RuntimeError("another task is waiting in __anext__; one can at a time")
        while True:
            if self.is_cut:
                if self.is_interrupted:
                    await anyio.lowlevel.checkpoint_if_cancelled()  # as its consumer mostly is
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
        """Put a Snapshot out as the next output, whether there is room or not (SNAP-8, SNAP-9).

        After a failure or the end nothing happens.
        """
        if not self.is_over:
            self.put_first(self.task.snapshot(checkpoint_id))

    # What may be taken

    @property
    def overtakers(self) -> int:
        """How much of the input waits for the consumer and takes no slot: it has overtaken."""
        return sum(not _is_requested(element) for element in self.ahead)

    @property
    def is_over(self) -> bool:
        """Whether nothing comes out any more: the end was told, or settled in the middle."""
        return self.is_cut or self.told

    def take(self) -> Element | None:
        """Take what overtakes, or what the queue gives; None if there is nothing now.

        Results of one record come out with nothing between them (ELEM-5, SNAP-6).
        """
        if self.is_withheld:
            return None
        if self.queue.begun or not self.ahead:
            return self.queue.take()
        element = self.ahead.popleft()
        self.task.let_read()
        return element

    def put_ahead(self, element: Element) -> None:
        """Let `element` overtake the queue, behind what overtook it before."""
        self.ahead.append(element)
        self.tell()

    def put_first(self, snapshot: Snapshot) -> None:
        """Let `snapshot` overtake everything but the snapshots requested before it (SNAP-8)."""
        self.ahead.insert(sum(map(_is_requested, self.ahead)), snapshot)
        self.tell()

    def finish(self, error: BaseException | None) -> None:
        """End, with `error` if there is one, as soon as everything was taken."""
        self.finished = True
        self.end_with(error)
        self.tell()

    def cut(self, error: BaseException | None) -> None:
        """End, with `error` if there is one, whatever was not taken; an end once told stays."""
        if not self.is_over and self.error is None:
            self.end_with(error)
        self.is_cut = True
        self.tell()

    def withhold(self) -> None:
        """Let nothing more be taken, as something ends the program; its consumer is not told yet.

        What is cancelled may clean up for long, and the consumer read on meanwhile (FAIL-3).
        """
        self.is_withheld = True

    def interrupt(self) -> None:
        """End, because the operator is cancelled from outside, or something ends the program.

        So is the consumer as a rule; one that shields itself must not wait for ever.
        """
        if not self.is_over:
            text = "the operator was cancelled from outside, and its consumer reads on"
            self.cut(RuntimeError(text))
            self.interrupted = True

    def leave(self, error: BaseException | None = None) -> None:
        """End as the context is left, with `error` if there is one; an earlier end stays."""
        if self.interrupted:
            self.end_with(error)
        self.cut(error)

    def end_with(self, error: BaseException | None) -> None:
        """Note what the consumer gets in the end: this error, or none."""
        self.error = error
        self.traceback = None if error is None else error.__traceback__

    def tell(self) -> None:
        """Have a waiting consumer look again."""
        if self.news is not None:
            self.news.set()

    async def wait_for_news(self) -> None:
        """Wait until there may be something to take."""
        self.news = news = anyio.Event()
        try:
            await news.wait()
        finally:
            self.news = None

    @property
    def is_interrupted(self) -> bool:
        """Whether a consumer that reads on learns that nobody works for it any more."""
        return self.interrupted and self.error is not None

    def raise_end(self) -> None:
        """Tell the consumer how it ended."""
        self.told = True
        if self.error is None:
            raise StopAsyncIteration
        # Without this each further read would add its frames to the one error.
        raise self.error.with_traceback(self.traceback)


def _is_requested(element: Element) -> bool:
    """Whether it is a snapshot that the consumer asked for; a barrier asked for the others."""
    return isinstance(element, Snapshot) and element.read is not None
