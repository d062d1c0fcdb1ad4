"""Random scenarios: what they look like, where they come from, how they shrink."""

from asyncwait.conformance.generation._generate import FULL, QUICK, generate, key_of, shrink
from asyncwait.conformance.generation._strategy import TICK, VALUES, scenarios

__all__ = ["FULL", "QUICK", "TICK", "VALUES", "generate", "key_of", "scenarios", "shrink"]
