"""The consumer's side of an operator: what it takes, in which order, and how it waits."""

from collections import deque
from collections.abc import Callable
from typing import Any

import anyio

from asyncwait.reference._queues import ElementQueue, Entry
from asyncwait.spec import Element, LatencyMarker, Snapshot


class Output:
    """Lets the consumer take what may come out.

    An element leaves the operator in the step in which `take` returns it, not earlier. So a
    consumer that gives up waiting loses nothing (END-9), and what it has not got is in the next
    snapshot (SNAP-2).

    Args:
        queue: what was admitted.
        on_taken: told of an entry that is gone: its last output was taken.
        on_overtaker_taken: told when something was taken that had overtaken the queue.
    """

    def __init__(
        self,
        queue: ElementQueue,
        on_taken: Callable[[Entry], Any],
        on_overtaker_taken: Callable[[], Any],
    ) -> None:
        self._queue = queue
        self._on_taken = on_taken
        self._on_overtaker_taken = on_overtaker_taken
        self._ahead: deque[Element] = deque()  # what overtakes the queue
        self._begun: Entry | None = None  # of which some outputs were taken, and some not
        self._news: anyio.Event | None = None
        self._error: BaseException | None = None
        self._finished = self._cut = self._told = self._interrupted = False

    @property
    def slots(self) -> int:
        """Slots taken by what has left the queue and is not gone: a record taken in part."""
        return 0 if self._begun is None else 1

    @property
    def overtakers(self) -> int:
        """How much waits for the consumer that takes no slot: it has overtaken the queue."""
        return len(self._ahead)

    @property
    def is_over(self) -> bool:
        """Whether nothing comes out any more: the end was told, or settled in the middle."""
        return self._cut or self._told

    async def take(self) -> Element:
        """Return the next element; wait for it if there is none.

        Raises:
            StopAsyncIteration: there will be none (END-7).
            RuntimeError: another task is waiting here.
            BaseException: what the operator ended with, the same object each time (FAIL-6).
        """
        if self._news is not None:
            raise RuntimeError("another task is waiting in __anext__; one can at a time")
        while True:
            if self._cut:
                self._raise_end()
            element = self._next()
            if element is not None:
                if isinstance(element, LatencyMarker | Snapshot):
                    self._on_overtaker_taken()
                return element
            if self._finished:
                self._raise_end()
            await self._wait_for_news()

    def put_ahead(self, element: Element) -> None:
        """Let `element` overtake the queue, behind what overtook it before."""
        self._ahead.append(element)
        self.tell()

    def put_first(self, snapshot: Snapshot) -> None:
        """Let `snapshot` overtake everything but the snapshots requested before it (SNAP-8)."""
        requested = (isinstance(e, Snapshot) and e.read is not None for e in self._ahead)
        self._ahead.insert(sum(requested), snapshot)
        self.tell()

    def finish(self, error: BaseException | None) -> None:
        """End, with `error` if there is one, as soon as everything was taken."""
        self._finished = True
        self._error = error
        self.tell()

    def cut(self, error: BaseException | None) -> None:
        """End, with `error` if there is one, whatever was not taken; an end once told stays."""
        if not self.is_over and self._error is None:
            self._error = error
        self._cut = True
        self.tell()

    def interrupt(self) -> None:
        """End, because the operator is cancelled from outside, or something ends the program.

        So is the consumer as a rule; one that shields itself must not wait for ever.
        """
        if not self.is_over:
            text = "the operator was cancelled from outside, and its consumer reads on"
            self.cut(RuntimeError(text))
            self._interrupted = True

    def leave(self) -> None:
        """End where no end was told, as the context is left (END-7)."""
        if self._interrupted:
            self._error = None
        self.cut(None)

    def tell(self) -> None:
        """Have a waiting consumer look again."""
        if self._news is not None:
            self._news.set()

    def _next(self) -> Element | None:
        """Take the rest of a record, what overtakes, or what the queue gives, in this order.

        Results of one record come out with nothing between them (ELEM-5, SNAP-6).
        """
        if self._begun is None and self._ahead:
            return self._ahead.popleft()
        while (entry := self._begun or self._queue.pop_ready()) is not None:
            element = self._next_of(entry)
            if element is not None:
                return element
        return None

    def _next_of(self, entry: Entry) -> Element | None:
        """Take the next output of `entry`, if it has any; with the last one it is gone."""
        outputs = entry.outputs or deque()
        element = outputs.popleft() if outputs else None
        self._begun = entry if outputs else None
        if not outputs:
            self._on_taken(entry)
        return element

    async def _wait_for_news(self) -> None:
        self._news = news = anyio.Event()
        try:
            await news.wait()
        finally:
            self._news = None

    def _raise_end(self) -> None:
        self._told = True
        raise StopAsyncIteration if self._error is None else self._error
