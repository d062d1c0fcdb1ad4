"""Evidence of an area: examples, witnesses, and the notation of both.

`_examples` and `_witness` read their texts, `_scenarios` the scenario in such a text, `_notation`
the events of a run, and `_words` the words that both use.
"""

from asyncwait.conformance.evidence._entries import (
    Example,
    NearMiss,
    Run,
    Witness,
    entries,
    example,
    examples,
    near_misses,
    witnesses,
)
from asyncwait.conformance.evidence._notation import told
from asyncwait.conformance.evidence._scenarios import describe_scenario, scenario_of
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
