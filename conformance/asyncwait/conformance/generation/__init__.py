"""Random scenarios: what they look like, where they come from, how they shrink."""

from asyncwait.conformance.generation._exhaustive import small_scenarios
from asyncwait.conformance.generation._generate import FULL, QUICK, generate, key_of, shrink
from asyncwait.conformance.generation._shapes import LARGEST, SHAPES, shape, shapes
from asyncwait.conformance.generation._strategy import TICK, VALUES, scenarios
from asyncwait.spec.exports import claim_exports

__all__ = [
    "FULL",
    "LARGEST",
    "QUICK",
    "SHAPES",
    "TICK",
    "VALUES",
    "generate",
    "key_of",
    "scenarios",
    "shape",
    "shapes",
    "shrink",
    "small_scenarios",
]

claim_exports(__name__)
