"""The task: opens the operator, runs the mailbox, and passes the input to the operator.

enter ── open() ── restore ── process input ── drain ── finish ── settle ──┬── leave ── close()
                              an error, from anywhere ── fail ─────────────┘
"""

from collections import deque
from collections.abc import AsyncIterable, Callable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any

import anyio
from msgspec import Struct

from asyncwait.reference._abandoned import CancelledCalls
from asyncwait.reference._batches import BatchCall, Gathering
from asyncwait.reference._cache import LoadCall, ResultCache
from asyncwait.reference._counts import require_own
from asyncwait.reference._gate import Gate
from asyncwait.reference._handler import Attempt, ResultHandler
from asyncwait.reference._mailbox import Mail, TaskMailbox
from asyncwait.reference._operator import AsyncWaitOperator, KeyLines
from asyncwait.reference._output import Output
from asyncwait.reference._processor import MailboxProcessor, Suspension
from asyncwait.reference._queues import (
    ElementQueue,
    KeyOrderedQueue,
    OrderedQueue,
    UnorderedQueue,
)
from asyncwait.reference._source import End, SourceReader
from asyncwait.reference._timers import TimerService
from asyncwait.spec import (
    Barrier,
    Element,
    Mode,
    OpenOperator,
    OperatorConfig,
    Record,
    Snapshot,
    Statistics,
)
from asyncwait.spec.snapshots import Stored
from asyncwait.toolkit import (
    FunctionParts,
    HomeLoop,
    OperatorContext,
    check_arguments,
    running_loop,
    start_task,
)

QUEUES: Mapping[Mode, type[ElementQueue]] = MappingProxyType(
    {"ordered": OrderedQueue, "unordered": UnorderedQueue, "key-ordered": KeyOrderedQueue}
)


class InputStatus(Enum):
    """State of the input (Flink's MB-31)."""

    MORE_AVAILABLE = "more available"
    NOTHING_AVAILABLE = "nothing available"
    END_OF_DATA = "end of data"
    """All input has been read and has left the queue; the output can end."""
    END_OF_INPUT = "end of input"
    """The output has ended, and no cancelled call is in doubt."""


class StreamTask:
    """The one task of an operator; the docstring of `asyncwait.reference` explains it.

    Args:
        parts: classes of the other parts.
        config: mode, capacity, timeout.
        function: parts of the user's function.
        elements: the input.
        stored: restored elements, which precede the input.
    """

    def __init__(
        self,
        parts: "Parts",
        config: OperatorConfig,
        function: FunctionParts,
        elements: AsyncIterable[Element],
        stored: tuple[Stored, ...],
    ) -> None:
        loop = running_loop()
        self.clock = loop.time
        self.config = config
        self.stored = stored  # until `restore`
        self.backlog: deque[Element] = deque()  # elements read or restored, and not admitted
        self.end: End | None = None  # of the input, once it has ended
        self.read = 0
        self.suspension: Suspension | None = None  # of the default action
        self.life = anyio.CancelScope()
        self.tasks = anyio.create_task_group()
        self.mailbox = parts.mailbox(loop)
        self.processor = parts.processor(loop, self.process_input, self.mailbox)
        self.timers = parts.timers(loop, self.post, self.spawn)
        self.queue = parts.queues[config.mode](config.capacity, self.resume, config.max_held or 0)
        self.output = parts.output(self.queue, self)
        self.operator = parts.operator(
            config,
            function,
            queue=self.queue,
            keys=parts.keys() if config.mode == "key-ordered" else None,
            output=self.output,
            timers=self.timers,
            mailbox=self.mailbox,
            spawn=self.spawn,
            clock=self.clock,
            handler_class=parts.handler,
            attempt_class=parts.attempt,
            cancelled=parts.cancelled(config.most_calls, self.timers, self.resume),
        )
        if config.batch is not None:
            self.operator.gathered = parts.gathering(
                self.operator, config.batch, parts.batch, self.nothing_more_comes
            )
        if config.cache is not None:
            self.operator.cache = parts.cache(self.operator, config.cache, parts.load)
        if config.limits is not None:
            limits = require_own(config.limits)
            self.operator.gate = parts.gate(self.operator, limits, self.resume)
        self.source = parts.source(elements, self.on_element, self.on_end)

    # Its life

    async def live(self) -> None:
        """Run, until `cancel` at the latest."""
        with self.life:
            await self.run()

    def cancel(self) -> None:
        """Cancel this task, but not the task that waits for its end."""
        self.life.shield = True  # see `JoinableTasks`
        self.life.cancel()

    async def run(self) -> None:
        """Run from the first restored element to the end of the output, or until a failure."""
        interruption: BaseException | None = None
        try:
            async with self.tasks:
                try:
                    self.spawn(self.source.run)
                    await self.work()
                except Exception as error:
                    self.fail(error)
                except anyio.get_cancelled_exc_class():
                    self.output.interrupt()
                    raise
                except (KeyboardInterrupt, SystemExit) as error:
                    self.output.withhold()
                    interruption = error
                finally:
                    self.stop()
        finally:  # Another task may have been interrupted, or cancelled, in the same instant.
            if interruption is not None:
                self.output.interrupt()
                raise interruption  # asyncio does not pass an interruption on inside a group.

    async def work(self) -> None:
        """Restore, and run the mailbox until the end."""
        self.restore()
        await self.processor.run()

    def restore(self) -> None:
        """Put the restored elements into the backlog before any new input (REST-1).

        They wait for room like any other element (REST-4).
        """
        self.backlog.extend(self.stored)
        self.stored = ()
        self.let_read()

    def process_input(self, controller: object) -> None:  # noqa: ARG002 - the loop gives it
        """Process one element as the default action, or suspend the action.

        Other tasks run after each element: so each call begins before the next call is started,
        also on trio, which runs new tasks in any order (ORD-4).

        An element that needs a slot waits in the backlog until a slot is free, so that no
        processing is ever interrupted by a wait for room (Flink's BP-10).
        """
        match self.input_status():
            case InputStatus.MORE_AVAILABLE if self.is_back_pressured():
                self.suspend()
            case InputStatus.MORE_AVAILABLE:
                self.process(self.backlog.popleft())
                self.let_read()
            case InputStatus.NOTHING_AVAILABLE:
                self.suspend()
            case InputStatus.END_OF_DATA if not self.has_mails():
                self.finish()
            case InputStatus.END_OF_INPUT:
                self.processor.all_actions_completed()

    def input_status(self) -> InputStatus:
        """Return the present state of the input."""
        if self.backlog and not self.is_stopped:
            return InputStatus.MORE_AVAILABLE
        if self.end is None and not self.is_stopped:
            return InputStatus.NOTHING_AVAILABLE
        if not self.output.finished:
            drained = self.is_drained()
            return InputStatus.END_OF_DATA if drained else InputStatus.NOTHING_AVAILABLE
        settled = self.is_settled()
        return InputStatus.END_OF_INPUT if settled else InputStatus.NOTHING_AVAILABLE

    def is_back_pressured(self) -> bool:
        """Return whether the next element needs a slot, and no slot is free."""
        return isinstance(self.backlog[0], Stored) and self.queue.is_full

    def is_drained(self) -> bool:
        """Return whether no record is in flight, except records that lack budget (END-1)."""
        gate = self.operator.gate
        return len(self.queue) == 0 or (gate is not None and gate.is_drained())

    @property
    def is_stopped(self) -> bool:
        """Whether a budget is spent, so that nothing more is read (LIMIT-15)."""
        return self.operator.gate is not None and self.operator.gate.spent is not None

    def has_mails(self) -> bool:
        """Return whether a mail waits, which may report a failure."""
        return self.mailbox.has_mail

    def is_settled(self) -> bool:
        """Return whether each cancelled call has ended or is abandoned (TIME-8)."""
        return self.operator.cancelled.in_doubt == 0

    def nothing_more_comes(self) -> bool:
        """Return whether no further record can join the waiting batch (BAT-3)."""
        gathered, queue = self.operator.gathered, self.queue
        assert gathered is not None
        if gathered.some_may_come():
            return False
        if self.end is not None and not self.backlog:
            return True
        return queue.is_full and queue.peek_ready() is None and not gathered.running

    def suspend(self) -> None:
        """Suspend the default action until `resume`."""
        if self.operator.gathered is not None:
            self.operator.gathered.look()
        self.suspension = self.processor.suspend_default_action()

    def resume(self) -> None:
        """Let the default action run again: input or room may have arrived."""
        if self.suspension is not None:
            self.suspension.resume()
            self.suspension = None

    def finish(self) -> None:
        """End the output with the error of the source or the budget, if any (END-2, FAIL-7)."""
        gate = self.operator.gate
        if gate is not None and gate.spent is not None:
            left = (each for each in self.in_flight_elements() if isinstance(each, Record))
            self.output.finish(gate.end([each.value for each in left]))
        else:
            self.output.finish(None if self.end is None else self.end.error)

    def fail(self, error: BaseException) -> None:
        """End the output at once; finished outputs that were not taken are dropped (FAIL-3)."""
        self.output.cut(error)

    def spawn(self, function: Callable[..., object], *args: object) -> None:
        """Start a task that ends with this one."""
        start_task(self.tasks, function, *args)

    def stop(self) -> None:
        """End all mails, timers, calls and the reader (END-4)."""
        self.mailbox.close()
        self.timers.close()
        self.source.stop()
        self.operator.cancel_calls()
        if self.operator.gate is not None:
            self.operator.gate.close()
        self.tasks.cancel_scope.cancel()

    # Elements

    def process(self, element: Element) -> None:
        """Process a barrier here, and pass any other element to the operator."""
        if isinstance(element, Barrier | Snapshot):
            self.process_barrier(element)
        else:
            self.operator.process(element)

    def process_barrier(self, barrier: Barrier | Snapshot) -> None:
        """Take the snapshot that a barrier requests, without a wait (SNAP-1, SNAP-5).

        A Snapshot in place of a barrier becomes `upstream` of the new snapshot (SNAP-10).
        """
        upstream = barrier if isinstance(barrier, Snapshot) else None
        stored = self.in_flight_elements()
        self.output.put_ahead(Snapshot(barrier.checkpoint_id, stored, upstream=upstream))

    def snapshot(self, checkpoint_id: int) -> Snapshot:
        """Return a snapshot on demand (SNAP-9)."""
        return Snapshot(checkpoint_id, self.in_flight_elements(), self.read)

    def in_flight_elements(self) -> tuple[Stored, ...]:
        """Return the inputs that were read and not emitted (SNAP-2, SNAP-3, SNAP-4).

        They are the admitted elements, and for a snapshot on demand also the backlog and elements
        not restored yet; a barrier waits until these are admitted. A record with some results taken
        is not included: its other results precede the snapshot.
        """
        waiting = (element for element in self.backlog if isinstance(element, Stored))
        gate = self.operator.gate
        unpaid = [] if gate is None else gate.unpaid
        return (*unpaid, *self.queue.elements(), *waiting, *self.stored)

    # Input

    def on_element(self, element: Element) -> None:
        """Append an element to the backlog in the step of its read, for the sake of snapshots."""
        self.read += 1
        self.backlog.append(element)
        self.resume()

    def on_end(self, end: End) -> None:
        """Take note that the input has ended."""
        self.end = end
        self.resume()

    def let_read(self) -> None:
        """Let the source read the next element, if the backlog is empty (CAP-4).

        Overtaking elements take no slot. While more of them than the capacity wait for the
        consumer, nothing is read (CAP-6); a waiting consumer has taken all of them.
        """
        output = self.output
        if (
            self.is_stopped
            or self.backlog
            or self.stored
            or (output.ahead and output.overtakers > self.config.capacity)
        ):
            return
        self.source.proceed()

    # Figures

    def statistics(self) -> Statistics:
        """Return the present figures of the operator."""
        operator, queue, runs = self.operator, self.queue, not self.output.is_over
        oldest = queue.oldest
        return Statistics(
            in_flight=queue.records * runs,
            waiting=self.waiting * runs,
            held=queue.held * runs,
            calls=operator.calls,
            batches=operator.batches,
            **({} if operator.cache is None else operator.cache.figures()),
            retries=operator.retries,
            timeouts=operator.timeouts,
            failures_handled=operator.failures_handled,
            abandoned=operator.cancelled.abandoned,
            max_in_flight=queue.most_records,
            max_held=queue.most_held,
            waiting_for_permits=() if operator.gate is None else operator.gate.figure(),
            oldest=0.0 if oldest is None else (self.clock() - oldest) * runs,
        )

    @property
    def waiting(self) -> int:
        """Number of elements from the source that wait for room: 0 or 1.

        All restored elements have room before the source is read, and then each element is read
        when the element before it has room.
        """
        is_one = self.read > 0 and len(self.backlog) > 0
        return int(is_one and isinstance(self.backlog[0], Stored))

    # Mails and tasks

    def post(self, run: Callable[[], object]) -> None:
        """Send a mail; the mailbox of a closed operator drops it."""
        self.mailbox.offer(Mail(run))


class ResultStream(OperatorContext[Output]):
    """The context manager that opens an operator, and returns its results.

    Args:
        parts: classes of the operator's parts.
        config: mode, capacity, timeout.
        fn: the user's function.
        elements: the input.
        restore: snapshot of an earlier operator.

    Raises:
        InvalidConfig: an argument is invalid.
    """

    def __init__(
        self,
        parts: "Parts",
        config: OperatorConfig,
        fn: Any,
        elements: AsyncIterable[Element],
        restore: Snapshot | None = None,
    ) -> None:
        name = "the reference operator"
        known = "retry", "max_held", "batch", "cache", "limits"
        super().__init__(check_arguments(config, fn, elements, restore, name, *known))
        self.parts = parts
        self.config = config
        self.elements = elements
        self.stored: tuple[Stored, ...] = () if restore is None else restore.in_flight

    def prepare(self) -> None:
        self.task = self.parts.task(
            self.parts, self.config, self.function, self.elements, self.stored
        )
        self.stored = ()  # This object must not keep the elements alive.

    async def open(self) -> None:
        await self.task.operator.open()

    def start(self) -> Output:
        self.group.start_soon(self.task.live)
        self.task.output.home = HomeLoop()
        return self.task.output

    def stop(self, error: RuntimeError | None) -> None:
        self.task.output.leave(error)
        self.task.cancel()

    async def close_source(self) -> BaseException | None:
        await self.task.source.close()
        return self.task.source.trouble

    async def close_function(self) -> Exception | None:
        return await self.task.operator.close()


class Parts(Struct, frozen=True, kw_only=True):
    """Classes of the parts. A variation of the operator replaces some of them.

    Args:
        stream: opens and leaves the operator.
        task: runs the mailbox, and passes the input to the operator.
        mailbox: queue of mails.
        processor: loop over mails and input.
        source: reads the input.
        operator: admits elements.
        handler: decides one record, by attempts and deadline.
        attempt: calls the function for one record.
        gathering: collects attempts for batches.
        batch: calls the function for a batch.
        cache: keeps results by key.
        load: calls the function for a key.
        gate: lets calls wait until all limits have room for them.
        cancelled: finds cancelled calls that are abandoned.
        timers: fires deadlines, limits and back-offs.
        keys: lets records wait for their keys, in key-ordered mode.
        queues: queue of admitted elements, for each mode.
        output: the consumer's side.
    """

    stream: type[ResultStream] = ResultStream
    task: type[StreamTask] = StreamTask
    mailbox: type[TaskMailbox] = TaskMailbox
    processor: type[MailboxProcessor] = MailboxProcessor
    source: type[SourceReader] = SourceReader
    operator: type[AsyncWaitOperator] = AsyncWaitOperator
    handler: type[ResultHandler] = ResultHandler
    attempt: type[Attempt] = Attempt
    gathering: type[Gathering] = Gathering
    batch: type[BatchCall] = BatchCall
    cache: type[ResultCache] = ResultCache
    load: type[LoadCall] = LoadCall
    gate: type[Gate] = Gate
    cancelled: type[CancelledCalls] = CancelledCalls
    timers: type[TimerService] = TimerService
    keys: type[KeyLines] = KeyLines
    queues: Mapping[Mode, type[ElementQueue]] = QUEUES
    output: type[Output] = Output


REFERENCE = Parts()
"""The parts of the reference operator."""


def open_with(parts: Parts = REFERENCE) -> OpenOperator:
    """Return a function that opens operators with these parts.

    Args:
        parts: parts of the operators.
    """

    def open_operator(
        config: OperatorConfig,
        fn: Any,
        elements: AsyncIterable[Element],
        restore: Snapshot | None = None,
    ) -> ResultStream:
        """Open an operator; see `asyncwait.spec.OpenOperator`."""
        return parts.stream(parts, config, fn, elements, restore)

    return open_operator
