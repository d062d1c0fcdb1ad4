"""Hand-written runs: a scenario, and the text of its events."""

from msgspec import Struct
from msgspec.structs import replace

from asyncwait.conformance.evidence._notation import leg_of
from asyncwait.spec.scenario import Scenario, Trace


class Run(Struct, frozen=True):
    """A scenario, and a trace of the scenario."""

    scenario: Scenario
    trace: Trace


def run_of(scenario: Scenario, text: str) -> Run:
    """Return a run of `scenario` whose legs are in `text`; `then` separates two legs.

    All legs have its mode and capacity; the first restores its snapshot.

    Raises:
        ValueError: a leg is not in the notation of `_notation`.
    """
    legs = [
        replace(leg_of(told), mode=scenario.mode, capacity=scenario.capacity)
        for told in text.split("; then ")
    ]
    legs[0] = replace(legs[0], restored=scenario.restore)
    return Run(scenario, Trace(tuple(legs)))
