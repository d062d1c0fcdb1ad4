"""Results of completed calls, kept so that a job that starts again makes each call once."""

from asyncwait.backends.journal._attempt import Attempt
from asyncwait.backends.journal._compact import compact, drop_failures
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
from asyncwait.backends.journal._journal import Journal
from asyncwait.backends.journal._keys import key_of, keys_after
from asyncwait.backends.journal._paid_once import paid_once
from asyncwait.backends.journal._summary import FileSummary, JournalSummary, summary
from asyncwait.backends.journal._version import version_of
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
