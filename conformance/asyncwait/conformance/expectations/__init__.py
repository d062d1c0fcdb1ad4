"""What is expected of a backend besides what it says itself: failures in a file, a version.

The file is TOML, with a table `[[exception]]` for each rule that is known to be broken. It is held
to be true: an entry whose rule holds, or that speaks of nothing, makes the backend not conformant.
"""

from asyncwait.conformance.expectations._entry import KINDS, Entry, How
from asyncwait.conformance.expectations._needed import needed
from asyncwait.conformance.expectations._read import entries_of, read_entries
from asyncwait.conformance.expectations._spec import newer_than, require_spec
from asyncwait.conformance.expectations._terms import (
    Held,
    Settled,
    Terms,
    settle,
    settled_results,
)
from asyncwait.conformance.expectations._update import Played, Update, updated
from asyncwait.spec.exports import claim_exports

__all__ = [
    "KINDS",
    "Entry",
    "Held",
    "How",
    "Played",
    "Settled",
    "Terms",
    "Update",
    "entries_of",
    "needed",
    "newer_than",
    "read_entries",
    "require_spec",
    "settle",
    "settled_results",
    "updated",
]

claim_exports(__name__)
