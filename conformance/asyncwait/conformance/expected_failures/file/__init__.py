"""Expectations on a backend from outside: the failures that a file lists, and a version.

The file is TOML, with a table `[[expected-failure]]` for each rule that is known to be broken. It
has to be true: an entry whose rule holds, or that matches nothing, makes the backend not
conformant.
"""

from asyncwait.conformance.expected_failures.file._terms import (
    Entry,
    Held,
    Settled,
    Terms,
    entries_of,
    read_entries,
    settle,
    settled_results,
)
from asyncwait.conformance.expected_failures.file._update import Played, Update, needed, updated
from asyncwait.spec.exports import claim_exports

__all__ = [
    "Entry",
    "Held",
    "Played",
    "Settled",
    "Terms",
    "Update",
    "entries_of",
    "needed",
    "read_entries",
    "settle",
    "settled_results",
    "updated",
]

claim_exports(__name__)
