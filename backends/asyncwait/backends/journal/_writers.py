"""What an attempt writes."""

from typing import Protocol

from asyncwait.backends.journal._format import Owner
from asyncwait.backends.journal._store import Store, is_remote
from asyncwait.spec.checks import require_posix


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


def open_store(path: str) -> Store:
    """Return the files at a path; the folder may be missing.

    Raises:
        InvalidConfig: fsspec knows nothing of that kind.
        MissingExtra: it is a URL, and fsspec is not installed.
    """
    if is_remote(path):
        from asyncwait.backends.journal._remote import RemoteStore

        return RemoteStore(path)
    require_posix("a journal in a folder, and not behind fsspec,")
    from asyncwait.backends.journal._local import LocalStore

    return LocalStore(path)


def open_writer(store: Store, name: str, owner: Owner, flush_rows: int) -> Writer:
    """Return what writes an attempt's entries; it makes no file before the first."""
    if is_remote(store.path):
        from asyncwait.backends.journal._remote_writer import RemoteWriter

        return RemoteWriter(store, name, owner, flush_rows)
    from asyncwait.backends.journal._local_writer import LocalWriter

    return LocalWriter(store.path, name, owner)
