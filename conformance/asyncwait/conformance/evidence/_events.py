"""Events of one kind, for a leg that reads as a list of what happened when."""

from typing import Any

from asyncwait.spec import Element
from asyncwait.spec.scenario import (
    CallCancelled,
    CallEnded,
    CallStarted,
    Closed,
    Event,
    FailureAsked,
    FiguresRead,
    HandlerAsked,
    SinkTook,
    SinkWaits,
    SourceEnded,
    Taken,
)

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
