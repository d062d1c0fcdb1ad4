"""What becomes of a record: it is admitted, called, decided, and comes out."""

import math
from collections import deque
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, ClassVar

import anyio.abc

from asyncwait.reference._calls import CallRunner, Outcome, Raised, Returned, must_pass
from asyncwait.reference._loop import running_loop
from asyncwait.reference._mailbox import (
    MAIN,
    OPERATOR,
    MailboxClosedError,
    MailboxExecutor,
    TaskMailbox,
)
from asyncwait.reference._output import Output
from asyncwait.reference._queues import (
    ElementQueue,
    Entry,
    FenceEntry,
    OrderedQueue,
    RecordEntry,
    UnorderedQueue,
)
from asyncwait.reference._source import End, SourceReader
from asyncwait.reference._timers import TimerService
from asyncwait.spec import (
    CallTimedOut,
    Element,
    FunctionParts,
    Mode,
    OperatorConfig,
    OperatorError,
    Record,
    Watermark,
    WatermarkStatus,
    call_failed,
    collect_results,
)


class RecordHandling:
    """The half of the operator that is about single records.

    Its methods run in the operator's task, in mails or between them. An error that one of them
    raises is the failure of the operator: whatever was going on is over at once (MB-28).

    Args:
        config: mode, capacity, timeout.
        parts: the user's function.
        elements: the input.
    """

    mailbox_class: ClassVar[type[TaskMailbox]] = TaskMailbox
    timers_class: ClassVar[type[TimerService]] = TimerService
    calls_class: ClassVar[type[CallRunner]] = CallRunner
    output_class: ClassVar[type[Output]] = Output
    source_class: ClassVar[type[SourceReader]] = SourceReader
    queue_classes: ClassVar[Mapping[Mode, Callable[[], ElementQueue]]] = {
        "ordered": OrderedQueue,
        "unordered": UnorderedQueue,
    }

    _tasks: anyio.abc.TaskGroup

    def __init__(
        self, config: OperatorConfig, parts: FunctionParts, elements: AsyncIterable[Element]
    ) -> None:
        self._config = config
        self._parts = parts
        self._elements = elements
        self._backlog: deque[Element] = deque()  # taken or restored, and not admitted yet
        self._end: End | None = None
        self._in_flight = 0
        self._max_in_flight = 0
        self._undecided = 0
        self._timeouts = 0

    def _set_up(self) -> None:
        """Build the parts of the operator; that takes a running loop."""
        loop = running_loop()
        self._mailbox = self.mailbox_class(loop)
        self._main = MailboxExecutor(self._mailbox, MAIN)
        self._own = MailboxExecutor(self._mailbox, OPERATOR)
        self._timers = self.timers_class(loop, self._post, self._spawn)
        self._queue = self.queue_classes[self._config.mode]()
        self._output = self.output_class(self._queue, self._on_taken)
        self._source = self.source_class(self._elements, self._on_element, self._on_end)
        self._calls = self.calls_class(
            self._parts,
            self._config.capacity,
            self._timers,
            self._post,
            self._spawn,
            self._on_outcome,
        )

    # Admission

    async def _process_record(self, record: Record) -> None:
        """Let a record in as soon as there is room; its time begins with its call (TO-2)."""
        await self._wait_for_room()
        entry = RecordEntry(record)
        self._admit(entry)
        self._start_deadline(entry)
        await self._calls.start(entry)

    async def _process_fence(self, fence: Watermark | WatermarkStatus) -> None:
        """Let a watermark or status in as soon as there is room: it takes a slot too (CAP-2)."""
        await self._wait_for_room()
        self._admit(FenceEntry(fence, deque([fence])))
        self._output.tell()

    async def _wait_for_room(self) -> None:
        """Run one mail after the other until one of them has made room (BP-1).

        Only the operator's own mails run, so that nothing new starts meanwhile (BP-2).
        """
        while not self._has_room():
            await self._own.run_one()

    def _has_room(self) -> bool:
        """Decide whether one more may come in: what is decided and not out counts (CAP-4)."""
        return len(self._queue) + self._output.slots < self._config.capacity

    def _admit(self, entry: Entry) -> None:
        """Move an element from the backlog to the queue."""
        self._leave_backlog()
        self._queue.put(entry)
        if isinstance(entry, RecordEntry):
            self._undecided += 1
            self._in_flight += 1
            self._max_in_flight = max(self._in_flight, self._max_in_flight)

    def _leave_backlog(self) -> None:
        """Take the first element off the backlog, and let the source give the next one."""
        self._backlog.popleft()
        self._source.proceed()

    # Decision

    def _on_outcome(self, entry: RecordEntry, outcome: Outcome) -> None:
        """Decide a record by what a call came to; only the first decision counts (CO-3, CO-4)."""
        if entry.outputs is None:
            self._decide(entry, self._results_of(entry.element, outcome))

    def _results_of(self, record: Record, outcome: Outcome) -> tuple[Any, ...]:
        """Return the results that an outcome stands for.

        Raises:
            CallFailed: it stands for an error, or collecting the results raised one.
            InvalidResult: they are no collection of results.
        """
        match outcome:
            case Raised(error):
                raise _failure_of(record, error)
            case Returned(supply):
                return self._collect(record, supply)

    def _collect(self, record: Record, supply: Callable[[], Any]) -> tuple[Any, ...]:
        """Read the results whole before the first comes out (unlike EL-6)."""
        try:
            return collect_results(record, supply())
        except BaseException as error:
            if must_pass(error):
                raise
            raise _failure_of(record, error)

    def _decide(self, entry: RecordEntry, results: tuple[Any, ...]) -> None:
        """Settle what comes out for a record; it may come out in this same step."""
        self._undecided -= 1
        self._cancel_deadline(entry)
        entry.outputs = deque(self._output_of(entry.element, result) for result in results)
        self._queue.completed(entry)
        self._release_empty()
        self._output.tell()

    def _output_of(self, record: Record, result: Any) -> Record:
        """Give a result the timestamp and the key of its input (EL-2, EL-3)."""
        return Record(result, record.timestamp, record.key)

    # Deadline

    def _start_deadline(self, entry: RecordEntry) -> None:
        if self._config.timeout is not None:
            when = self._deadline_after(self._config.timeout)
            entry.deadline = self._timers.register(when, lambda: self._on_deadline(entry))

    def _deadline_after(self, timeout: float) -> float:
        """Return when `timeout` is over; a huge one never is (Flink's is over at once, TO-3)."""
        try:
            return self._timers.now() + timeout
        except OverflowError:  # a whole number too large for a float
            return math.inf

    def _cancel_deadline(self, entry: RecordEntry) -> None:
        """Leave no timer behind for a decided record (TO-12)."""
        if entry.deadline is not None:
            self._timers.cancel(entry.deadline)

    def _on_deadline(self, entry: RecordEntry) -> None:
        """Decide a record whose time is over, unless it is decided already (TO-6)."""
        if entry.outputs is None:
            self._timeouts += 1
            self._calls.cancel(entry)
            self._decide(entry, self._results_at_deadline(entry.element))

    def _results_at_deadline(self, record: Record) -> tuple[Any, ...]:
        """Ask the handler, once, for results in place of the call's (TO-7, TO-8).

        In Flink a handler that does nothing leaves the record pending (TO-9), perhaps for ever.

        Raises:
            CallTimedOut: there is no handler, it gave None, or it raised.
            InvalidResult: it gave what is no collection of results.
        """
        reason = f"no result within {self._config.timeout} s"
        handler = self._parts.timeout
        if handler is None:
            raise CallTimedOut(record, reason)
        try:
            results = handler(record.value)
        except BaseException as error:
            if must_pass(error):
                raise
            raise CallTimedOut(record, f"{reason}; the timeout handler raised {error!r}") from error
        if results is None:
            raise CallTimedOut(record, f"{reason}; the timeout handler gave None")
        return self._collect(record, lambda: results)

    # Emission

    def _release_empty(self) -> None:
        """Free the slots of records without results whose turn it is; nobody takes those (EL-5)."""
        while (entry := self._queue.peek_ready()) is not None and not entry.outputs:
            self._queue.pop_ready()
            self._free_slot(entry)

    def _on_taken(self, entry: Entry) -> None:
        """Free the slot of what the consumer has taken, and look, by mail, what that allows."""
        self._free_slot(entry)
        self._post(self._release_empty)

    def _free_slot(self, entry: Entry) -> None:
        if isinstance(entry, RecordEntry):
            self._in_flight -= 1

    # What the parts need

    def _on_element(self, element: Element) -> None:
        raise NotImplementedError

    def _on_end(self, end: End) -> None:
        raise NotImplementedError

    def _post(self, run: Callable[[], object], executor: MailboxExecutor | None = None) -> None:
        """Send a mail of the operator; when the operator is over it is of no use, and dropped."""
        with suppress(MailboxClosedError):
            (executor or self._own).execute(run)

    def _spawn(self, function: Callable[..., Awaitable[Any]], *args: Any) -> None:
        """Start a task that is cancelled when the operator is over."""
        self._tasks.start_soon(function, *args)


def _failure_of(record: Record, error: BaseException) -> OperatorError:
    """Return the operator's error for `error`: itself, if it is one about this record."""
    if isinstance(error, OperatorError) and getattr(error.record, "value", None) is record.value:
        return error
    failure = call_failed(record, error)
    failure.__cause__ = error
    return failure
