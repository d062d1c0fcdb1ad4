"""What a witness is: two hand-written runs that show what a check can see and what it must not."""

from msgspec import Struct

from asyncwait.spec.scenario import Scenario, Trace


class Run(Struct, frozen=True):
    """A scenario, and a trace of it that nobody played."""

    scenario: Scenario
    trace: Trace


class Witness(Struct, frozen=True):
    """Evidence for one check.

    Args:
        rule: id of the rule.
        violating: a minimal run that breaks it.
        legal: a run as close to it as possible that keeps it, and in which the rule applies.
        text: what the check says of the violating run, whole.
    """

    rule: str
    violating: Run
    legal: Run
    text: str
