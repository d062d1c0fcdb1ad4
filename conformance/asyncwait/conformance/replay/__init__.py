"""How a scenario is found again: by name, by id, in a file, or as the JSON that it is."""

from asyncwait.conformance.replay._find import find_scenarios
from asyncwait.conformance.replay._kept import FOLDER, MOST_KEPT, keep, kept
from asyncwait.spec.exports import claim_exports

__all__ = ["FOLDER", "MOST_KEPT", "find_scenarios", "keep", "kept"]

claim_exports(__name__)
