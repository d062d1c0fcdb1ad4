"""Files of a journal: their names, and the folder, on a disk or behind fsspec."""

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import BinaryIO, Protocol, TypeVar

from asyncwait.backends.journal._errors import JournalCorrupt, JournalError, JournalTooNew
from asyncwait.backends.journal._format import (
    HEADER_MOST,
    IDENTITY,
    Header,
    decode_header,
)

LOOSE = ".loose"
"""End of the name of a file that an attempt has written."""

MERGED = ".merged"
"""End of the name of a file into which others were merged."""

IDENTITY_NAME = "journal.identity"
"""Name of the file with job, version and settings of the journal."""

Write = Callable[[bytes | bytearray], None]

T = TypeVar("T")

_OFTEN = 100


class Store(Protocol):
    """Files in one folder; a missing file raises FileNotFoundError.

    Attributes:
        path: of the folder.
    """

    path: str

    def make(self) -> None:
        """Make the folder, if it is missing."""

    def alone(self) -> AbstractContextManager[object]:
        """Lock the folder, where locks exist, and wait some seconds for it at most."""
        ...

    def sizes(self) -> dict[str, int]:
        """Return the bytes of each file, by name."""
        ...

    def read(self, name: str, begin: int, length: int) -> bytes:
        """Return `length` bytes of a file from `begin` on, or fewer at its end."""
        ...

    def open(self, name: str) -> BinaryIO:
        """Open a file to be read from its beginning."""
        ...

    def put(self, name: str, data: bytes) -> None:
        """Write a whole file."""

    def create(self, name: str) -> AbstractContextManager[Write]:
        """Write a file piece by piece; it gets its name when the context exits without an error."""
        ...

    def is_final(self, name: str) -> bool:
        """Return True if no process writes to a file any more."""
        ...

    def delete(self, name: str) -> None:
        """Delete a file, which may be gone already."""

    def sweep(self) -> None:
        """Delete files that killed processes left unfinished."""

    def close(self) -> None:
        """Close the files that were opened for reading."""


def is_remote(path: str) -> bool:
    """Return True for a path of fsspec."""
    return "://" in path


def undisturbed(
    store: Store, act: Callable[[], T], before: Callable[[], object] = lambda: None
) -> T:
    """Return the result of `act`; repeat it if a file disappears, as a merged one does.

    Args:
        store: the files.
        act: raises FileNotFoundError if a file disappears.
        before: called before each try.

    Raises:
        JournalError: a file disappears in each try.
    """
    for _ in range(_OFTEN):
        before()
        with suppress(FileNotFoundError):
            return act()
    raise JournalError(f"{store.path} loses files faster than they can be read")


def entry_files(store: Store) -> dict[str, int]:
    """Return the bytes of each file that holds entries, by name.

    A listing of a folder that changes may lack both a merged file and the files merged into it.
    So the folder is listed until two listings agree.

    Raises:
        JournalError: they never agree.
    """
    last = _listed(store)
    for _ in range(_OFTEN):
        now = _listed(store)
        if now.keys() == last.keys():
            return now
        last = now
    raise JournalError(
        f"{store.path} changes faster than it can be listed; is it compacted again and again?"
    )


def _listed(store: Store) -> dict[str, int]:
    sizes = store.sizes()
    return {name: size for name, size in sizes.items() if name.endswith((LOOSE, MERGED))}


def read_identity(store: Store) -> Header | None:
    """Return the identity of a journal; None if none exists, or its writer was killed.

    Raises:
        JournalCorrupt: the file is damaged.
        JournalTooNew: a later version of asyncwait has written it.
    """
    way_out = "delete that file, and prepare() writes it again, from the other files"
    try:
        return read_header(store, IDENTITY_NAME, IDENTITY, "is damaged", way_out)
    except (FileNotFoundError, NotADirectoryError):
        return None


def read_header(store: Store, name: str, magic: bytes, damage: str, way_out: str) -> Header | None:
    """Return the header of a file; None if the file ends before it.

    Raises:
        FileNotFoundError: the file is gone.
        JournalCorrupt: it has no header; `damage` and `way_out` say so.
        JournalTooNew: it has a later version of the format.
    """
    header = decode_header(magic, store.read(name, 0, HEADER_MOST[magic]))
    path = f"{store.path}/{name}"
    if isinstance(header, int):
        raise JournalTooNew.of(path, header, magic[-1])
    if header == "corrupt":
        raise JournalCorrupt.of(path, damage, way_out)
    return None if header == "torn" else header


def need_identity(store: Store) -> Header:
    """Return the identity of a journal.

    Raises:
        JournalCorrupt: the file is damaged, or missing.
        JournalTooNew: a later version of asyncwait has written it.
    """
    if (header := read_identity(store)) is None:
        way_out = (
            "the first job with this path makes one, as journal.prepare() does, "
            "and every process has to see the same folder"
        )
        raise JournalCorrupt.of(store.path, "holds no journal", way_out)
    return header
