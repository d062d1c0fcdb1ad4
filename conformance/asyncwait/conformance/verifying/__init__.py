"""Verification of a backend: its terms, the scenarios to play, shrinking, and the conclusion."""

from asyncwait.conformance.verifying._gate import (
    Described,
    Entry,
    Gate,
    Settings,
    Settled,
    Terms,
    entries_of,
    find_settings,
    gate_of,
    read_entries,
    settle,
    settled_results,
)
from asyncwait.conformance.verifying._scenarios import FOLDER, find_scenarios, keep
from asyncwait.conformance.verifying._shrink import (
    NOT_SMALLEST,
    SHRINK_SECONDS,
    Search,
    reductions,
    shrink,
    trials,
)
from asyncwait.conformance.verifying._update import Played, Update, updated
from asyncwait.conformance.verifying._verify import (
    PREMISES,
    Cases,
    Coverage,
    Phase,
    can_convict,
    chosen,
    rules_of,
    verify,
    verify_to_tell,
)
from asyncwait.spec.exports import claim_exports

__all__ = [
    "FOLDER",
    "NOT_SMALLEST",
    "PREMISES",
    "SHRINK_SECONDS",
    "Cases",
    "Coverage",
    "Described",
    "Entry",
    "Gate",
    "Phase",
    "Played",
    "Search",
    "Settings",
    "Settled",
    "Terms",
    "Update",
    "can_convict",
    "chosen",
    "entries_of",
    "find_scenarios",
    "find_settings",
    "gate_of",
    "keep",
    "read_entries",
    "reductions",
    "rules_of",
    "settle",
    "settled_results",
    "shrink",
    "trials",
    "updated",
    "verify",
    "verify_to_tell",
]

claim_exports(__name__)
