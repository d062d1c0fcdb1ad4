"""Runs that nobody played: a scenario, and what happened in it, as a text tells it."""

from msgspec import Struct
from msgspec.structs import replace

from asyncwait.conformance.evidence._notation import leg_of
from asyncwait.spec.scenario import Scenario, Trace


class Run(Struct, frozen=True):
    """A scenario, and a trace of it."""

    scenario: Scenario
    trace: Trace


def run_of(scenario: Scenario, text: str) -> Run:
    """Return a run of `scenario` whose legs `text` tells; `then` stands between two of them.

    All have its mode and capacity; the first restores its snapshot.

    Raises:
        ValueError: a leg is not told in the words of `_notation`.
    """
    legs = [
        replace(leg_of(told), mode=scenario.mode, capacity=scenario.capacity)
        for told in text.split("; then ")
    ]
    legs[0] = replace(legs[0], restored=scenario.restore)
    return Run(scenario, Trace(tuple(legs)))
