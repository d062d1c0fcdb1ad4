"""What a variation of carrying is: one class, whose name and docstring say what it does."""

from collections.abc import Callable
from typing import cast

from asyncwait.backends.faulty._gallery import Change, T
from asyncwait.toolkit import CallTable, Lane, LaneCalls, Served


class FaultyCarry(Change, frozen=True, kw_only=True):
    """A small change to a `Lane`, or to the `CallTable`, `LaneCalls` or `Served` of a host.

    Args:
        rule: id of the rule that has to convict it; others may do so too.
    """

    rule: str

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

    def _instead_of(self, part: T) -> T:
        found = (each for each in (self.change, *self.also) if issubclass(each, part))
        return cast("T", next(found, part))


FOUND: list[FaultyCarry] = []
"""All that were found by now."""


def breaks(rule: str, *also: type) -> Callable[[T], T]:
    """Put a class into the gallery, which breaks a rule; see `FaultyCarry`."""

    def put(change: T) -> T:
        FOUND.append(FaultyCarry(change, also, rule=rule))
        return change

    return put
