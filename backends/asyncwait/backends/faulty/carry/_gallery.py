"""Variation of a lane or host: one class, whose name and docstring say what it changes."""

from asyncwait.backends.faulty._gallery import Slip, into
from asyncwait.toolkit import CallTable, Lane, LaneCalls, Served


class FaultyCarry(Slip, frozen=True, kw_only=True):
    """A small change to a `Lane`, or to the `CallTable`, `LaneCalls` or `Served` of a host."""

    @property
    def lane_class(self) -> type[Lane]:
        """The class of the lane that plays the visits."""
        return self._instead_of(Lane)

    @property
    def table_class(self) -> type[CallTable]:
        """The class of the host's table of calls."""
        parts = {
            "calls_class": self._instead_of(LaneCalls),
            "served_class": self._instead_of(Served),
        }
        return type("Table", (self._instead_of(CallTable),), parts)


FOUND: list[FaultyCarry] = []
"""Every faulty lane and host registered so far."""

breaks = into(FOUND, FaultyCarry)
