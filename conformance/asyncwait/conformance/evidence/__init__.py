"""What the evidence of an area is made of: examples, witnesses, and the words they are written in.

Plans and inputs are said in the words of `_plans`, what happened in a run in those of `_events`.
"""

from asyncwait.conformance.evidence._examples import (
    Example,
    at,
    example,
    examples_of,
    fails,
    handler,
    in_two_modes,
    never,
    outlives,
    raises,
    replies,
)
from asyncwait.conformance.evidence._witnesses import (
    Events,
    Run,
    Witness,
    answered,
    asked,
    called,
    cancelled,
    ends,
    failed,
    failure_asked,
    figures,
    finished,
    input_ended,
    left,
    leg,
    misreturned,
    raised,
    run,
    taken,
    took,
    waits,
)
from asyncwait.spec.exports import claim_exports

__all__ = [
    "Events",
    "Example",
    "Run",
    "Witness",
    "answered",
    "asked",
    "at",
    "called",
    "cancelled",
    "ends",
    "example",
    "examples_of",
    "failed",
    "fails",
    "failure_asked",
    "figures",
    "finished",
    "handler",
    "in_two_modes",
    "input_ended",
    "left",
    "leg",
    "misreturned",
    "never",
    "outlives",
    "raised",
    "raises",
    "replies",
    "run",
    "taken",
    "took",
    "waits",
]

claim_exports(__name__)
