"""What a variation of stand-ins is: one class, whose name and docstring say what it does."""

from typing import Any

from asyncwait.backends.faulty._gallery import Slip, into
from asyncwait.toolkit import Race, StandIns, Times


class FaultyHedge(Slip, frozen=True, kw_only=True):
    """A small change to `StandIns`, or to what it keeps: its `Race` or its `Times`."""

    @property
    def stand_ins_class(self) -> type[StandIns[Any, Any]]:
        """What is called."""
        parts = {"race_class": self._instead_of(Race), "times_class": self._instead_of(Times)}
        return type("StandIns", (self._instead_of(StandIns),), parts)


FOUND: list[FaultyHedge] = []
"""All that were found by now."""

breaks = into(FOUND, FaultyHedge)
