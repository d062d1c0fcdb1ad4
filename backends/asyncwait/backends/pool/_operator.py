"""The operator: opening and closing, the source and the consumer."""

from collections.abc import AsyncIterable, AsyncIterator
from contextlib import AbstractAsyncContextManager
from math import inf
from types import TracebackType
from typing import Any

import anyio
from asyncwait.spec import (
    Element,
    FunctionParts,
    InvalidConfig,
    OperatorConfig,
    Snapshot,
    Statistics,
    plain_wait,
    run_hook,
)

from asyncwait.backends.pool._core import Core
from asyncwait.backends.pool._sweep import Sweep
from asyncwait.backends.pool._workers import Crew


class PoolResults:
    """The output of an open pool operator; see `asyncwait.spec.OperatorResults`."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._taken = False

    def __aiter__(self) -> AsyncIterator[Element]:
        return self

    async def __anext__(self) -> Element:
        core = self._core
        while (element := core.poll()) is None:
            core.raise_if_over()
            await self._wait()
        return element

    async def _wait(self) -> None:
        if self._taken:
            raise RuntimeError("another task waits for the next output; there is one consumer")
        self._taken = True
        try:
            await self._core.output.wait()
        finally:
            self._taken = False

    def take_ready(self, limit: int) -> list[Element]:
        """Take up to `limit` elements that can be emitted now, without waiting.

        Each counts as emitted. It raises nothing: the end or a failure comes with `__anext__`.
        """
        batch: list[Element] = []
        while len(batch) < limit and (element := self._core.poll()) is not None:
            batch.append(element)
        return batch

    def statistics(self) -> Statistics:
        """Return the present figures."""
        return self._core.statistics()

    def request_snapshot(self, checkpoint_id: int) -> None:
        """Put a Snapshot out as the next output, whether there is room or not."""
        self._core.request_snapshot(checkpoint_id)


def open_operator(
    config: OperatorConfig,
    fn: Any,
    elements: AsyncIterable[Element],
    restore: Snapshot | None = None,
) -> AbstractAsyncContextManager[PoolResults]:
    """Open a pool operator; see `asyncwait.spec.OpenOperator`."""
    if not isinstance(config, OperatorConfig):
        raise InvalidConfig.of("config", config, "an OperatorConfig")
    if restore is not None and not isinstance(restore, Snapshot):
        raise InvalidConfig.of("restore", restore, "a Snapshot or None")
    if not isinstance(elements, AsyncIterable):
        raise InvalidConfig.of("elements", elements, "an async iterable")
    config.require_only("pool")
    return _Pool(config, FunctionParts.of(fn), elements, restore)


ordered_wait = plain_wait(open_operator, "ordered")
unordered_wait = plain_wait(open_operator, "unordered")


class _Pool(AbstractAsyncContextManager[PoolResults]):
    """One operator from its opening to its close."""

    def __init__(
        self,
        config: OperatorConfig,
        parts: FunctionParts,
        elements: AsyncIterable[Element],
        restore: Snapshot | None,
    ) -> None:
        self._config = config
        self._parts = parts
        self._source = elements
        self._core = Core(config, restore)
        self._closing: Exception | None = None

    async def __aenter__(self) -> PoolResults:
        try:
            await run_hook(self._parts.open)
        except BaseException:
            await self._close_source()
            raise
        self._group = await anyio.create_task_group().__aenter__()
        self._sweep = Sweep(self._core, self._parts, self._config, self._group)
        self._crew = Crew(self._core, self._parts, self._group, self._sweep.started)
        self._feeding = anyio.CancelScope()
        self._core.on_pending = self._crew.help
        self._core.on_close = self._dismiss
        self._group.start_soon(self._feed)
        return PoolResults(self._core)

    def _dismiss(self) -> None:
        self._feeding.cancel()
        self._sweep.close()
        self._crew.dismiss()

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._core.stop()
        # Calls that clean up are waited for, whoever wants to be elsewhere.
        self._group.cancel_scope.shield = True
        try:
            await self._group.__aexit__(None, None, None)
        except BaseExceptionGroup as group:
            raise _first_of(group) from None
        finally:
            if self._parts.close is not None:
                with anyio.CancelScope(shield=True):
                    await run_hook(self._parts.close)
        if self._closing is not None and exc is None:
            raise self._closing

    async def _feed(self) -> None:
        with self._feeding:
            try:
                await self._read()
            finally:
                await self._close_source()

    async def _read(self) -> None:
        core = self._core
        try:
            core.begin()
            while not core.may_read():
                await core.room.wait()
            async for element in self._source:
                if core.closed:
                    return
                core.read(element)
                while not core.may_read():
                    await core.room.wait()
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            if _is_cancellation(error):
                raise
            core.end(error)
        else:
            core.end(None)

    async def _close_source(self) -> None:
        close = getattr(self._source, "aclose", None)
        if close is None:
            return
        try:
            with anyio.CancelScope(shield=True):
                await close()
        except Exception as error:
            self._closing = error


def _is_cancellation(error: BaseException) -> bool:
    """Tell a cancellation from outside from an error that only looks like one."""
    cancelled = isinstance(error, anyio.get_cancelled_exc_class())
    return cancelled and anyio.current_effective_deadline() == -inf


def _first_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first plain error in `group`."""
    error = group.exceptions[0]
    return _first_of(error) if isinstance(error, BaseExceptionGroup) else error
