"""Opening and closing an operator, the task that reads its source, and its results."""

from asyncio import AbstractEventLoop, get_running_loop
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from contextvars import Context, copy_context
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import anyio
import anyio.lowlevel
from msgspec.structs import replace

from asyncwait.backends.pool._batch_workers import BatchWorkers
from asyncwait.backends.pool._cache_workers import CacheWorkers
from asyncwait.backends.pool._callbacks import CallbackWorkers
from asyncwait.backends.pool._core import NOTHING, Core
from asyncwait.backends.pool._gated import Limited
from asyncwait.backends.pool._timing import Retries, Sweep
from asyncwait.backends.pool._workers import CoroutineWorkers, Workers
from asyncwait.spec import Element, OperatorConfig, Snapshot, Statistics
from asyncwait.toolkit import (
    FunctionParts,
    Gate,
    HomeLoop,
    OperatorContext,
    PlainFunction,
    PlainSource,
    SourceTask,
    Store,
    ValuesAhead,
    check_arguments,
    no_end_in_disguise,
    plain_wait,
    running_trio,
)

_AT_ONCE = 1_000
"""Most values that are read at once from a source that never waits."""


class Feeder(SourceTask):
    """Reads the source as far as there is room."""

    def __init__(self, core: Core, elements: AsyncIterable[Any]) -> None:
        super().__init__(elements, None, core.end, self._begin_core)
        self._core = core

    async def _begin_core(self) -> None:
        self._core.begin()
        await self._room()

    async def read_all(self) -> None:
        """Read with as little work for each element as possible."""
        self.iterator = aiter(self.elements)
        await self._iterate(self.iterator, self._core.read)

    async def _iterate(
        self,
        iterator: AsyncIterator[Any],
        read: Callable[[Any], bool],
        at_hand: Callable[[int], list[Any]] | None = None,
    ) -> None:
        async for element in iterator:
            goes_on = read(element)
            del element  # The element may be emitted long before the next one comes.
            while at_hand is not None and goes_on and (chunk := at_hand(self._core.wanted)):
                goes_on = self._core.read_values(chunk)
                del chunk
            if not (goes_on or await self._room()):
                return

    async def _room(self) -> bool:
        """Wait for room; return whether the operator is still open."""
        try:
            await self._until_room()
        except anyio.get_cancelled_exc_class():
            # A scope that the source keeps open concerns only the source, which sees it later. If
            # the operator is cancelled, the close rings.
            with anyio.CancelScope(shield=True):
                await self._until_room()
        return not self._core.closed

    async def _until_room(self) -> None:
        while not (self._core.may_read() or self._core.closed):
            await self._core.room.wait()


class PlainFeeder(Feeder):
    """Reads a source of plain values, async or not."""

    def __init__(self, core: Core, source: PlainSource) -> None:
        super().__init__(core, source)
        self._source = source

    async def read_all(self) -> None:
        """Read values one by one, or all available values at once."""
        values = self._source.values()
        if isinstance(values, AsyncIterator):
            at_hand = values.at_hand if isinstance(values, ValuesAhead) else None
            await self._iterate(values, self._core.read_value, at_hand)
        else:
            await self._read_at_once(values)

    async def _read_at_once(self, values: Iterator[Any]) -> None:
        core = self._core
        with no_end_in_disguise():
            while True:
                chunk: list[Any] = []
                wanted = min(core.wanted, _AT_ONCE)
                try:
                    # In place, to keep the values that were read before the source raised.
                    chunk.extend(islice(values, wanted))
                finally:
                    goes_on = core.read_values(chunk)
                is_over = len(chunk) < wanted
                del chunk  # The values may be emitted long before more values come.
                if is_over or not (goes_on or await self._room()):
                    return


class PoolValues:
    """The output of an open pool operator, for one consumer at a time: plain values.

    See `asyncwait.toolkit.PlainResults`.
    """

    def __init__(self, core: Core) -> None:
        self._core = core
        self._poll = core.poll
        self._awaited = False
        self._loop: AbstractEventLoop | None = None
        """The asyncio loop that entered the operator: comparing it costs no time."""
        self._home: HomeLoop | None = None

    def enter(self) -> None:
        """Note which event loop reads from now on."""
        self._home = HomeLoop()
        self._loop = None if running_trio() is not None else get_running_loop()

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        if self._awaited:
            raise RuntimeError("another task waits for the next element; there is one consumer")
        # No await lies between taking an element and returning it: a cancellation loses nothing.
        while (element := self._poll()) is NOTHING:
            if self._core.is_interrupted:
                await anyio.lowlevel.checkpoint_if_cancelled()  # as its consumer mostly is
            self._core.raise_if_over()
            await self._wait()
        return element

    async def _wait(self) -> None:
        if self._home is not None and (self._loop is None or get_running_loop() is not self._loop):
            self._home.require("read")
        self._awaited = True
        try:
            await self._core.output.wait()
        finally:
            self._awaited = False

    def statistics(self) -> Statistics:
        """Return the present figures."""
        return self._core.statistics()

    def take_ready(self, limit: int) -> list[Any]:
        """Take up to `limit` results that can be emitted now, without waiting.

        Each counts as emitted. This method raises no error: the end, or a failure, comes with the
        next `__anext__`.
        """
        batch: list[Any] = []
        while len(batch) < limit and (result := self._core.poll()) is not NOTHING:
            batch.append(result)
        return batch


class PoolResults(PoolValues):
    """The output of an open pool operator, for one consumer at a time.

    See `asyncwait.spec.OperatorResults` and `SnapshotOnDemand`.
    """

    def request_snapshot(self, checkpoint_id: int) -> None:
        """Emit a Snapshot as the next output, even if the operator is full.

        After the end or a failure it does nothing.
        """
        self._core.request_snapshot(checkpoint_id)


R = TypeVar("R", bound=PoolValues)

_KNOWN = "retry", "max_held", "batch", "cache", "limits", "on_failure"
"""Settings that not every operator supports."""


def open_operator(
    config: OperatorConfig,
    fn: Any,
    elements: AsyncIterable[Element],
    restore: Snapshot | None = None,
    *,
    store: Store | None = None,
) -> AbstractAsyncContextManager[PoolResults]:
    """Open a pool operator; see `asyncwait.spec.OpenOperator`.

    Calls share a few long-lived tasks, one after the other; a task that user code still refers to
    serves no further call. Calls do not share context variables or cancellations.

    Args:
        config: see `OpenOperator`, as for the next three.
        fn: the user's function.
        elements: the input.
        restore: snapshot of an earlier operator.
        store: see `open_plain`.

    Raises:
        InvalidConfig: an argument is invalid.
    """
    parts = check_arguments(config, fn, elements, restore, "pool", *_KNOWN)
    core = Core(config, restore)
    feed = partial(Feeder, core, elements)
    return _Pool(config, parts, core, feed, PoolResults(core), fn=fn, store=store)


def open_plain(
    config: OperatorConfig,
    function: PlainFunction,
    source: PlainSource,
    feeder: Callable[[Core, PlainSource], PlainFeeder] = PlainFeeder,
    store: Store | None = None,
) -> AbstractAsyncContextManager[PoolValues]:
    """Open a pool operator for plain values; see `asyncwait.toolkit.OpenPlain`.

    Args:
        config: see `OpenPlain`, as for the next two.
        function: the user's function.
        source: the values.
        feeder: makes the task that reads the source into the pool.
        store: where `config.cache` keeps results; None for a store of its own. Other operators may
            use it too, in the same thread, one after the other or at the same time; their clocks
            must be the same.
    """
    parts = check_arguments(config, function, source, None, "pool", *_KNOWN)
    if function.single and parts.invoke is None:
        own = replace(FunctionParts.of(function), call=function.call)
        parts = own.with_copies(config.copy, batched=config.batch is not None)
    core = Core(config, None, source.making, single=function.single)
    feed, results = partial(feeder, core, source), PoolValues(core)
    return _Pool(config, parts, core, feed, results, fn=function, store=store)


ordered_wait = plain_wait(open_operator, "ordered", open_plain)
unordered_wait = plain_wait(open_operator, "unordered", open_plain)
key_ordered_wait = plain_wait(open_operator, "key-ordered", open_plain)


class _Pool(OperatorContext[R]):
    def __init__(
        self,
        config: OperatorConfig,
        parts: FunctionParts,
        core: Core,
        feed: Callable[[], Feeder],
        results: R,
        *,
        fn: Any,
        store: Store | None = None,
    ) -> None:
        super().__init__(parts)
        self._fn = fn
        self._gate: Gate | None = None
        self._config = config
        self._core = core
        self.notes = core.notes
        self._feed = feed
        self._results = results
        self._store = store

    def prepare(self) -> None:
        self._feeder = self._feed()
        if self._config.limits is not None:
            spent = getattr(self._fn, "spent", None)
            limits, capacity = self._config.limits, self._config.capacity
            defers = self._config.mode == "key-ordered"
            self._gate = Gate(limits, capacity, spent, defers=defers)

    def start(self) -> R:
        opened = copy_context()
        self.function = self.function.within(opened)
        self._core.failure_handler = self.function.failure
        self._watch = anyio.CancelScope()
        self._sweep = self._sweeper()
        if self._config.on_failure is not None:
            self._core.on_final = self._sweep.finish
        self._workers = self._hire(opened)
        self._core.on_pending = self._workers.wake_worker
        self._core.on_close = self._dismiss
        self.group.start_soon(self._heed)
        if self._gate is not None:
            self._core.waiting_for_permits = self._gate.waiting
            self._gate.on_lost = self._core.fail
            self.group.start_soon(self._gate.keep_time)
        self.group.start_soon(self._feeder.run)
        self._results.enter()
        return self._results

    def _sweeper(self) -> Sweep:
        common = self._core, self.function, self._config, self.group
        if self._config.retry is None:
            return Sweep(*common)
        return Retries(*common, self._config.retry)

    def _hire(self, opened: Context) -> Workers:
        function = self.function.call or self.function.invoke
        limited = None if self._gate is None else Limited(self._core, self._gate, self._fn)
        common = self._core, self.group, self._sweep, function, opened, limited
        if self._gate is not None:
            self._sweep.on_abandoned = self._gate.note_abandoned
        if limited is not None and limited.has_budget and isinstance(self._sweep, Retries):
            limited.paused = self._sweep.paused
            self._sweep.on_back_off = limited.look_at_budgets
        if self._config.batch is not None:
            return BatchWorkers(*common, config=self._config, copy=self.function.copy)
        if self._config.cache is not None:
            return CacheWorkers(*common, config=self._config, store=self._store)
        if self.function.invoke is not None:
            return CallbackWorkers(*common)
        return CoroutineWorkers(*common)

    async def _heed(self) -> None:
        """Notice that the operator is cancelled from outside, which does not reach into calls."""
        cancelled = anyio.get_cancelled_exc_class()
        with self._watch:
            try:
                await anyio.sleep_forever()
            except cancelled:
                self._core.interrupt()  # If the operator cancelled the task itself, it is closed.
                raise

    def _dismiss(self) -> None:
        if self._gate is not None:
            self._gate.close()
        self._watch.shield = True  # so are the others that are cancelled here: see `JoinableTasks`
        self._watch.cancel()
        self._feeder.stop()
        self._sweep.close()
        self._workers.dismiss()

    def stop(self, error: RuntimeError | None) -> None:
        self._core.stop(error)

    async def close_function(self) -> Exception | None:
        trouble = await super().close_function()
        if self._gate is not None:
            self._gate.forget()
        return trouble

    async def close_source(self) -> BaseException | None:
        await self._feeder.close()
        return self._feeder.trouble
