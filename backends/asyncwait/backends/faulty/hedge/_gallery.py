"""What a variation of stand-ins is: one class, whose name and docstring say what it does."""

from collections.abc import Callable
from typing import cast

from asyncwait.backends.faulty._gallery import Change, T
from asyncwait.toolkit import Race, StandIns, Times


class FaultyHedge(Change, frozen=True, kw_only=True):
    """A small change to `StandIns`, or to what it keeps: its `Race` or its `Times`.

    Args:
        rule: id of the rule that has to convict it; others may do so too.
    """

    rule: str

    @property
    def stand_ins_class(self) -> type[StandIns]:
        """What is called."""
        parts = {"race_class": self._instead_of(Race), "times_class": self._instead_of(Times)}
        return type("StandIns", (self._instead_of(StandIns),), parts)

    def _instead_of(self, part: T) -> T:
        return cast("T", self.change if issubclass(self.change, part) else part)


FOUND: list[FaultyHedge] = []
"""All that were found by now."""


def breaks(rule: str) -> Callable[[T], T]:
    """Put a class into the gallery, which breaks a rule; see `FaultyHedge`."""

    def put(change: T) -> T:
        FOUND.append(FaultyHedge(change, (), rule=rule))
        return change

    return put
