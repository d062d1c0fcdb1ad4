"""The consumer's half of an operator: what it takes, in which order, and how it waits."""

from collections import deque
from collections.abc import Callable

import anyio

from asyncwait.reference._queues import ElementQueue, Entry
from asyncwait.spec import Element


class Output:
    """Lets the consumer take elements out of the queue.

    An element leaves the operator in the step in which `take` returns it, not before. So a
    consumer that is cancelled while it waits loses nothing, and whatever it has not got is in
    the next snapshot.

    Args:
        queue: what was admitted.
        on_taken: told when the last output of an entry was taken: its slot is free.
    """

    def __init__(self, queue: ElementQueue, on_taken: Callable[[Entry], object]) -> None:
        self._queue = queue
        self._on_taken = on_taken
        self._ahead: deque[Element] = deque()
        self._begun: Entry | None = None
        self._news: anyio.Event | None = None
        self._error: BaseException | None = None
        self._finished = False
        self._cut = False
        self._told = False

    @property
    def slots(self) -> int:
        """Slots held by an entry that left the queue: 1 while only a part of it was taken."""
        return 0 if self._begun is None else 1

    @property
    def is_over(self) -> bool:
        """Whether the consumer was told the end, or nothing comes out any more."""
        return self._cut or self._told

    async def take(self) -> Element:
        """Return the next element; wait for it if there is none.

        Raises:
            StopAsyncIteration: there will be none any more.
            RuntimeError: another task is waiting here already.
            BaseException: what the operator ended with; the same object each time.
        """
        if self._news is not None:
            raise RuntimeError("another task is waiting in __anext__; only one can, at a time")
        while True:
            if self._cut:
                self._raise_end()
            element = self._next()
            if element is not None:
                return element
            if self._finished:
                self._raise_end()
            await self._wait_for_news()

    def put_ahead(self, element: Element) -> None:
        """Let `element` overtake what is queued, but not what overtook before it."""
        self._ahead.append(element)
        self.tell()

    def finish(self, error: BaseException | None) -> None:
        """Tell the consumer the end, with `error` if there is one, once everything was taken."""
        self._finished = True
        self._error = error
        self.tell()

    def cut(self, error: BaseException | None) -> None:
        """Let nothing out from now on, and tell the consumer the end, with `error` if any.

        An end that is settled already stays as it is.
        """
        if not self.is_over:
            self._error = self._error or error
        self._cut = True
        self.tell()

    def tell(self) -> None:
        """Have a waiting consumer look again."""
        if self._news is not None:
            self._news.set()

    def _next(self) -> Element | None:
        """Take what is next: the rest of a record, then what overtakes, then what is queued.

        The results of one record come out with nothing between them (EL-4).
        """
        if self._begun is None and self._ahead:
            return self._ahead.popleft()
        while (entry := self._begun or self._queue.pop_ready()) is not None:
            element = self._next_of(entry)
            if element is not None:
                return element
        return None

    def _next_of(self, entry: Entry) -> Element | None:
        """Take the next output of `entry`, if it has any; with the last one its slot is free."""
        outputs = entry.outputs or deque()
        element = outputs.popleft() if outputs else None
        self._begun = entry if outputs else None
        if not outputs:
            self._on_taken(entry)
        return element

    async def _wait_for_news(self) -> None:
        self._news = anyio.Event()
        try:
            await self._news.wait()
        finally:
            self._news = None

    def _raise_end(self) -> None:
        self._told = True
        raise StopAsyncIteration if self._error is None else self._error
