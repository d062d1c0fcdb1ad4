"""Where the files of a journal are."""

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import BinaryIO, Protocol, TypeVar

from asyncwait.backends.journal._errors import JournalCorrupt, JournalError, JournalTooNew
from asyncwait.backends.journal._format import (
    IDENTITY,
    IDENTITY_MOST,
    Header,
    Newer,
    decode_header,
)

LOOSE = ".loose"
"""How the name of a file ends that an attempt has written."""

MERGED = ".merged"
"""How the name of a file ends that was made of others."""

IDENTITY_NAME = "journal.identity"
"""The file that says whose journal it is."""

Write = Callable[[bytes | bytearray], None]

T = TypeVar("T")

_OFTEN = 100


class Store(Protocol):
    """Files in one folder. Whatever is not there raises FileNotFoundError.

    Attributes:
        path: of the folder.
    """

    path: str

    def make(self) -> None:
        """Make the folder, if it is missing."""

    def alone(self) -> AbstractContextManager[object]:
        """Keep others out that want the same, where there are locks, for some seconds at most."""
        ...

    def sizes(self) -> dict[str, int]:
        """Return the bytes of each file, by name."""
        ...

    def read(self, name: str, begin: int, length: int) -> bytes:
        """Return `length` bytes of a file from `begin` on, or less if it ends before."""
        ...

    def open(self, name: str) -> BinaryIO:
        """Open a file to be read from its beginning."""
        ...

    def put(self, name: str, data: bytes) -> None:
        """Write a whole file."""

    def create(self, name: str) -> AbstractContextManager[Write]:
        """Write a whole file piece by piece; it has its name when the context is left in peace."""
        ...

    def is_final(self, name: str) -> bool:
        """Say whether nobody writes to a file any more."""
        ...

    def delete(self, name: str) -> None:
        """Delete a file, which may be gone already."""

    def sweep(self) -> None:
        """Delete what was begun by processes that are gone."""

    def close(self) -> None:
        """Close what was opened to be read."""


def is_remote(path: str) -> bool:
    """Say whether a path is for fsspec."""
    return "://" in path


def undisturbed(
    store: Store, act: Callable[[], T], before: Callable[[], object] = lambda: None
) -> T:
    """Return what `act` gives; begin anew when a file goes, as it does when it is merged.

    Args:
        store: where the files are.
        act: raises FileNotFoundError if a file goes.
        before: called before each try.

    Raises:
        JournalError: files go each time.
    """
    for _ in range(_OFTEN):
        before()
        with suppress(FileNotFoundError):
            return act()
    raise JournalError(f"{store.path} loses files faster than they can be read")


def entry_files(store: Store) -> dict[str, int]:
    """Return the bytes of each file that holds entries, by name.

    A folder that changes while it is listed may show neither the merged file, which has come, nor
    those it was made of, which have gone. So it is listed until nothing has changed.

    Raises:
        JournalError: it always changes.
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
    """Return whose journal it is; None if there is none, or its writer was killed.

    Raises:
        JournalCorrupt: the file is damaged.
        JournalTooNew: a later version of asyncwait has written it.
    """
    path = f"{store.path}/{IDENTITY_NAME}"
    try:
        header = decode_header(IDENTITY, store.read(IDENTITY_NAME, 0, IDENTITY_MOST))
    except (FileNotFoundError, NotADirectoryError):
        return None
    if isinstance(header, Newer):
        raise JournalTooNew.of(path, header.format, header.known)
    if header == "corrupt":
        way_out = "delete that file, and prepare() writes it anew; each other one says whose it is"
        raise JournalCorrupt.of(path, "is damaged", way_out)
    return header if isinstance(header, Header) else None


def need_identity(store: Store) -> Header:
    """Return whose journal it is.

    Raises:
        JournalCorrupt: the file is damaged, or missing.
        JournalTooNew: a later version of asyncwait has written it.
    """
    if (header := read_identity(store)) is None:
        way_out = (
            "the first job that is given this path makes one, as journal.prepare() does, "
            "and every process has to see the same folder"
        )
        raise JournalCorrupt.of(store.path, "holds no journal", way_out)
    return header
