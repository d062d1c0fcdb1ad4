"""Stored results of completed calls: a job that starts again makes each call once."""

from asyncwait.backends.journal._attempt import Attempt
from asyncwait.backends.journal._errors import (
    EntryTooLarge,
    JournalCorrupt,
    JournalError,
    JournalFull,
    JournalLost,
    JournalMismatch,
    JournalTooNew,
)
from asyncwait.backends.journal._failures import Failure, KeptFailure
from asyncwait.backends.journal._format import key_of, keys_after
from asyncwait.backends.journal._journal import Journal
from asyncwait.backends.journal._paid_once import paid_once
from asyncwait.backends.journal._version import version_of
from asyncwait.backends.journal._whole import (
    FileSummary,
    JournalSummary,
    compact,
    drop_failures,
    summary,
)
from asyncwait.spec.exports import claim_exports

__all__ = [
    "Attempt",
    "EntryTooLarge",
    "Failure",
    "FileSummary",
    "Journal",
    "JournalCorrupt",
    "JournalError",
    "JournalFull",
    "JournalLost",
    "JournalMismatch",
    "JournalSummary",
    "JournalTooNew",
    "KeptFailure",
    "compact",
    "drop_failures",
    "key_of",
    "keys_after",
    "paid_once",
    "summary",
    "version_of",
]

claim_exports(__name__)
