"""Who hears of events when they happen: somebody who looks for what is wrong in an operator.

That is for a process in which one scenario is played at a time, before the eyes of its author.
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol

from asyncwait.spec.scenario import EndingKind, Event, Scenario


class Listener(Protocol):
    """Hears of what is recorded, at the moment at which it is, on whatever thread."""

    def begins(self, scenario: Scenario) -> None:
        """A leg of `scenario` begins."""
        ...

    def hears(self, event: Event) -> None:
        """This has just happened."""
        ...

    def overdue(self, how: EndingKind) -> None:
        """The harness is about to end the leg: the operator is still as it is."""
        ...


_listeners: list[Listener] = []


@contextmanager
def heard_by(listener: Listener) -> Generator[None]:
    """Have `listener` hear of all that is recorded in this process meanwhile."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


class _Heard(list[Event]):
    """Events, of which all who listen hear as they are written."""

    def append(self, event: Event) -> None:
        super().append(event)
        for listener in _listeners:
            listener.hears(event)


def events_of(scenario: Scenario) -> list[Event]:
    """Return where the events of a leg that begins now are written."""
    for listener in _listeners:
        listener.begins(scenario)
    return _Heard() if _listeners else []


def is_heard() -> bool:
    """Whether anybody listens."""
    return bool(_listeners)


def tell_overdue(how: EndingKind) -> None:
    """Tell all who listen that the harness is about to end the leg."""
    for listener in _listeners:
        listener.overdue(how)
