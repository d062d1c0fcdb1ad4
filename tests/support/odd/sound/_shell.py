"""The outside of an operator: its arguments, its door, its consumer. What is inside is its own."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncIterable, Collection, Coroutine
from types import TracebackType
from typing import Any, Self

from asyncwait.spec import Element, OperatorConfig, Snapshot, Statistics
from asyncwait.spec.snapshots import Stored
from asyncwait.toolkit import check_arguments, join_errors, run_hook
from odd.sound._contract import Entry, Source, put_first, too_many_abandoned


class Shell(ABC):
    """An operator without its mechanism."""

    lacks: tuple[str, ...] = (
        *("retry", "failure-handler", "max-held", "key-ordered", "statistics", "contexts"),
        *("batches", "cache", "limits"),
    )
    _inside: Collection[Any]
    """What was admitted and is not gone, each an `Entry`, in its order."""

    def __init__(
        self,
        config: OperatorConfig,
        fn: Any,
        elements: AsyncIterable[Element],
        restore: Snapshot | None = None,
    ) -> None:
        self._parts = check_arguments(config, fn, elements, restore, "this operator")
        self._config = config
        self._source = Source(elements, lambda: self._end is not None)
        self._backlog: deque[Stored] = deque(restore.in_flight if restore else ())
        """Restored, or taken from the source, and not admitted."""
        self._ahead: deque[Element] = deque()
        """What takes no room, and comes out next."""
        self._source_end: tuple[BaseException | None] | None = None
        """With what the input ended, once it has."""
        self._end: tuple[BaseException | None] | None = None
        """With what the output ends, once nothing comes out any more."""
        self._abandoned = 0
        self._is_awaited = False
        self._trouble: Exception | None = None

    # The door

    async def __aenter__(self) -> Self:
        try:
            await run_hook(self._parts.open)
        except BaseException as error:
            await self._undisturbed(self._source.close())
            join_errors(error, self._source.trouble)
            raise
        await self._start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._finish(None)
        await self._leave()
        first = join_errors(error, self._source.trouble, self._trouble)
        if error is None and first is not None:
            raise first

    async def _close(self) -> None:
        """Close the source, unless its reader did, and the function."""
        await self._source.close()
        try:
            await run_hook(self._parts.close)
        except Exception as error:
            self._trouble = error

    @abstractmethod
    async def _undisturbed(self, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` to its end, whoever cancels the present task."""

    @abstractmethod
    async def _start(self) -> None:
        """Begin to work."""

    @abstractmethod
    def _finish(self, error: BaseException | None) -> None:
        """Let nothing more out, now or since it was called first; cancel what runs."""

    @abstractmethod
    async def _leave(self) -> None:
        """Wait until nothing runs any more, and close everything."""

    # The consumer

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Element:
        if self._is_awaited:
            raise RuntimeError("another task waits in __anext__(); there is one consumer")
        self._is_awaited = True
        try:
            return await self._take()
        finally:
            self._is_awaited = False

    @abstractmethod
    async def _take(self) -> Element:
        """Wait for the next element, and take it out in the step in which it is returned."""

    def _final(self) -> BaseException:
        assert self._end is not None
        return StopAsyncIteration() if self._end[0] is None else self._end[0]

    def statistics(self) -> Statistics:
        """Return the only figure that the core asks for (TIME-8)."""
        return Statistics(abandoned=self._abandoned)

    # Snapshots

    def request_snapshot(self, checkpoint_id: int) -> None:
        """Put a Snapshot out as the next output; nothing after the end."""
        if self._end is None:
            held = (*self._held(), *self._backlog)
            self._put_first(Snapshot(checkpoint_id, held, self._source.taken))

    def _put_first(self, snapshot: Snapshot) -> None:
        put_first(self._ahead, snapshot)
        self._tell()

    def _tell(self) -> None:
        raise NotImplementedError  # How a consumer waits is each operator's own.

    def _held(self) -> tuple[Stored, ...]:
        return tuple(entry.element for entry in self._inside if not entry.is_begun)

    # What comes out

    def _part_of(self, entry: Entry) -> Element:
        assert entry.outputs
        entry.is_begun = True
        return entry.outputs.popleft()

    def _abandon(self, running: int) -> None:
        """Count one more cancelled call that runs on; so many of them do."""
        self._abandoned += 1
        if running > self._config.capacity:
            self._finish(too_many_abandoned(running, self._config.capacity))
