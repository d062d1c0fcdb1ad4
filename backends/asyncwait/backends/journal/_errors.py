"""Every error of a journal, and when it is raised.

    AsyncWaitError
    └── JournalError           an attempt is used after it was closed, or files change too fast
        ├── JournalMismatch    it belongs to another job, or to another version of the function
        ├── JournalCorrupt     it can't be told whose it is; `asyncwait journal show` tells more
        └── JournalFull        an entry would take it beyond `max_bytes`

What the file system raises passes unchanged: no room, no permission, no network.
"""

from asyncwait.spec import AsyncWaitError
from asyncwait.spec.texts import shown


class JournalError(AsyncWaitError):
    """A journal can't be used."""


class JournalMismatch(JournalError):
    """What is in there was paid for by another job, or by another version of the function."""

    @classmethod
    def of(cls, where: str, held: tuple[str, str], expected: tuple[str, str]) -> "JournalMismatch":
        """Build the error.

        Args:
            where: the folder, or the one file in it.
            held: job and version that it belongs to.
            expected: job and version that it was opened for.
        """
        got, wanted = (f"job {shown(job)}, version {shown(of)}" for job, of in (held, expected))
        return cls(
            f"{where} holds results of {got}, expected {wanted}; give another path, the same "
            "version=, or delete it"
        )


class JournalCorrupt(JournalError):
    """A file, or the whole journal, does not tell whose it is."""

    @classmethod
    def of(cls, file: str, what: str, way_out: str) -> "JournalCorrupt":
        """Build the error.

        Args:
            file: the path.
            what: is wrong with it.
            way_out: what the user can do.
        """
        return cls(f"{file} {what}; {way_out}")


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
