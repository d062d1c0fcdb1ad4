"""The contract: an operator is a function from a stream of elements to a stream of elements."""

from collections.abc import AsyncIterable, AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct

from asyncwait.spec._config import OperatorConfig
from asyncwait.spec._elements import Element, Snapshot


class Statistics(Struct, frozen=True, kw_only=True):
    """What an operator is doing at this moment, and has done since it was opened."""

    in_flight: int = 0
    """Records admitted and not yet emitted."""
    waiting: int = 0
    """Elements taken from the source that wait for room."""
    held: int = 0
    """Finished records that wait for their turn or for the consumer."""
    calls: int = 0
    """Calls started."""
    timeouts: int = 0
    """Records decided by their deadline."""
    abandoned: int = 0
    """Calls that ran on after their record was decided and their cancellation had its turn."""
    max_in_flight: int = 0
    """Highest `in_flight` so far."""


@runtime_checkable
class OperatorResults(Protocol):
    """The output of an open operator.

    `__anext__` returns the next element; raises StopAsyncIteration at the end and after the
    context was left; raises the operator's plain error after a failure, the same one again each
    time. Cancelling a waiting `__anext__` loses no output.
    """

    def __aiter__(self) -> AsyncIterator[Element]:
        """Return itself."""
        ...

    async def __anext__(self) -> Element:
        """Return the next element of the output."""
        ...

    def statistics(self) -> Statistics:
        """Return the present figures."""
        ...


@runtime_checkable
class SnapshotOnDemand(Protocol):
    """An optional ability of `OperatorResults` (capability `on-demand-snapshot`)."""

    def request_snapshot(self, checkpoint_id: int) -> None:
        """Put a Snapshot out as the next output, whether there is room or not.

        It comes after the remaining results of a record that is just being handed out, and holds
        every input admitted or waiting for room, and `read`.
        """
        ...


class OpenOperator(Protocol):
    """How every operator is opened.

    Leaving the context before the end is cancel: nothing more is emitted, running calls are
    cancelled and waited for, and `elements` is closed.

    Args:
        config: mode, capacity, timeout and the rest.
        fn: the user's function; see `AsyncFunction`.
        elements: the input; its end is the end of input. Closed on every way out if it has
            `aclose()`.
        restore: what an earlier operator had in flight; called afresh before new input.

    Raises:
        InvalidConfig: `config` or `fn` is not what it should be.
    """

    def __call__(
        self,
        config: OperatorConfig,
        fn: Any,
        elements: AsyncIterable[Element],
        restore: Snapshot | None = None,
    ) -> AbstractAsyncContextManager[OperatorResults]:
        """Open an operator."""
        ...
