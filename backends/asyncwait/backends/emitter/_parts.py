"""The parts of an operator, and the wires between them."""

from collections.abc import AsyncIterable, Callable, Coroutine, Mapping
from math import inf
from typing import Any, ClassVar

from asyncwait.backends.emitter._batches import BatchCalls
from asyncwait.backends.emitter._blocking import ElementQueue
from asyncwait.backends.emitter._callbacks import CallbackCalls, Letters
from asyncwait.backends.emitter._calls import Calls, CoroutineCalls
from asyncwait.backends.emitter._checkpoints import Checkpoints
from asyncwait.backends.emitter._emitter import Emitter
from asyncwait.backends.emitter._entries import Entry
from asyncwait.backends.emitter._intake import Intake
from asyncwait.backends.emitter._keys import KeyChains
from asyncwait.backends.emitter._life import Life, Tasks
from asyncwait.backends.emitter._lock import CheckpointLock
from asyncwait.backends.emitter._outlet import Outlet
from asyncwait.backends.emitter._queues import KeyOrderedQueue, OrderedQueue, UnorderedQueue
from asyncwait.backends.emitter._reader import Reader
from asyncwait.backends.emitter._records import Records
from asyncwait.backends.emitter._retries import Retries
from asyncwait.backends.emitter._timers import Timers
from asyncwait.backends.emitter._watch import Watch
from asyncwait.spec import Element, Mode, OperatorConfig, Statistics
from asyncwait.spec.snapshots import Stored
from asyncwait.toolkit import FunctionParts, running_loop


class Parts:
    """What an operator consists of; a variation replaces a part by naming another class here.

    Args:
        config: mode, capacity, timeout, retry, batch.
        function: the parts of the user's function.
        elements: the input.
        stored: what is to be restored.
    """

    queue_classes: ClassVar[Mapping[Mode, type[ElementQueue]]] = {
        "ordered": OrderedQueue,
        "unordered": UnorderedQueue,
        "key-ordered": KeyOrderedQueue,
    }
    lock_class: ClassVar[type[CheckpointLock]] = CheckpointLock
    outlet_class: ClassVar[type[Outlet]] = Outlet
    emitter_class: ClassVar[type[Emitter]] = Emitter
    timers_class: ClassVar[type[Timers]] = Timers
    retries_class: ClassVar[type[Retries]] = Retries
    records_class: ClassVar[type[Records]] = Records
    checkpoints_class: ClassVar[type[Checkpoints]] = Checkpoints
    intake_class: ClassVar[type[Intake]] = Intake
    reader_class: ClassVar[type[Reader]] = Reader
    chains_class: ClassVar[type[KeyChains]] = KeyChains

    def __init__(
        self,
        config: OperatorConfig,
        function: FunctionParts,
        elements: AsyncIterable[Element],
        stored: tuple[Stored, ...],
    ) -> None:
        retry, timeout = config.retry, _seconds(config.timeout)
        limit = inf if retry is None else _seconds(retry.attempt_timeout)
        self.life = life = Life()
        self.tasks = Tasks(life)
        self.queue = self.queue_classes[config.mode](config.capacity, config.max_held or 0)
        self.lock = self.lock_class(life)
        self.outlet = self.outlet_class(life, self.lock, config.capacity)
        self.emitter = self.emitter_class(self.queue, self.outlet, self.lock, life)
        self.loop = running_loop()
        self.timers = self.timers_class(timeout, self.loop.time, life, limit=limit)
        self.retries = self.retries_class(retry, self.tasks)
        self.records = self.records_class(
            self.queue, self.timers, self.retries, function, timeout=timeout, life=life
        )
        self.watch = Watch(config.most_calls, self.loop.time, self.tasks, life)
        self.letters = Letters(self.loop, life)
        self.calls = self._calls(config, function)
        self.retries.call_again = self.calls.start
        self.checkpoints = self.checkpoints_class(self.queue, self.outlet, self.lock, life)
        self.intake = self.intake_class(
            stored, self.queue, self._start(config.mode), self.outlet, self.checkpoints
        )
        self.checkpoints.waiting = lambda: tuple(self.intake.waiting)
        self.checkpoints.taken = lambda: self.intake.taken
        self.reader = self.reader_class(elements, self.intake, self.queue, life)
        life.when_over(self.reader.stop)
        life.when_over(self.queue.close)
        life.when_over(self.intake.close)

    def _calls(self, config: OperatorConfig, function: FunctionParts) -> Calls:
        wires: tuple[Any, ...] = (self.records, self.timers, self.tasks)
        if config.batch is not None:
            edges: dict[str, Any] = {"config": config, "copy": function.copy, "queue": self.queue}
            return BatchCalls(function.call, *wires, **edges, watch=self.watch, life=self.life)
        if function.invoke is None:
            return CoroutineCalls(function.call, *wires, watch=self.watch, life=self.life)
        return CallbackCalls(function.invoke, *wires, letters=self.letters, life=self.life)

    def _start(self, mode: Mode) -> Callable[[Entry], object]:
        """Return what calls the function for a record."""
        if mode != "key-ordered":
            return self.calls.start
        chains = self.chains_class(self.calls.start, self.life.fail)
        self.records.on_completed = chains.completed
        self.life.when_over(chains.clear)
        return chains.start

    async def run(self) -> None:
        """Run all tasks to their ends."""
        tasks: list[Callable[[], Coroutine[Any, Any, None]]] = [self.reader.run, self.emitter.run]
        if isinstance(self.calls, BatchCalls):
            tasks.append(self.calls.send)
        await self.tasks.run(*tasks, self.timers.run, self.letters.run)

    def statistics(self) -> Statistics:
        """Return the present figures."""
        queue, runs = self.queue, not self.life.is_over
        taken = self.outlet.lingering() * runs
        return Statistics(
            in_flight=queue.records() - taken,
            waiting=min(self.intake.taken, len(self.intake.waiting)) * runs,
            held=queue.held() - taken,
            calls=self.calls.started,
            batches=self.calls.batches,
            retries=self.calls.repeated,
            timeouts=self.records.timeouts,
            failures_handled=self.records.failures_handled,
            abandoned=self.watch.abandoned,
            max_in_flight=self.intake.max_in_flight,
            max_held=queue.max_held,
            oldest=self._oldest(),
        )

    def _oldest(self) -> float:
        """Return how many seconds ago the first call of a record began that is not taken."""
        # At most one that is taken waits for the emitter to remove it; one without outputs waits
        # for its turn like any other.
        called = self.queue.called.items()
        calls = (at for entry, at in called if not (entry.outputs and entry.is_taken))
        began = next(calls, None)
        return 0.0 if began is None else self.loop.time() - began


def _seconds(timeout: float | None) -> float:
    return inf if timeout is None else timeout
