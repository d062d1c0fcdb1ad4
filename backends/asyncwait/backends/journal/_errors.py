"""Errors of a journal.

    AsyncWaitError
    └── JournalError           an attempt is used after it was closed, or its files are unusable
        ├── JournalMismatch    its results belong to other calls; an InvalidConfig, too
        ├── JournalTooNew      a later version of asyncwait has written it
        ├── JournalCorrupt     its owner is unreadable; `asyncwait journal show` says more
        ├── JournalFull        an entry would exceed `max_bytes`
        ├── JournalLost        an operator can't store or look up results any more
        └── EntryTooLarge      a result exceeds the size of an entry; an InvalidConfig, too

Errors of the file system pass unchanged: no room, no permission, no network. Only a call of
`paid_once` raises a JournalLost from them.
"""

from collections.abc import Mapping

from asyncwait.backends.journal._format import MOST
from asyncwait.spec import AsyncWaitError, InvalidConfig
from asyncwait.spec.texts import one_line, shown
from asyncwait.toolkit import KeeperLost


class JournalError(AsyncWaitError):
    """A journal can't be used."""

    @classmethod
    def deleted(cls, path: str) -> "JournalError":
        """Build the error for a folder, or a file in it, that an attempt is writing to."""
        return cls(
            f"{path} was deleted during the run, and its results are lost; start again, and "
            "leave the folder alone meanwhile"
        )


class JournalMismatch(JournalError, InvalidConfig):
    """The results belong to other calls: another job, version, or other settings.

    Attributes:
        differs: by name the old and the new value; None for a value that is not set.
    """

    differs: Mapping[str, tuple[str | None, str | None]]

    @classmethod
    def between(
        cls,
        where: str,
        differs: Mapping[str, tuple[str | None, str | None]],
        way_back: str | None = None,
    ) -> "JournalMismatch":
        """Build the error; if only the version differs, `way_back` says how to go on."""
        changes = [f"{one_line(name)} was {_change(*both)}" for name, both in differs.items()]
        error = cls(
            f"journal: {one_line(where)} holds results of other calls: {'; '.join(changes)}; give "
            "another path, go back to the old value, or delete the folder"
        )
        if any((new or "").startswith("source-") for _, new in differs.values()):
            error = cls(f"{error}; {_DIGEST}")
        if way_back is not None and [*differs] == ["version"]:
            error = cls(f"{error}; if the results are still right: journal={way_back}")
        error.differs = differs
        return error


_DIGEST = (
    'a "source-2" is a digest of source text, so that a changed comment is another one: see '
    'asyncwait journal explain; Journal(..., version="2") overrides it'
)
_AROUND = 60
"""Characters of a long text that are shown before and behind the first difference."""


def _change(old: str | None, new: str | None) -> str:
    """Return both values; of long texts the part near the first difference."""
    pairs = zip(old or "", new or "", strict=False)
    same = next((at for at, (one, other) in enumerate(pairs) if one != other), 0)
    return f"{_near(old, same)}, now {_near(new, same)}"


def _near(text: str | None, at: int) -> str:
    if text is None:
        return "not set"
    begin = max(0, at - _AROUND)
    cut = text[begin : begin + 2 * _AROUND]
    before, behind = "..." if begin else "", "..." if begin + len(cut) < len(text) else ""
    return f"{before}{shown(cut)}{behind}"


class JournalTooNew(JournalError):
    """A file is of a later version of the format than this version of asyncwait reads."""

    @classmethod
    def of(cls, file: str, found: int, known: int) -> "JournalTooNew":
        """Build the error."""
        return cls(
            f"{file} has version {found} of the format of journals, and this asyncwait reads "
            f"versions up to {known}; update asyncwait, and delete nothing: the results are there"
        )


class JournalCorrupt(JournalError):
    """A file, or the whole journal, has no readable owner."""

    @classmethod
    def of(cls, file: str, what: str, way_out: str) -> "JournalCorrupt":
        """Build the error."""
        return cls(f"{file} {what}; {way_out}")


class JournalFull(JournalError):
    """An entry would exceed the `max_bytes` of a journal."""

    @classmethod
    def of(cls, path: str, held: int, entry: int, most: int) -> "JournalFull":
        """Build the error from the bytes of the files, of the entry, and of the limit."""
        return cls(
            f"{path} holds {held:,} bytes, and an entry of {entry:,} would pass max_bytes="
            f"{most:,}; raise max_bytes, compact it (asyncwait journal compact), or delete it"
        )


class JournalLost(JournalError, KeeperLost):
    """A journal became unusable during a run, which ends: see `paid_once`.

    Its `__cause__` is a JournalError, or an error of the file system.
    """

    @classmethod
    def of(cls, path: str, error: JournalError | OSError) -> "JournalLost":
        """Build the error; an error of the file system may lack the name of a file."""
        why = one_line(shown(error), 600)
        return cls(f"the journal {path} can't be used, so no further call is made: {why}")


class EntryTooLarge(JournalError, InvalidConfig):
    """A result has more bytes than an entry of a journal may have."""

    @classmethod
    def of_size(cls, size: int) -> "EntryTooLarge":
        """Build the error for a payload of so many bytes."""
        return cls(
            f"payload must be at most {MOST:,} bytes, got {size:,}: a journal does not store such "
            "a result, and the call is not repeated; return less, for example its place, or use no "
            "journal"
        )
