"""The operator: admits one element after the other, and has the function called for records."""

# Collaborators know each other's types, which is no import at run time.
# pyright: reportImportCycles=false

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from asyncwait.reference._queues import Entry, FenceEntry
from asyncwait.spec import (
    BackOffs,
    Element,
    FunctionParts,
    LatencyMarker,
    OperatorConfig,
    Record,
    Watermark,
    WatermarkStatus,
    run_hook,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from asyncwait.reference._abandoned import CancelledCalls
    from asyncwait.reference._alarms import Spawn
    from asyncwait.reference._handler import Attempt, ResultHandler
    from asyncwait.reference._mailbox import TaskMailbox
    from asyncwait.reference._output import Output
    from asyncwait.reference._queues import ElementQueue
    from asyncwait.reference._timers import TimerService


class AsyncWaitOperator:
    """What Flink calls by this name: everything that happens to a single element.

    It knows neither source nor task. It is given elements one by one, when there is room for them
    (Flink's BP-10), and each is processed in one step.

    Args:
        config: mode, capacity, timeout, retry.
        function: the user's.
        queue: what is admitted and not gone.
        output: where what comes out is taken.
        timers: for deadlines.
        mailbox: for what calls come to.
        spawn: starts a task that ends with the operator.
        clock: the loop's, in seconds.
        handler_class: decides records.
        attempt_class: calls the function.
        cancelled: the calls that were cancelled.
    """

    def __init__(
        self,
        config: OperatorConfig,
        function: FunctionParts,
        *,
        queue: ElementQueue,
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
        self.output = output
        self.timers = timers
        self.mailbox = mailbox
        self.spawn = spawn
        self.clock = clock
        self.handler_class = handler_class
        self.attempt_class = attempt_class
        self.cancelled = cancelled
        self.back_offs = None if config.retry is None else BackOffs(config.retry)
        self.calls = 0
        self.retries = 0
        self.timeouts = 0
        self.max_in_flight = 0

    # The user's function

    async def open(self) -> None:
        """Run the function's own `open`, before any call (END-6)."""
        await run_hook(self.function.open)

    async def close(self) -> Exception | None:
        """Run the function's own `close`; return what that raised."""
        try:
            await run_hook(self.function.close)
        except Exception as error:
            return error
        return None

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
        """Admit a record, and have the function called for it."""
        handler = self.handler_class(self, record)
        self.admit(handler.entry)
        handler.start()

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
        self.max_in_flight = max(self.queue.records, self.max_in_flight)
