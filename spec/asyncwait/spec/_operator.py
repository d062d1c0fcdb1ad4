"""The contract: an operator is a function from a stream of elements to a stream of elements."""

from collections.abc import AsyncIterable, AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct

from asyncwait.spec._config import OperatorConfig
from asyncwait.spec._elements import Element, Snapshot, Stored
from asyncwait.spec._errors import InvalidConfig


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

    What closing `elements` raises, or `close()` of the function, is raised plainly on leaving. If
    something was raised before, by the body or by the other of the two, that comes out and the
    error of closing is a note on it. `open()` that raises keeps the context from being entered;
    again, an error of closing `elements` is then a note.

    Args:
        config: mode, capacity, timeout and the rest.
        fn: the user's function; see `AsyncFunction`.
        elements: the input; its end is the end of input. Closed on every way out if it has
            `aclose()`.
        restore: what an earlier operator had in flight; called afresh before new input.

    Raises:
        InvalidConfig: `config`, `fn`, `elements` or `restore` is not what it should be.
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


def check_restore(restore: Any) -> None:
    """Refuse what an operator can't go on with.

    Args:
        restore: as it was given to `OpenOperator`.

    Raises:
        InvalidConfig: it is neither None nor a Snapshot that holds records, watermarks and
            statuses alone.
    """
    if restore is None:
        return
    if not isinstance(restore, Snapshot):
        raise InvalidConfig.of("restore", restore, "a Snapshot or None")
    name, held = "restore.in_flight", restore.in_flight
    if not isinstance(held, tuple):
        raise InvalidConfig.of(name, held, "a tuple of elements")
    for element in held:
        if not isinstance(element, Stored):
            raise InvalidConfig.of(name, element, "records, watermarks and statuses")
