"""How witnesses are written: a few words for what happens in a leg.

Each gives the events of one kind, so that a leg reads as a list of what happened when.
"""

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct

from asyncwait.spec import Element
from asyncwait.spec.scenario import (
    CallCancelled,
    CallEnded,
    CallStarted,
    Closed,
    Ending,
    EndingKind,
    Event,
    FailureAsked,
    FiguresRead,
    HandlerAsked,
    Leg,
    Scenario,
    SinkTook,
    SinkWaits,
    SourceEnded,
    Taken,
    Trace,
)


class Run(Struct, frozen=True):
    """A scenario, and a trace of it that nobody played."""

    scenario: Scenario
    trace: Trace


class Witness(Struct, frozen=True):
    """Evidence for one check."""

    rule: str
    violating: Run
    legal: Run
    text: str


Events = tuple[Event, ...]


def taken(at: float, *indices: int) -> Events:
    """The operator takes these inputs."""
    return tuple(Taken(at, index) for index in indices)


def called(at: float, *values: Any, first: int = 0) -> Events:
    """The function is called with each of `values`; the calls are numbered from `first` on."""
    return tuple(CallStarted(at, first + number, value) for number, value in enumerate(values))


def answered(at: float, call: int, *results: Any) -> Events:
    """A call returns `results`."""
    return (CallEnded(at, call, "returned", results),)


def raised(at: float, call: int) -> Events:
    """A call raises."""
    return (CallEnded(at, call, "raised"),)


def misreturned(at: float, call: int) -> Events:
    """A call gives something that is no collection, or one that breaks."""
    return (CallEnded(at, call, "misreturned"),)


def cancelled(at: float, call: int) -> Events:
    """A call is cancelled, and ends by it at once."""
    return (CallCancelled(at, call), CallEnded(at, call, "cancelled"))


def asked(at: float, value: Any) -> Events:
    """The handler is asked."""
    return (HandlerAsked(at, value),)


def failure_asked(at: float, value: Any, error: str, cause: str = "", **told: Any) -> Events:
    """The failure handler is asked about an error; `told` are fields of `FailureAsked`."""
    return (FailureAsked(at, value, error, cause, **told),)


def figures(at: float, **told: float) -> Events:
    """The statistics are read; `told` are fields of `FiguresRead`."""
    return (FiguresRead(at, **told),)  # type: ignore[arg-type]


def left(at: float) -> Events:
    """The operator has been left."""
    return (Closed(at),)


def waits(at: float) -> Events:
    """The consumer begins to wait."""
    return (SinkWaits(at),)


def took(at: float, *elements: Element) -> Events:
    """The waiting consumer takes `elements` one by one, and waits again after each."""
    return tuple(event for e in elements for event in (SinkTook(at, e), SinkWaits(at)))


def input_ended(at: float, *, raised: bool = False) -> Events:
    """The source reports its end, or raises."""
    return (SourceEnded(at, raised),)


def ends(how: EndingKind, at: float, **told: Any) -> Ending:
    """How a leg ended; `told` are fields of `Ending`."""
    return Ending(how, at, **told)


def leg(ending: Ending, *events: Iterable[Event], **fields: Any) -> Leg:
    """One leg with everything that happened in it; `fields` are those of `Leg`."""
    return Leg(ending, tuple(event for part in events for event in part), **fields)


def finished(scenario: Scenario, *events: Iterable[Event], at: float | None = None) -> Run:
    """A run of one leg that comes to its end, and its input too, with its last event or `at`."""
    over = _last(events) if at is None else at
    return run(scenario, leg(ends("finished", over), *events, input_ended(over)))


def failed(scenario: Scenario, *events: Iterable[Event], error: str, **told: Any) -> Run:
    """A run of one leg whose consumer gets `error` with its last event; `told` as in `ends`."""
    return run(scenario, leg(ends("failed", _last(events), error=error, **told), *events))


def _last(events: tuple[Iterable[Event], ...]) -> float:
    return max(event.at for part in events for event in part)


def run(scenario: Scenario, *legs: Leg) -> Run:
    """A run of `scenario`: all legs have its mode and capacity, the first restores its snapshot."""
    same = [
        msgspec.structs.replace(each, mode=scenario.mode, capacity=scenario.capacity)
        for each in legs
    ]
    same[0] = msgspec.structs.replace(same[0], restored=scenario.restore)
    return Run(scenario, Trace(tuple(same)))
