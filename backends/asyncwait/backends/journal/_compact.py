"""Many files made into one."""

from collections.abc import Iterator
from contextlib import closing
from itertools import groupby
from operator import itemgetter
from struct import Struct as Layout
from uuid import uuid4

from asyncwait.backends.journal._failures import decode_failure
from asyncwait.backends.journal._files import (
    EntryFile,
    has_index,
    open_file,
    payload_of,
    read_entry,
    records_of,
)
from asyncwait.backends.journal._format import (
    RECORD,
    Owner,
    encode_end,
    encode_entry,
    encode_header,
)
from asyncwait.backends.journal._store import (
    LOOSE,
    MERGED,
    Store,
    Write,
    entry_files,
    need_identity,
    undisturbed,
)
from asyncwait.backends.journal._summary import JournalSummary, summary
from asyncwait.backends.journal._writers import open_store

MANY_FILES = 64
"""More loose files than these are merged when a job begins."""

MANY_BYTES = 64 * 1024 * 1024
"""The same with more bytes in them: what is not sealed is read through by each attempt."""

_PIECE = 1 << 20
_SPOT = Layout("<16sIQ")
"""Where an entry is: key, number of the file, and where it begins there."""


def compact(path: str) -> JournalSummary:
    """Merge all files of a journal into one that is sorted; drop what is there twice, or torn.

    It can be killed at any moment, and run while attempts are open: the new file has its name
    before an old one is deleted, and those that are still being written are left alone. Meanwhile
    the journal takes twice its room.

    Args:
        path: of the journal, as it was given to `Journal`.

    Returns:
        what there is afterwards.

    Raises:
        JournalCorrupt: there is no journal, or a file does not say whose it is.
        JournalMismatch: a file belongs to another job or version, or was kept with other settings.
        JournalTooNew: a later version of asyncwait has written it, or a file in it.
        OSError: it can't be read or written.
    """
    with closing(open_store(path)) as store:
        _merge(store, need_identity(store).meta.owner, is_whole=True)
    return summary(path)


def drop_failures(path: str) -> JournalSummary:
    """Drop the failures that a journal keeps, so that they are called again; merge all files.

    Those in files that are being written stay: the summary counts them.

    Args:
        path: of the journal, as it was given to `Journal`.

    Returns:
        what there is afterwards.

    Raises:
        JournalError: as `compact` does.
        OSError: it can't be read or written.
    """
    with closing(open_store(path)) as store:
        owner = need_identity(store).meta.owner
        _merge(store, owner, is_whole=True, drops_failures=True)
    return summary(path)


def compact_if_many(store: Store, owner: Owner) -> None:
    """Merge loose files if they are many, with merged ones that are no longer than they are."""
    loose = [size for name, size in entry_files(store).items() if name.endswith(LOOSE)]
    if len(loose) > MANY_FILES or sum(loose) > MANY_BYTES:
        _merge(store, owner, is_whole=False)


def _merge(store: Store, owner: Owner, *, is_whole: bool, drops_failures: bool = False) -> None:
    store.sweep()

    def merge() -> None:
        _merge_once(store, owner, is_whole=is_whole, drops_failures=drops_failures)

    undisturbed(store, merge)  # Somebody else may merge, too.


def _merge_once(store: Store, owner: Owner, *, is_whole: bool, drops_failures: bool) -> None:
    sizes = _chosen(store, is_whole=is_whole)
    opened = {name: open_file(store, name, size, owner) for name, size in sizes.items()}
    is_merged = len(opened) <= 1 and all(
        file is not None and file.name.endswith(MERGED) and has_index(store, file)
        for file in opened.values()
    )
    if is_merged and not drops_failures:
        return
    files = [file for file in opened.values() if file is not None]
    spots = _spots(store, files)
    if any(spots):
        with store.create(f"all-{uuid4().hex}{MERGED}") as write:
            _write(_entries(store, files, spots, drops_failures=drops_failures), owner, write)
    for name in sizes:
        store.delete(name)


def _chosen(store: Store, *, is_whole: bool) -> dict[str, int]:
    """Return which files are merged, and their bytes: all loose ones that are final.

    Of the merged ones all, or those that are no longer than what they are merged with; so there
    stay few, and each entry is written again few times.
    """
    sizes = entry_files(store)
    final = {name: size for name, size in sizes.items() if store.is_final(name)}
    chosen = {name: size for name, size in final.items() if name.endswith(LOOSE)}
    merged = [name for name in final if name.endswith(MERGED)]
    for name in sorted(merged, key=final.__getitem__):
        if is_whole or final[name] <= sum(chosen.values()):
            chosen[name] = final[name]
    return chosen


def _spots(store: Store, files: list[EntryFile]) -> list[bytearray]:
    """Return where all entries are, apart by the first byte of their keys: sorting takes less."""
    spots = [bytearray() for _ in range(256)]
    for number, file in enumerate(files):
        records, _ = records_of(store, file)
        for key, at in RECORD.iter_unpack(records):
            spots[key[0]] += _SPOT.pack(key, number, at)
    return spots


def _write(entries: Iterator[tuple[bytes, bytes]], owner: Owner, write: Write) -> None:
    header, salt = encode_header(owner)
    piece, index, written = bytearray(header), bytearray(), 0
    for key, payload in entries:
        index += RECORD.pack(key, written + len(piece))
        piece += encode_entry(salt, key, payload)
        if len(piece) >= _PIECE:
            write(piece)
            written += len(piece)
            piece = bytearray()
    write(piece)
    write(encode_end(salt, index, written + len(piece)))


def _entries(
    store: Store, files: list[EntryFile], spots: list[bytearray], *, drops_failures: bool
) -> Iterator[tuple[bytes, bytes]]:
    """Yield all entries in the order of their keys, each key once: the last one that is right."""
    for some in spots:
        for key, same in groupby(sorted(_SPOT.iter_unpack(some)), itemgetter(0)):
            for _, number, at in reversed(list(same)):
                if (entry := read_entry(store, files[number], at, key)) is not None:
                    payload = payload_of(entry)
                    if not (drops_failures and decode_failure(key, payload)):
                        yield key, payload
                    break
