"""Random scenarios: what they look like, where they come from, how they shrink."""

from asyncwait.conformance.generation._generate import FULL, QUICK, generate, key_of, shrink
from asyncwait.conformance.generation._strategy import TICK, VALUES, scenarios
from asyncwait.spec.exports import claim_exports

__all__ = ["FULL", "QUICK", "TICK", "VALUES", "generate", "key_of", "scenarios", "shrink"]

claim_exports(__name__)
