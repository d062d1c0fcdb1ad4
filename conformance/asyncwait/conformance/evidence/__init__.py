"""What the evidence of an area is made of: examples, witnesses, and the words they are written in.

Plans and inputs are said in the words of `_examples`, what happened in a run in the notation of
`_notation`, or in the words of `_events`.
"""

from asyncwait.conformance.evidence._events import (
    Events,
    answered,
    asked,
    called,
    cancelled,
    failure_asked,
    figures,
    input_ended,
    left,
    misreturned,
    raised,
    taken,
    took,
    waits,
)
from asyncwait.conformance.evidence._examples import (
    Example,
    at,
    example,
    examples,
    examples_of,
    fails,
    handler,
    in_two_modes,
    never,
    outlives,
    raises,
    replies,
    two_modes_of,
)
from asyncwait.conformance.evidence._notation import Part, told
from asyncwait.conformance.evidence._runs import Run, ends, failed, finished, leg, one_leg, run
from asyncwait.conformance.evidence._scenarios import scenario
from asyncwait.conformance.evidence._witness import NearMiss, Witness, near_misses, witnesses
from asyncwait.spec.exports import claim_exports

__all__ = [
    "Events",
    "Example",
    "NearMiss",
    "Part",
    "Run",
    "Witness",
    "answered",
    "asked",
    "at",
    "called",
    "cancelled",
    "ends",
    "example",
    "examples",
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
    "near_misses",
    "never",
    "one_leg",
    "outlives",
    "raised",
    "raises",
    "replies",
    "run",
    "scenario",
    "taken",
    "told",
    "took",
    "two_modes_of",
    "waits",
    "witnesses",
]

claim_exports(__name__)
