"""What a path is for: a disk, or fsspec; neither is imported before it is needed."""

from asyncwait.backends.journal._format import Owner
from asyncwait.backends.journal._store import Store, is_remote
from asyncwait.backends.journal._writers import Writer


def open_store(path: str) -> Store:
    """Return the files at a path; the folder may be missing.

    Raises:
        InvalidConfig: fsspec knows nothing of that kind.
        MissingExtra: it is a URL, and fsspec is not installed.
    """
    if is_remote(path):
        from asyncwait.backends.journal._remote import RemoteStore

        return RemoteStore(path)
    from asyncwait.backends.journal._local import LocalStore  # Windows has no locks of this kind.

    return LocalStore(path)


def open_writer(store: Store, name: str, owner: Owner, flush_rows: int) -> Writer:
    """Return what writes an attempt's entries; it makes no file before the first.

    Args:
        store: where the files are.
        name: of the attempt.
        owner: whose journal it is.
        flush_rows: entries in a part, where files are written whole.
    """
    if is_remote(store.path):
        from asyncwait.backends.journal._remote_writer import RemoteWriter

        return RemoteWriter(store, name, owner, flush_rows)
    from asyncwait.backends.journal._local_writer import LocalWriter

    return LocalWriter(store.path, name, owner)
