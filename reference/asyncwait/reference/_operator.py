"""The operator: admits one element after the other, and starts the attempts at records."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextvars import copy_context
from typing import Any

from asyncwait.reference._abandoned import CancelledCalls
from asyncwait.reference._batches import Gathering
from asyncwait.reference._cache import ResultCache
from asyncwait.reference._gate import Gate
from asyncwait.reference._handler import Attempt, ResultHandler
from asyncwait.reference._mailbox import TaskMailbox
from asyncwait.reference._output import Output
from asyncwait.reference._queues import ElementQueue, Entry, FenceEntry
from asyncwait.reference._timers import Spawn, TimerService
from asyncwait.spec import (
    Element,
    LatencyMarker,
    OperatorConfig,
    Record,
    Watermark,
    WatermarkStatus,
)
from asyncwait.toolkit import BackOffs, ByKey, CallScope, FunctionParts, invalid_key, run_hook


class KeyLines:
    """A line of undecided records for each key; the first has been called (KEY-1).

    A key without an undecided record has no line, and takes no memory.
    """

    def __init__(self) -> None:
        self.lines: ByKey[deque[ResultHandler]] = ByKey()

    def key_of(self, handler: ResultHandler) -> Any:
        """Return the key of a record."""
        return handler.record.key

    def enter(self, handler: ResultHandler) -> bool:
        """Put a record at the end of the line of its key; return whether it is the first."""
        line = self.lines.get(self.key_of(handler))
        handler.line = deque() if line is None else line
        handler.line.append(handler)
        if line is None:
            self.lines.put(self.key_of(handler), handler.line)
        return line is None

    def leave(self, handler: ResultHandler) -> ResultHandler | None:
        """Remove a decided record from the head of its line; return the next record (KEY-5).

        The handler holds its line, because a changed key would not find it.
        """
        line, handler.line = handler.line, None
        assert line is not None
        line.popleft()
        if line:
            return line[0]
        self.lines.remove(self.key_of(handler), line)
        return None


class AsyncWaitOperator:
    """Processing of single elements, like Flink's class of this name.

    It does not know the source or the task. The task passes elements one by one, when the queue has
    room (Flink's BP-10), and the operator processes each in one step.

    Args:
        config: mode, capacity, timeout, retry.
        function: parts of the user's function.
        queue: admitted elements.
        keys: lines of records that wait for their keys; None outside of key-ordered mode.
        output: the consumer's side.
        timers: timers of deadlines, limits and back-offs.
        mailbox: mailbox for the outcomes of calls.
        spawn: starts a task that ends with the operator.
        clock: clock of the loop, in seconds.
        handler_class: class that decides records.
        attempt_class: class that calls the function.
        cancelled: cancelled calls that still run.

    Attributes:
        gathered: attempts that wait to share calls; None without batches.
        cache: results of calls, by key; None without a cache.
        gate: calls that wait for their permits; None without limits.
        last_called: place in the input of the last called record.
    """

    def __init__(
        self,
        config: OperatorConfig,
        function: FunctionParts,
        *,
        queue: ElementQueue,
        keys: KeyLines | None,
        output: Output,
        timers: TimerService,
        mailbox: TaskMailbox,
        spawn: Spawn,
        clock: Callable[[], float],
        handler_class: type[ResultHandler],
        attempt_class: type[Attempt],
        cancelled: CancelledCalls,
    ) -> None:
        self.config = config
        self.function = function
        self.queue = queue
        self.keys = keys
        self.output = output
        self.timers = timers
        self.mailbox = mailbox
        self.spawn = spawn
        self.clock = clock
        self.handler_class = handler_class
        self.attempt_class = attempt_class
        self.cancelled = cancelled
        self.back_offs = None if config.retry is None else BackOffs(config.retry)
        self.scopes: dict[CallScope, None] = {}  # the scopes of calls, in the order of these
        self.gathered: Gathering | None = None
        self.cache: ResultCache | None = None
        self.gate: Gate | None = None
        self.records = 0
        self.last_called = 0
        self.calls = 0
        self.batches = 0
        self.retries = 0
        self.timeouts = 0
        self.failures_handled = 0

    # The user's function

    async def open(self) -> None:
        """Run the function's own `open`, before any call (END-6).

        All later calls, handlers and predicates see the context variables of this moment (CTX-1).
        """
        await run_hook(self.function.open)
        opened = copy_context()
        self.function = self.function.within(opened)
        if self.back_offs is not None:
            self.back_offs.context = opened
        if self.cache is not None:
            self.cache.open(opened)
        if self.gate is not None:
            self.gate.context = opened

    async def close(self) -> Exception | None:
        """Run the function's own `close`; return its error."""
        try:
            await run_hook(self.function.close)
        except Exception as error:
            return error
        return None

    def cancel_calls(self) -> None:
        """Cancel all running calls; their tasks end with the task group (END-3)."""
        for scope in self.scopes:
            scope.cancel()

    # Elements

    def process(self, element: Element) -> None:
        """Process an element by its kind."""
        match element:
            case Record():
                self.process_record(element)
            case Watermark() | WatermarkStatus():
                self.process_fence(element)
            case LatencyMarker():
                self.process_marker(element)

    def process_record(self, record: Record) -> None:
        """Admit a record, and start its first attempt once its key is free (KEY-1)."""
        handler = self.handler_class(self, record)
        self.records += 1
        handler.place = self.records
        self.admit(handler.entry)
        if self.keys is None or self.is_first(handler, self.keys):
            handler.start()

    def is_first(self, handler: ResultHandler, keys: KeyLines) -> bool:
        """Put a record into the line of its key; return whether it is the first in the line.

        Raises:
            InvalidKey: hashing or comparing the key raised.
        """
        try:
            return keys.enter(handler)
        except Exception as error:
            raise invalid_key(handler.record, error) from error

    def free_key(self, handler: ResultHandler) -> None:
        """Start the next record with the key of a decided record (KEY-5)."""
        following = None if self.keys is None else self.keys.leave(handler)
        if following is not None:
            following.start()

    def process_fence(self, fence: Watermark | WatermarkStatus) -> None:
        """Admit a watermark or status: it takes a slot, too (CAP-5)."""
        self.admit(FenceEntry(fence, deque([fence])))
        self.output.tell()

    def process_marker(self, marker: LatencyMarker) -> None:
        """Let a latency marker overtake the queue (ELEM-6)."""
        self.output.put_ahead(marker)

    def admit(self, entry: Entry) -> None:
        """Put an element into the queue, in the step in which it leaves the backlog."""
        self.queue.put(entry)
