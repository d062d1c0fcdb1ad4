"""The consumer's half of an operator: what it takes, in which order, and how it waits."""

from collections import deque
from collections.abc import Callable

import anyio

from asyncwait.reference._queues import ElementQueue, Entry
from asyncwait.spec import Element


class Output:
    """Hands elements to the consumer, who takes them out of the queue himself.

    An element leaves the operator in the very step in which `take` returns it. So a consumer that
    is cancelled while it waits loses nothing, and what it has not taken is in every snapshot.

    Args:
        queue: what was admitted.
        on_taken: told when the last output of an entry was taken, and its slot is free.
    """

    def __init__(self, queue: ElementQueue, on_taken: Callable[[Entry], object]) -> None:
        self._queue = queue
        self._on_taken = on_taken
        self._ahead: deque[Element] = deque()
        self._current: Entry | None = None
        self._over = False
        self._error: BaseException | None = None
        self._news: anyio.Event | None = None

    @property
    def current(self) -> Entry | None:
        """The record of which some results were taken, and some not."""
        return self._current

    async def take(self) -> Element:
        """Return the next element; wait for it if there is none.

        Raises:
            StopAsyncIteration: there will be none any more.
            RuntimeError: another task is already waiting here.
            BaseException: what the operator failed with, the same object each time.
        """
        if self._news is not None:
            raise RuntimeError("another task waits in __anext__ of this operator; one at a time")
        while True:
            if self._error is not None:
                raise self._error
            if self._over:
                raise StopAsyncIteration
            element = self._next()
            if element is not None:
                return element
            self._news = anyio.Event()
            try:
                await self._news.wait()
            finally:
                self._news = None

    def put_ahead(self, element: Element) -> None:
        """Let `element` overtake what is queued, behind what overtook it before."""
        self._ahead.append(element)
        self.wake()

    def end(self, error: BaseException | None = None) -> None:
        """Let nothing more out; the first end counts."""
        if not self._over:
            self._over = True
            self._error = error
            self.wake()

    def wake(self) -> None:
        """Have a waiting consumer look again."""
        if self._news is not None:
            self._news.set()

    def _next(self) -> Element | None:
        """Take the rest of a record first, then what overtakes, then what is queued (EL-4)."""
        if self._current is None and self._ahead:
            return self._ahead.popleft()
        return self._next_of_queue()

    def _next_of_queue(self) -> Element | None:
        while True:
            if self._current is None:
                self._current = self._queue.pop_ready()
            entry = self._current
            if entry is None or entry.outputs is None:
                return None
            element = entry.outputs.popleft() if entry.outputs else None
            if not entry.outputs:
                self._current = None
                self._on_taken(entry)
            if element is not None:
                return element
