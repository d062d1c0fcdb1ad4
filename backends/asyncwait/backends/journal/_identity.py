"""The file that says whose journal it is."""

from asyncwait.backends.journal._errors import JournalCorrupt, JournalTooNew
from asyncwait.backends.journal._format import (
    IDENTITY,
    IDENTITY_MOST,
    Header,
    Newer,
    decode_header,
    encode_identity,
)
from asyncwait.backends.journal._store import IDENTITY_NAME, Store


def write_identity(store: Store, identity: bytes) -> None:
    """Say whose journal it is.

    Args:
        store: where it is.
        identity: what is said; see `encode_identity`.
    """
    store.put(IDENTITY_NAME, identity)


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
        way_out = "journal.prepare() makes one, and every process has to see the same folder"
        raise JournalCorrupt.of(store.path, "holds no journal", way_out)
    return header


__all__ = ["encode_identity", "need_identity", "read_identity", "write_identity"]
