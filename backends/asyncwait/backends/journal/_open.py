"""Stores and writers by the path of a journal; each kind is imported when a path needs it."""

from typing import TYPE_CHECKING, TypeAlias

from asyncwait.backends.journal._format import Owner
from asyncwait.backends.journal._store import Store, is_remote
from asyncwait.spec.checks import require_posix

if TYPE_CHECKING:
    from asyncwait.backends.journal._local import LocalWriter
    from asyncwait.backends.journal._remote import RemoteWriter


def open_store(path: str) -> Store:
    """Return the files at a path; the folder may be missing.

    Raises:
        InvalidConfig: fsspec does not know the kind of URL.
        MissingExtra: the path is a URL, and fsspec is not installed.
    """
    if is_remote(path):
        from asyncwait.backends.journal._remote import RemoteStore

        return RemoteStore(path)
    require_posix("a journal in a folder, and not behind fsspec,")
    from asyncwait.backends.journal._local import LocalStore

    return LocalStore(path)


Writer: TypeAlias = "LocalWriter | RemoteWriter"
"""Writes the entries of one attempt, one call at a time."""


def open_writer(store: Store, name: str, owner: Owner, flush_rows: int) -> Writer:
    """Return the writer of an attempt; it creates no file before the first entry."""
    if is_remote(store.path):
        from asyncwait.backends.journal._remote import RemoteWriter

        return RemoteWriter(store, name, owner, flush_rows)
    from asyncwait.backends.journal._local import LocalWriter

    return LocalWriter(store.path, name, owner)
