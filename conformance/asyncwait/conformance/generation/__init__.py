"""Generated scenarios: random ones, large ones of known shapes, and all the small ones."""

from asyncwait.conformance.generation._exhaustive import small_scenarios
from asyncwait.conformance.generation._generate import FULL, QUICK, generate
from asyncwait.conformance.generation._random import TICK
from asyncwait.conformance.generation._shapes import LARGEST, SHAPES, shape, shapes
from asyncwait.spec.exports import claim_exports

__all__ = [
    "FULL",
    "LARGEST",
    "QUICK",
    "SHAPES",
    "TICK",
    "generate",
    "shape",
    "shapes",
    "small_scenarios",
]

claim_exports(__name__)
