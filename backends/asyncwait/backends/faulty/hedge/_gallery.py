"""Variation of hedged functions: one class, whose name and docstring say what it changes."""

from typing import Any

from asyncwait.backends.faulty._gallery import Slip, into
from asyncwait.toolkit import Race, StandIns, Times


class FaultyHedge(Slip, frozen=True, kw_only=True):
    """A small change to `StandIns`, or to its `Race` or `Times`."""

    @property
    def stand_ins_class(self) -> type[StandIns[Any, Any]]:
        """The changed class of hedged functions."""
        parts = {"race_class": self._instead_of(Race), "times_class": self._instead_of(Times)}
        return type("StandIns", (self._instead_of(StandIns),), parts)


FOUND: list[FaultyHedge] = []
"""Every faulty hedge registered so far."""

breaks = into(FOUND, FaultyHedge)
