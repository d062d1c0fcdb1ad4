"""What an attempt writes."""

from typing import Protocol

from asyncwait.backends.journal._format import AROUND, END, RECORD, TAIL

PER_ENTRY = AROUND + RECORD.size
"""Bytes that an entry takes beside its payload, in the index too."""

PER_SEAL = len(END) + TAIL.size
"""Bytes that seal a file, beside the index."""


class Writer(Protocol):
    """Writes the entries of one attempt. Nothing is called at the same time.

    Attributes:
        own: name of the one file that is still being written; None if there is none.
    """

    own: str | None

    @property
    def written(self) -> int:
        """Bytes that are in files by now."""
        ...

    @property
    def coming(self) -> int:
        """Bytes that are still to be written if nothing is added any more."""
        ...

    def cost(self, payload: bytes) -> int:
        """Return by how many bytes an entry lengthens the files, when all is written."""
        ...

    def add(self, key: bytes, payload: bytes) -> None:
        """Write an entry, or keep it to be written with others."""

    def find(self, key: bytes) -> bytes | None:
        """Return the payload that was added last with a key; None if there is none, or it is wrong.

        Raises:
            FileNotFoundError: the file has gone; what it held is not known any more.
        """
        ...

    def flush(self) -> None:
        """Write what was kept."""

    def close(self, room: float) -> None:
        """Write what was kept, and end.

        Args:
            room: bytes that may be written; an index is left out if it needs more.
        """
