"""The file that says whose journal it is."""

from asyncwait.backends.journal._errors import JournalCorrupt
from asyncwait.backends.journal._format import (
    HEADER_MOST,
    IDENTITY,
    Header,
    decode_header,
    encode_header,
)
from asyncwait.backends.journal._store import IDENTITY_NAME, Store


def write_identity(store: Store, owner: tuple[str, str]) -> None:
    """Say whose journal it is.

    Args:
        store: where it is.
        owner: job and version.
    """
    store.put(IDENTITY_NAME, encode_header(IDENTITY, *owner)[0])


def read_identity(store: Store, *, is_needed: bool = False) -> tuple[str, str] | None:
    """Return job and version of a journal; None if there is none, or its writer was killed.

    Args:
        store: where it is.
        is_needed: whether it is an error if there is none.

    Raises:
        JournalCorrupt: the file is damaged, or missing and needed.
    """
    try:
        header = decode_header(IDENTITY, store.read(IDENTITY_NAME, 0, HEADER_MOST))
    except (FileNotFoundError, NotADirectoryError):
        header = "torn"
    if isinstance(header, Header):
        return header.meta.owner
    if header == "corrupt":
        path = f"{store.path}/{IDENTITY_NAME}"
        way_out = "delete that file, and prepare() writes it anew; each other one says whose it is"
        raise JournalCorrupt.of(path, "is damaged", way_out)
    if is_needed:
        way_out = "journal.prepare() makes one, and every process has to see the same folder"
        raise JournalCorrupt.of(store.path, "holds no journal", way_out)
    return None
