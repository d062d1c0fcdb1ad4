"""Every error of a journal, and when it is raised.

    AsyncWaitError
    └── JournalError           an attempt is used after it was closed, or its files can't be used
        ├── JournalMismatch    what is in there was completed by other calls; an InvalidConfig, too
        ├── JournalTooNew      a later version of asyncwait has written it
        ├── JournalCorrupt     it can't be told whose it is; `asyncwait journal show` tells more
        ├── JournalFull        an entry would take it beyond `max_bytes`
        ├── JournalLost        what an operator calls can't be kept, or looked up, any more
        └── EntryTooLarge      a result has more bytes than an entry may have; InvalidConfig, too

What the file system raises passes unchanged: no room, no permission, no network; except
from a call of `paid_once`, which raises a JournalLost from it.
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
            f"{path} was deleted during the run: what was kept there is lost; start again, and "
            "leave the folder alone meanwhile"
        )


class JournalMismatch(JournalError, InvalidConfig):
    """What is in there was completed by other calls: of another job, version, or other settings.

    Attributes:
        differs: by name what it was and what it is now; None where it is not set.
    """

    differs: Mapping[str, tuple[str | None, str | None]]

    @classmethod
    def between(
        cls,
        where: str,
        differs: Mapping[str, tuple[str | None, str | None]],
        way_back: str | None = None,
    ) -> "JournalMismatch":
        """Build the error; if the version alone is another, `way_back` says how to go on."""
        changes = [f"{one_line(name)} was {_change(*both)}" for name, both in differs.items()]
        error = cls(
            f"journal: {one_line(where)} holds results of other calls: {'; '.join(changes)}; give "
            "another path, go back to what it was, or delete it"
        )
        for old, new in differs.values():
            if (old or "").startswith(("code-", "source-1:")):
                error = cls(f"{error}; {_OLD_DIGEST}")
            elif (new or "").startswith("source-"):
                error = cls(f"{error}; {_DIGEST}")
        if way_back is not None and [*differs] == ["version"]:
            error = cls(f"{error}; if the results are still right: journal={way_back}")
        error.differs = differs
        return error

    @classmethod
    def older(cls, where: str) -> "JournalMismatch":
        """Build the error for a journal of which no key proves what was called."""
        error = cls(
            f"journal: {where} is of an older rule, by which types, time zone and `many` were no "
            "part of a row's key, so that none of its results can be proved; give another path, or "
            "delete it"
        )
        error.differs = {"rule": ("1", "2")}
        return error


_OLD_DIGEST = (
    'a "code-..." or "source-1" is a digest of an older scheme: its results are not reused'
)
_DIGEST = (
    'a "source-2" is a digest of source text, so that a changed comment is another one: see '
    'asyncwait journal explain; Journal(..., version="2") overrides it'
)
_AROUND = 60
"""Characters that are shown of a long text before and behind the place where it differs."""


def _change(old: str | None, new: str | None) -> str:
    """Say both; of long texts what is near the first difference."""
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
            f"{file} is of version {found} of the format of journals, and this asyncwait reads "
            f"versions up to {known}; update asyncwait, and delete nothing: the results are there"
        )


class JournalCorrupt(JournalError):
    """A file, or the whole journal, does not tell whose it is."""

    @classmethod
    def of(cls, file: str, what: str, way_out: str) -> "JournalCorrupt":
        """Build the error."""
        return cls(f"{file} {what}; {way_out}")

    @classmethod
    def not_a_file(cls, path: str, kind: str) -> "JournalCorrupt":
        """Build the error for what has the name of a file of a journal, and is none."""
        return cls.of(path, f"is a {kind}, where a journal has a file", "move it somewhere else")


class JournalFull(JournalError):
    """An entry would take the files of a journal beyond the bytes that they may have."""

    @classmethod
    def of(cls, path: str, held: int, entry: int, most: int) -> "JournalFull":
        """Build the error.

        Args:
            path: of the journal.
            held: bytes that are there.
            entry: bytes of the entry that is to be added.
            most: bytes that there may be.
        """
        return cls(
            f"{path} holds {held:,} bytes, and an entry of {entry:,} would pass max_bytes="
            f"{most:,}; raise max_bytes, compact it (asyncwait journal compact), or delete it"
        )


class JournalLost(JournalError, KeeperLost):
    """A journal can't be used in the midst of a run, which ends with that: see `paid_once`.

    What it was is its `__cause__`: a JournalError, or what the file system raises.
    """

    @classmethod
    def of(cls, path: str, error: JournalError | OSError) -> "JournalLost":
        """Build the error; what the file system raises need not name a file."""
        why = one_line(shown(error), 600)
        return cls(f"the journal {path} can't be used, so nothing more is called: {why}")


class EntryTooLarge(JournalError, InvalidConfig):
    """What a call has given has more bytes than an entry of a journal may have."""

    @classmethod
    def of_size(cls, size: int) -> "EntryTooLarge":
        """Build the error for a payload of so many bytes."""
        return cls(
            f"payload must be at most {MOST:,} bytes, got {size:,}: a result that long is not kept "
            "in a journal, nor called for again; give less, for example where it lies, or do "
            "without a journal"
        )
