"""What witnesses are: hand-written runs that show what a check can see and what it must not."""

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


class NearMiss(Struct, frozen=True):
    """A further run at the border of a check, on either side.

    Args:
        rule: id of the rule.
        run: what happened.
        text: what the check says of it, whole; nothing where the rule is not broken.
        applies: whether the rule applies in a run that does not break it.
        also: ids of the other rules that it breaks, apart by blanks.
    """

    rule: str
    run: Run
    text: str = ""
    applies: bool = True
    also: str = ""
