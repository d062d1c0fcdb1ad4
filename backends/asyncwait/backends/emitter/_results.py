"""The consumer's side of an open operator."""

from collections.abc import AsyncIterator, Callable

from asyncwait.backends.emitter._checkpoints import Checkpoints
from asyncwait.backends.emitter._outlet import Outlet
from asyncwait.spec import Element, Statistics


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
