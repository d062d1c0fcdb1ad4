"""How the runs of witnesses are written: their legs, and how these end."""

from typing import Any

import msgspec
from msgspec import Struct

from asyncwait.conformance.evidence._events import input_ended
from asyncwait.conformance.evidence._notation import Part, leg_of, told
from asyncwait.spec.scenario import Ending, EndingKind, Leg, Scenario, Trace


class Run(Struct, frozen=True):
    """A scenario, and a trace of it that nobody played."""

    scenario: Scenario
    trace: Trace


def ends(how: EndingKind, at: float, **fields: Any) -> Ending:
    """How a leg ended; `fields` are those of `Ending`."""
    return Ending(how, at, **fields)


def leg(ending: Ending, *parts: Part, **fields: Any) -> Leg:
    """One leg with everything that happened in it; `fields` are those of `Leg`."""
    return Leg(ending, told(parts), **fields)


def one_leg(scenario: Scenario, ending: Ending, *parts: Part, **fields: Any) -> Run:
    """A run of one leg; `fields` are those of `Leg`."""
    return run(scenario, leg(ending, *parts, **fields))


def finished(scenario: Scenario, *parts: Part, at: float | None = None) -> Run:
    """A run of one leg that comes to its end, and its input too, with its last event or `at`."""
    events = told(parts)
    over = events[-1].at if at is None else at
    return one_leg(scenario, ends("finished", over), events, input_ended(over))


def failed(scenario: Scenario, *parts: Part, error: str, **fields: Any) -> Run:
    """A run of one leg whose consumer gets `error` with its last event; `fields` as in `ends`."""
    events = told(parts)
    return one_leg(scenario, ends("failed", events[-1].at, error=error, **fields), events)


def run_of(scenario: Scenario, text: str) -> Run:
    """A run of `scenario` whose legs `text` tells; `then` stands between two of them."""
    return run(scenario, *map(leg_of, text.split("; then ")))


def run(scenario: Scenario, *legs: Leg) -> Run:
    """A run of `scenario`: all legs have its mode and capacity, the first restores its snapshot."""
    same = [
        msgspec.structs.replace(each, mode=scenario.mode, capacity=scenario.capacity)
        for each in legs
    ]
    same[0] = msgspec.structs.replace(same[0], restored=scenario.restore)
    return Run(scenario, Trace(tuple(same)))
