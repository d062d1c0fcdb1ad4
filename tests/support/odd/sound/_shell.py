"""The outside of an operator: its arguments, its door, its consumer. What is inside is its own."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncIterable, Callable, Collection, Coroutine, Iterable
from types import TracebackType
from typing import Any, Self

from asyncwait.spec import Element, OperatorConfig, OperatorError, Record, Snapshot, Statistics
from asyncwait.spec.snapshots import Stored
from asyncwait.toolkit import SourceTask, check_arguments, join_errors, run_hook
from odd.sound._contract import (
    Entry,
    Reply,
    outputs_at_deadline,
    outputs_of,
    put_first,
    too_many_abandoned,
)


class Shell(ABC):
    """An operator without its mechanism.

    Attributes:
        lacks: the profiles that it does not have.
    """

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
        self._source = SourceTask(elements, self._count, self._source_ended, self._may_begin)
        self._taken = 0
        """Elements taken from the source so far."""
        self._backlog: deque[Stored] = deque(restore.in_flight if restore else ())
        """Restored, or taken from the source, and not admitted."""
        self._restored = len(self._backlog)
        """How many of these were restored, as far as that is counted: see `_next_waiting`."""
        self._ahead: deque[Element] = deque()
        """What takes no room, and comes out next."""
        self._source_end: tuple[BaseException | None] | None = None
        """With what the input ended, once it has."""
        self._end: tuple[BaseException | None] | None = None
        """With what the output ends, once nothing comes out any more."""
        self._calls = self._timeouts = self._abandoned = self._most = self._most_held = 0
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

    @abstractmethod
    async def _answer(self, record: Record, reply: Reply) -> None:
        """Call the function in either form, and wait until there is an answer in `reply`."""

    # From the source

    async def _count(self, element: Element) -> None:
        self._taken += 1
        await self._take_in(element)

    def _source_ended(self, error: BaseException | None) -> None:
        self._source_end = (error,)
        self._tell()

    @abstractmethod
    async def _may_begin(self) -> None:
        """Wait until the first element may be read."""

    @abstractmethod
    async def _take_in(self, element: Element) -> None:
        """Take an element in; the next one is read then."""

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
        """Return the present figures."""
        decided = self._records() if self._end is None else []
        waiting = max(0, len(self._backlog) - self._restored) if self._end is None else 0
        return Statistics(
            in_flight=len(decided),
            waiting=waiting,
            held=sum(decided),
            calls=self._calls,
            timeouts=self._timeouts,
            abandoned=self._abandoned,
            max_in_flight=self._most,
            max_held=self._most_held,
            oldest=self._oldest() if self._end is None else 0.0,
        )

    def _next_waiting(self) -> Stored:
        """Take the first that waits for room, for operators with statistics."""
        self._restored = max(0, self._restored - 1)
        return self._backlog.popleft()

    def _note_held(self) -> None:
        """Note how many records are decided, as one more is; for operators with statistics."""
        self._most_held = max(self._most_held, sum(self._records()))

    def _oldest(self) -> float:
        """Return how many seconds ago the first call of a record in flight began; likewise."""
        return 0.0

    def _records(self) -> list[bool]:
        records = (entry for entry in self._inside if isinstance(entry.element, Record))
        return [entry.outputs is not None for entry in records]

    # Snapshots

    def request_snapshot(self, checkpoint_id: int) -> None:
        """Put a Snapshot out as the next output; nothing after the end."""
        if self._end is None:
            held = (*self._held(), *self._backlog)
            self._put_first(Snapshot(checkpoint_id, held, self._taken))

    def _put_first(self, snapshot: Snapshot) -> None:
        put_first(self._ahead, snapshot)
        self._tell()

    def _tell(self) -> None:
        raise NotImplementedError  # How a consumer waits is each operator's own.

    def _held(self) -> tuple[Stored, ...]:
        return tuple(entry.element for entry in self._inside if not entry.is_begun)

    # What is decided, and comes out

    def _answered(self, entry: Entry) -> None:
        self._decide(entry, lambda record: outputs_of(record, entry.reply.answer))

    def _expire(self, entry: Entry) -> None:
        self._timeouts += 1
        self._decide(entry, lambda record: outputs_at_deadline(record, self._parts, self._config))

    def _decide(self, entry: Entry, outputs: Callable[[Record], Iterable[Element]]) -> None:
        assert isinstance(entry.element, Record)
        try:
            entry.outputs = deque(outputs(entry.element))
        except OperatorError as error:
            self._finish(error)
        else:
            self._decided(entry)

    def _decided(self, entry: Entry) -> None:  # noqa: B027 - some have nothing to do
        """Go on with a record that was decided."""

    def _part_of(self, entry: Entry) -> Element:
        assert entry.outputs
        entry.is_begun = True
        return entry.outputs.popleft()

    def _abandon(self, running: int) -> None:
        """Count one more cancelled call that runs on; so many of them do."""
        self._abandoned += 1
        if running > self._config.capacity:
            self._finish(too_many_abandoned(running, self._config.capacity))
