"""The operator: its parts, their connections, and its entry and exit."""

from collections.abc import AsyncIterable, AsyncIterator, Mapping
from contextvars import copy_context
from typing import Any, ClassVar

import anyio

from asyncwait.backends.emitter._calls import Calls, Records, Timers
from asyncwait.backends.emitter._emitter import CheckpointLock, Emitter, Outlet
from asyncwait.backends.emitter._queue import ElementQueue, OrderedQueue, UnorderedQueue
from asyncwait.backends.emitter._reader import Intake, Reader
from asyncwait.backends.emitter._tasks import Life, Tasks
from asyncwait.spec import (
    Element,
    InvalidConfig,
    Mode,
    OperatorConfig,
    Snapshot,
    Statistics,
)
from asyncwait.spec.snapshots import Stored
from asyncwait.toolkit import (
    FunctionParts,
    OperatorContext,
    check_arguments,
    close_source,
    running_loop,
)


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
