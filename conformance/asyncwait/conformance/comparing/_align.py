"""Two traces of one scenario, side by side: where they differ, instant by instant.

What comes out is compared in its order, as it is what an operator is for. Of all else that happens
in one instant, the order is left open: calls that begin together have no order that matters. When
an operator asks its source, and when its consumer begins to wait, is how it goes about it, and is
not compared; nor is what an error says, beside its class and what it names.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import asdict

from asyncwait.spec.scenario import (
    Blocked,
    CallCancelled,
    CallEnded,
    CallStarted,
    Closed,
    Event,
    FiguresRead,
    Leg,
    SinkTook,
    SinkWaits,
    SourceAsked,
    Trace,
)

Moment: TypeAlias = tuple[int, float]
"""The number of a leg, from 0 on, and ms since it began."""

_UNSEEN = (Blocked, Closed, FiguresRead, SinkWaits, SourceAsked)


class Difference(Struct, frozen=True):
    """An instant in which two traces differ.

    Args:
        at: ms since it began.
        second: what only the second one has.
    """

    leg: int
    at: float
    first: tuple[str, ...]
    second: tuple[str, ...]

    @property
    def moment(self) -> Moment:
        """When it is."""
        return self.leg, self.at


def differences(first: Trace, second: Trace) -> Iterator[Difference]:
    """Yield where two traces of one scenario differ, in the order of time."""
    for number, (one, other) in enumerate(zip_longest(first.legs, second.legs)):
        ours, theirs = _instants(one), _instants(other)
        for at in sorted(ours.keys() | theirs.keys()):
            there, here = ours.get(at, _Instant()), theirs.get(at, _Instant())
            if there != here:
                yield Difference(number, at, there.without(here), here.without(there))


class _Instant:
    """What happens in one instant of a leg: what comes out, and the rest, in words."""

    def __init__(self) -> None:
        self.out: list[str] = []
        self.rest: Counter[str] = Counter()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Instant) and (self.out, self.rest) == (other.out, other.rest)

    __hash__ = None  # type: ignore[assignment]  # it grows

    def without(self, other: "_Instant") -> tuple[str, ...]:
        """Return what is here and not in `other`; the order of what came out, if it is that."""
        rest = (self.rest - other.rest).elements()
        out = (Counter(self.out) - Counter(other.out)).elements()
        found = (*rest, *out)
        return found if found or self.out == other.out else tuple(self.out)


def _instants(leg: Leg | None) -> Mapping[float, _Instant]:
    found: dict[float, _Instant] = defaultdict(_Instant)
    if leg is None:
        return found
    for event, name in zip(leg.events, _names(leg.events), strict=True):
        if isinstance(event, SinkTook):
            found[event.at].out.append(str(event.element))
        elif not isinstance(event, _UNSEEN):
            found[event.at].rest[name] += 1
    ending = leg.ending
    words = (ending.how, ending.error, ending.record)
    found[ending.at].rest[" ".join(str(word) for word in words if word)] += 1
    return found


def _names(events: Iterable[Event]) -> Iterator[str]:
    """Yield each event in words, where a call is the nth of its value, whatever its number."""
    calls: dict[int, str] = {}
    begun: Counter[str] = Counter()
    for event in events:
        if isinstance(event, CallStarted):
            value = repr(event.value)
            calls[event.call] = f"call {begun[value]} of {value}"
            begun[value] += 1
            yield calls[event.call]
        elif isinstance(event, CallCancelled):
            yield f"{calls[event.call]} is cancelled"
        elif isinstance(event, CallEnded):
            results = ", ".join(map(repr, event.results))
            yield f"{calls[event.call]} {event.how} {results}".rstrip()
        else:
            yield " ".join([str(event.__struct_config__.tag), *_said(event)])


def _said(event: Event) -> Iterator[str]:
    """Yield what an event says besides its time."""
    for name, value in asdict(event).items():
        if name != "at" and value not in (None, ""):
            yield f"{name} {value!r}"
