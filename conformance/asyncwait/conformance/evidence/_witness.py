"""What a witness is: two hand-written runs that show what a check can see and what it must not."""

from msgspec import Struct

from asyncwait.spec.scenario import Scenario, Trace


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
