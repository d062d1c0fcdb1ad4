"""What a variation of carrying is: one class, whose name and docstring say what it does."""

from asyncwait.backends.faulty._gallery import Slip, into
from asyncwait.toolkit import CallTable, Lane, LaneCalls, Served


class FaultyCarry(Slip, frozen=True, kw_only=True):
    """A small change to a `Lane`, or to the `CallTable`, `LaneCalls` or `Served` of a host."""

    @property
    def lane_class(self) -> type[Lane]:
        """What plays its visits."""
        return self._instead_of(Lane)

    @property
    def table_class(self) -> type[CallTable]:
        """What its host knows its calls by."""
        parts = {
            "calls_class": self._instead_of(LaneCalls),
            "served_class": self._instead_of(Served),
        }
        return type("Table", (self._instead_of(CallTable),), parts)


FOUND: list[FaultyCarry] = []
"""All that were found by now."""

breaks = into(FOUND, FaultyCarry)
