"""The operator: admits one element after the other, and has the function called for records."""

from __future__ import annotations

from collections import deque
from contextvars import copy_context
from typing import TYPE_CHECKING

from asyncwait.reference._queues import Entry, FenceEntry
from asyncwait.spec import (
    Element,
    LatencyMarker,
    OperatorConfig,
    Record,
    Watermark,
    WatermarkStatus,
)
from asyncwait.toolkit import BackOffs, CallScope, FunctionParts, invalid_key, run_hook

if TYPE_CHECKING:
    from collections.abc import Callable

    from asyncwait.reference._abandoned import CancelledCalls
    from asyncwait.reference._batches import Gathering
    from asyncwait.reference._cache import ResultCache
    from asyncwait.reference._gate import Gate
    from asyncwait.reference._handler import Attempt, ResultHandler
    from asyncwait.reference._keys import KeyLines
    from asyncwait.reference._mailbox import TaskMailbox
    from asyncwait.reference._output import Output
    from asyncwait.reference._queues import ElementQueue
    from asyncwait.reference._timers import Spawn, TimerService


class AsyncWaitOperator:
    """What Flink calls by this name: everything that happens to a single element.

    It knows neither source nor task. It is given elements one by one, when there is room for them
    (Flink's BP-10), and each is processed in one step.

    Args:
        config: mode, capacity, timeout, retry.
        function: the user's.
        queue: what is admitted and not gone.
        keys: the lines of records that wait for their keys; None where they need not.
        output: where what comes out is taken.
        timers: for deadlines.
        mailbox: for what calls come to.
        spawn: starts a task that ends with the operator.
        clock: the loop's, in seconds.
        handler_class: decides records.
        attempt_class: calls the function.
        cancelled: the calls that were cancelled.

    Attributes:
        gathered: the attempts that wait to share calls; None where each has a call of its own.
        cache: what calls have given, by key; None where nothing is kept.
        gate: the calls that wait for their permits; None where there are no limits.
        last_called: place in the input of the last record that was called.
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

        All that is asked of the function later sees the context variables of this moment (CTX-1).
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
        """Run the function's own `close`; return what that raised."""
        try:
            await run_hook(self.function.close)
        except Exception as error:
            return error
        return None

    def cancel_calls(self) -> None:
        """Cancel whatever runs; it is waited for with all tasks (END-3)."""
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
        """Admit a record, and have the function called for it, once its key is free (KEY-1)."""
        handler = self.handler_class(self, record)
        self.records += 1
        handler.place = self.records
        self.admit(handler.entry)
        if self.keys is None or self.is_first(handler, self.keys):
            handler.start()

    def is_first(self, handler: ResultHandler, keys: KeyLines) -> bool:
        """Put a record into the line of its key, and say whether it is its first.

        Raises:
            InvalidKey: there is no telling which line that is.
        """
        try:
            return keys.enter(handler)
        except Exception as error:
            raise invalid_key(handler.record, error) from error

    def free_key(self, handler: ResultHandler) -> None:
        """Have the function called for the next record with the key of a decided one (KEY-5)."""
        following = None if self.keys is None else self.keys.leave(handler)
        if following is not None:
            following.start()

    def process_fence(self, fence: Watermark | WatermarkStatus) -> None:
        """Admit a watermark or status: it takes a slot, too (CAP-5)."""
        self.admit(FenceEntry(fence, deque([fence])))
        self.output.tell()

    def process_marker(self, marker: LatencyMarker) -> None:
        """Let a latency marker overtake what is queued (ELEM-6)."""
        self.output.put_ahead(marker)

    def admit(self, entry: Entry) -> None:
        """Put an element into the queue, in the step in which it leaves where it waited."""
        self.queue.put(entry)
