"""Entering and leaving an operator."""

from collections.abc import AsyncIterable, AsyncIterator, Callable
from contextvars import copy_context
from typing import Any

import anyio

from asyncwait.backends.emitter._checkpoints import Checkpoints
from asyncwait.backends.emitter._outlet import Outlet
from asyncwait.backends.emitter._parts import Parts
from asyncwait.spec import Element, OpenOperator, OperatorConfig, Snapshot, Statistics
from asyncwait.toolkit import (
    OperatorContext,
    check_arguments,
    close_source,
    plain_wait,
)


class EmitterResults:
    """The output of an open emitter operator, for one consumer at a time.

    See `asyncwait.spec.OperatorResults` and `SnapshotOnDemand`.

    Args:
        outlet: where elements are taken.
        checkpoints: where snapshots are requested.
        statistics: gives the present figures.
    """

    def __init__(
        self, outlet: Outlet, checkpoints: Checkpoints, statistics: Callable[[], Statistics]
    ) -> None:
        self._outlet = outlet
        self._checkpoints = checkpoints
        self._statistics = statistics

    def __aiter__(self) -> AsyncIterator[Element]:
        return self

    async def __anext__(self) -> Element:
        return await self._outlet.take()

    def statistics(self) -> Statistics:
        """Return the present figures."""
        return self._statistics()

    def request_snapshot(self, checkpoint_id: int) -> None:
        """Put a Snapshot out as the next output, whether there is room or not.

        After the end or a failure it does nothing.
        """
        self._checkpoints.request(checkpoint_id)


class EmitterOperator(OperatorContext[EmitterResults]):
    """An operator with an emitter: see `asyncwait.spec.OpenOperator`.

    Args:
        config: mode, capacity, timeout, retry, batch.
        fn: the user's function.
        elements: the input.
        restore: what an earlier operator had in flight.

    Raises:
        InvalidConfig: an argument is not what it should be.
    """

    parts_class: type[Parts] = Parts

    def __init__(
        self,
        config: OperatorConfig,
        fn: Any,
        elements: AsyncIterable[Element],
        restore: Snapshot | None = None,
    ) -> None:
        name = "the emitter operator"
        known = "retry", "max_held", "batch"
        super().__init__(check_arguments(config, fn, elements, restore, name, *known))
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
        return EmitterResults(parts.outlet, parts.checkpoints, parts.statistics)

    async def _run(self) -> None:
        with self._scope:
            await self._parts.run()

    def stop(self, error: RuntimeError | None) -> None:
        """Let nothing more out; with its life all that it runs ends."""
        self._parts.life.leave(error)
        self._scope.shield = True

    async def close_source(self) -> BaseException | None:
        if not self._has_started:
            return await close_source(self._elements)
        await self._parts.reader.close()
        return self._parts.reader.trouble


def open_with(operator_class: type[EmitterOperator]) -> OpenOperator:
    """Return the function that opens operators of a class.

    Args:
        operator_class: the operator, or a variation of it.
    """

    def open_operator(
        config: OperatorConfig,
        fn: Any,
        elements: AsyncIterable[Element],
        restore: Snapshot | None = None,
    ) -> EmitterOperator:
        """Open an emitter operator; see `asyncwait.spec.OpenOperator`."""
        return operator_class(config, fn, elements, restore)

    return open_operator


open_operator = open_with(EmitterOperator)
ordered_wait = plain_wait(open_operator, "ordered")
unordered_wait = plain_wait(open_operator, "unordered")
key_ordered_wait = plain_wait(open_operator, "key-ordered")
