"""Scenarios that nobody wrote: random ones, large ones of known shapes, all the small ones."""

from asyncwait.conformance.generation._exhaustive import small_scenarios
from asyncwait.conformance.generation._generate import FULL, QUICK, generate
from asyncwait.conformance.generation._shapes import LARGEST, SHAPES, shape, shapes
from asyncwait.conformance.generation._strategy import TICK, VALUES, scenarios

__all__ = [
    "FULL",
    "LARGEST",
    "QUICK",
    "SHAPES",
    "TICK",
    "VALUES",
    "generate",
    "scenarios",
    "shape",
    "shapes",
    "small_scenarios",
]
