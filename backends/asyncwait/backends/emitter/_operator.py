"""The operator: the way in, its parts, their connections, and its entry and exit."""

from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping
from contextvars import copy_context
from typing import Any, ClassVar

import anyio

from asyncwait.backends.emitter._calls import Calls, Records, Timers
from asyncwait.backends.emitter._emitter import CheckpointLock, Emitter, Outlet
from asyncwait.backends.emitter._queue import ElementQueue, Entry, OrderedQueue, UnorderedQueue
from asyncwait.backends.emitter._tasks import Life, Tasks
from asyncwait.spec import (
    Element,
    InvalidConfig,
    LatencyMarker,
    Mode,
    OperatorConfig,
    Record,
    Snapshot,
    Statistics,
)
from asyncwait.spec.snapshots import Stored
from asyncwait.toolkit import (
    FunctionParts,
    OperatorContext,
    SourceTask,
    check_arguments,
    close_source,
    running_loop,
)


class Intake:
    """The way into the operator: an element is read when the one before has found its place.

    Records and fences go through the queue. Markers and snapshots overtake it.

    Args:
        stored: the elements to restore, which go first.
        queue: where records and fences wait for room.
        outlet: where markers and snapshots come out.
        lock: held while a record is emitted; a snapshot waits for it, so no record is half out.
        start: calls the function for a record.
    """

    def __init__(
        self,
        stored: tuple[Stored, ...],
        queue: ElementQueue,
        outlet: Outlet,
        lock: CheckpointLock,
        start: Callable[[Entry], object],
    ) -> None:
        self.taken = 0
        """Elements taken from the source."""
        self.waiting: deque[Stored] = deque(stored)
        """Elements that wait for room: elements to restore, then the last element read."""
        self.queue = queue
        self.outlet = outlet
        self.lock = lock
        self._start = start

    async def restore(self) -> None:
        """Admit the stored elements, each as soon as there is room (REST-4)."""
        while self.waiting and await self.admit():
            pass

    async def process(self, element: Element) -> None:
        """Admit an element of the source; wait until it has its place."""
        self.taken += 1
        if isinstance(element, Stored):
            self.waiting.append(element)
            await self.admit()
        elif isinstance(element, LatencyMarker):
            self.outlet.put_ahead(element)
            await self.outlet.passed()
        else:
            upstream = element if isinstance(element, Snapshot) else None  # SNAP-10
            await self.lock.run_and_wait(lambda: self._store(element.checkpoint_id, upstream))
            await self.outlet.passed()

    async def admit(self) -> bool:
        """Put the first element that waits into the queue, as soon as there is room (CAP-3).

        Returns:
            False if the queue was closed instead.
        """
        entry = Entry.of(self.waiting[0])
        if not await self.queue.put(entry):
            return False
        self.waiting.popleft()
        if isinstance(entry.element, Record):
            self._start(entry)
        return True

    def request(self, checkpoint_id: int) -> None:
        """Emit a snapshot with the number of elements read (SNAP-9), even if an element waits."""
        self.lock.run(
            lambda: self.outlet.put_first(Snapshot(checkpoint_id, self.in_flight(), self.taken))
        )

    def _store(self, checkpoint_id: int, upstream: Snapshot | None) -> None:
        self.outlet.put_ahead(Snapshot(checkpoint_id, self.in_flight(), upstream=upstream))

    def in_flight(self) -> tuple[Stored, ...]:
        """Return all elements that were read and are not out, with the element that waits for room.

        The waiting element is in no queue yet; Flink stored it apart, and at first forgot it (its
        SN-7).
        """
        return (*self.queue.values(), *self.waiting)

    def close(self) -> None:
        """Drop the waiting elements."""
        self.waiting.clear()


class Reader(SourceTask):
    """The task that reads one element after the other, and closes the source.

    Args:
        elements: the source.
        intake: admits each element, after the elements to restore.
        queue: notified of the end.
        life: of the operator.
    """

    def __init__(
        self, elements: AsyncIterable[Element], intake: Intake, queue: ElementQueue, life: Life
    ) -> None:
        super().__init__(elements, intake.process, self._end, intake.restore)
        self._queue = queue
        self._life = life

    def _end(self, error: BaseException | None) -> None:
        self._life.source_error = error
        self._queue.end()


class Parts:
    """The parts of an operator; a variation replaces a part by naming another class here.

    Args:
        config: mode, capacity, timeout.
        function: the parts of the user's function.
        elements: the input.
        stored: the elements to restore.
    """

    queue_classes: ClassVar[Mapping[Mode, type[ElementQueue]]] = {
        "ordered": OrderedQueue,
        "unordered": UnorderedQueue,
    }
    lock_class: ClassVar[type[CheckpointLock]] = CheckpointLock
    outlet_class: ClassVar[type[Outlet]] = Outlet
    emitter_class: ClassVar[type[Emitter]] = Emitter
    timers_class: ClassVar[type[Timers]] = Timers
    records_class: ClassVar[type[Records]] = Records
    calls_class: ClassVar[type[Calls]] = Calls
    intake_class: ClassVar[type[Intake]] = Intake
    reader_class: ClassVar[type[Reader]] = Reader

    def __init__(
        self,
        config: OperatorConfig,
        function: FunctionParts,
        elements: AsyncIterable[Element],
        stored: tuple[Stored, ...],
    ) -> None:
        self.life = life = Life()
        self.tasks = Tasks(life)
        self.queue = self.queue_classes[config.mode](config.capacity)
        self.lock = self.lock_class(life)
        self.outlet = self.outlet_class(life, self.lock, config.capacity)
        self.emitter = self.emitter_class(self.queue, self.outlet, self.lock, life)
        self.timers = self.timers_class(config.timeout, running_loop().time, life)
        self.records = self.records_class(self.queue, self.timers, function.timeout, life)
        self.calls = self.calls_class(
            function, self.records, self.timers, self.tasks, life, most_abandoned=config.most_calls
        )
        self.intake = self.intake_class(
            stored, self.queue, self.outlet, self.lock, self.calls.start
        )
        self.reader = self.reader_class(elements, self.intake, self.queue, life)
        for step in (self.reader.stop, self.queue.close, self.intake.close):
            life.when_over(step)

    async def run(self) -> None:
        """Run all tasks to their ends."""
        await self.tasks.run(self.reader.run, self.emitter.run, self.timers.run)


class EmitterResults:
    """The output of an open emitter operator, for one consumer at a time.

    See `asyncwait.spec.OperatorResults` and `SnapshotOnDemand`.

    Args:
        parts: of the operator.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def __aiter__(self) -> AsyncIterator[Element]:
        return self

    async def __anext__(self) -> Element:
        return await self._parts.outlet.take()

    def statistics(self) -> Statistics:
        """Return the number of abandoned calls; this operator has no other figures."""
        return Statistics(abandoned=self._parts.calls.abandoned)

    def request_snapshot(self, checkpoint_id: int) -> None:
        """Emit a Snapshot as the next output, even if the operator is full.

        After the end or a failure it does nothing.
        """
        if not self._parts.life.is_over:
            self._parts.intake.request(checkpoint_id)


class EmitterOperator(OperatorContext[EmitterResults]):
    """An operator with an emitter: see `asyncwait.spec.OpenOperator`.

    Args:
        config: mode, capacity, timeout.
        fn: the user's function.
        elements: the input.
        restore: snapshot of an earlier operator.

    Raises:
        InvalidConfig: an argument is invalid, or asks for a feature that this operator lacks.
    """

    parts_class: type[Parts] = Parts

    def __init__(
        self,
        config: OperatorConfig,
        fn: Any,
        elements: AsyncIterable[Element],
        restore: Snapshot | None = None,
    ) -> None:
        parts = check_arguments(config, fn, elements, restore, "the emitter operator")
        super().__init__(parts)
        if config.mode not in self.parts_class.queue_classes:
            raise InvalidConfig.of("mode", config.mode, "'ordered' or 'unordered'")
        if parts.call is None or parts.failure is not None:
            expected = "a coroutine function, without a `failure`: the emitter operator asks none"
            raise InvalidConfig.of("fn", fn, expected)
        self._config = config
        self._elements = elements
        self._stored = () if restore is None else restore.in_flight
        self._has_started = False

    def start(self) -> EmitterResults:
        self._parts = parts = self.parts_class(
            self._config, self.function.within(copy_context()), self._elements, self._stored
        )
        self._stored = ()
        self._has_started = True
        self._scope = anyio.CancelScope()
        self.group.start_soon(self._run)
        return EmitterResults(parts)

    async def _run(self) -> None:
        with self._scope:
            await self._parts.run()

    def stop(self, error: RuntimeError | None) -> None:
        """End the output; the end of its life ends its tasks."""
        self._parts.life.leave(error)
        self._scope.shield = True

    async def close_source(self) -> BaseException | None:
        if not self._has_started:
            return await close_source(self._elements)
        await self._parts.reader.close()
        return self._parts.reader.trouble


def open_operator(
    config: OperatorConfig,
    fn: Any,
    elements: AsyncIterable[Element],
    restore: Snapshot | None = None,
) -> EmitterOperator:
    """Open an emitter operator; see `asyncwait.spec.OpenOperator`."""
    return EmitterOperator(config, fn, elements, restore)
