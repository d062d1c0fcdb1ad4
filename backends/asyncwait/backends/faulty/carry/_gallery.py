"""What a variation of carrying is: one class, whose name and docstring say what it does."""

from collections.abc import Callable
from typing import cast

from msgspec import Struct

from asyncwait.backends.faulty._gallery import T, name_of, sentence_of
from asyncwait.toolkit import CallTable, Lane, LaneCalls, Served


class FaultyCarry(Struct, frozen=True):
    """A sound lane, and a sound host, with one small change to the mechanism of one of them.

    Args:
        rule: id of the rule that has to convict it; others may do so too.
        change: a subclass of `Lane`, `CallTable`, `LaneCalls` or `Served`, which takes its place.
        also: what else is replaced, where a slip is spread over lane and host.
    """

    rule: str
    change: type
    also: tuple[type, ...] = ()

    @property
    def name(self) -> str:
        """What it does, in words joined by hyphens."""
        return name_of(self.change)

    @property
    def sentence(self) -> str:
        """What it does, in a sentence."""
        return sentence_of(self.change)

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
        FOUND.append(FaultyCarry(rule, change, also))
        return change

    return put
