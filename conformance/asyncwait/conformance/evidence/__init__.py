"""What the evidence of an area is made of: examples, witnesses, and the words they are written in.

`_examples` and `_witness` show how they stand in a text, `_scenarios` how a scenario is told in it,
`_notation` what happened in a run, and `_words` what both have in common.
"""

from asyncwait.conformance.evidence._entries import entries
from asyncwait.conformance.evidence._examples import (
    Example,
    example,
    examples,
)
from asyncwait.conformance.evidence._notation import told
from asyncwait.conformance.evidence._runs import Run
from asyncwait.conformance.evidence._scenarios import describe_scenario, scenario_of
from asyncwait.conformance.evidence._witness import NearMiss, Witness, near_misses, witnesses
from asyncwait.spec.exports import claim_exports

__all__ = [
    "Example",
    "NearMiss",
    "Run",
    "Witness",
    "describe_scenario",
    "entries",
    "example",
    "examples",
    "near_misses",
    "scenario_of",
    "told",
    "witnesses",
]

claim_exports(__name__)
