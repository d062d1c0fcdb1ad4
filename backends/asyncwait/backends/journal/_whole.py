"""Whole journals: summarized, and merged into one file."""

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from itertools import groupby
from operator import itemgetter
from struct import Struct as Layout
from typing import Literal
from uuid import uuid4

from msgspec import Struct

from asyncwait.backends.journal._errors import (
    JournalCorrupt,
    JournalMismatch,
    JournalTooNew,
)
from asyncwait.backends.journal._failures import Failure, decode_failure
from asyncwait.backends.journal._files import (
    EntryFile,
    Scan,
    has_index,
    open_file,
    payload_of,
    read_entry,
    records_of,
)
from asyncwait.backends.journal._format import (
    KEY_BYTES,
    RECORD,
    Header,
    Owner,
    encode_end,
    encode_entry,
    encode_header,
)
from asyncwait.backends.journal._open import open_store
from asyncwait.backends.journal._store import (
    LOOSE,
    MERGED,
    Store,
    Write,
    entry_files,
    need_identity,
    undisturbed,
)
from asyncwait.backends.services._causes import most_frequent

_CAUSES = 100
"""Causes of failures in a summary at most."""

MANY_FILES = 64
"""Number of loose files above which a job merges them when it begins."""

MANY_BYTES = 64 * 1024 * 1024
"""Bytes of loose files above which a job merges them: each attempt reads unsealed files."""

_PIECE = 1 << 20
_SPOT = Layout("<16sIQ")
"""Key of an entry, number of its file, and its place there."""


class FileSummary(Struct, frozen=True):
    """Content of a file.

    Args:
        name: in its folder.
        entries: number of readable entries.
        bytes: of the file.
        state: "whole"; "torn", if an entry or the header is cut or altered; "corrupt", if its owner
            is unreadable; "foreign", if it belongs to another job or version, or to other settings;
            or "newer", if it has a later version of the format. Every attempt refuses the last
            three.
    """

    name: str
    entries: int
    bytes: int
    state: Literal["whole", "torn", "corrupt", "foreign", "newer"]


class JournalSummary(Struct, frozen=True):
    """Content of a journal.

    Args:
        path: of the journal.
        job: its name.
        version: of the function.
        files: number of files with entries.
        entries: number of readable entries.
        keys: number of different keys.
        bytes: of all these files.
        torn: number of torn files.
        corrupt: number of corrupt, foreign and newer files.
        loose: files that attempts have written.
        merged: files into which others were merged.
        settings: other dependencies of the results, by name.
        failures: number of final failures by cause (class and HTTP status), the most frequent
            first; after a hundred causes "other". See `Journal`.
        failed: number of all such calls.
        reasons: of one call of each cause.
    """

    path: str
    job: str
    version: str
    files: int
    entries: int
    keys: int
    bytes: int
    torn: int
    corrupt: int
    loose: tuple[FileSummary, ...]
    merged: tuple[FileSummary, ...]
    settings: dict[str, str] = {}
    failures: dict[str, int] = {}
    failed: int = 0
    reasons: dict[str, str] = {}


def summary(path: str) -> JournalSummary:
    """Read all of a journal, and return its content.

    Args:
        path: of the journal, as for `Journal`.

    Raises:
        JournalCorrupt: the folder has no journal, or its owner is unreadable.
        JournalTooNew: a later version of asyncwait has begun it.
        JournalError: files are deleted faster than they can be read.
        MissingExtra: the path is a URL, and fsspec is not installed.
        OSError: the folder can't be read.
    """
    with closing(open_store(path)) as store:
        identity = need_identity(store)
        return undisturbed(store, lambda: _summary(store, identity))


def _summary(store: Store, identity: Header) -> JournalSummary:
    meta = identity.meta
    seen = _Seen()
    sizes = sorted(entry_files(store).items())
    files = [_of_file(store, name, size, meta.owner, seen) for name, size in sizes]
    failures = seen.failures()
    causes = most_frequent(Counter(each.cause for each in failures), _CAUSES)
    return JournalSummary(
        path=store.path,
        job=meta.job,
        version=meta.version,
        files=len(files),
        entries=sum(file.entries for file in files),
        keys=seen.count(),
        bytes=sum(file.bytes for file in files),
        torn=sum(file.state == "torn" for file in files),
        corrupt=sum(file.state in {"corrupt", "foreign", "newer"} for file in files),
        loose=tuple(file for file in files if file.name.endswith(LOOSE)),
        merged=tuple(file for file in files if not file.name.endswith(LOOSE)),
        settings=dict(meta.settings),
        failures=causes,
        failed=len(failures),
        reasons={each.cause: each.reason for each in reversed(failures) if each.cause in causes},
    )


class _Seen:
    """Keys of all files, by their first bytes, and failures."""

    def __init__(self) -> None:
        self._keys = [bytearray() for _ in range(256)]
        self._failures: dict[bytes, Failure] = {}

    def add(self, key: bytes, entry: bytes) -> None:
        self._keys[key[0]] += key
        if (failure := decode_failure(key, payload_of(entry))) is not None:
            self._failures[failure.key] = failure

    def count(self) -> int:
        """Return the number of different keys."""
        return sum(len(_distinct(keys)) for keys in self._keys)

    def failures(self) -> list[Failure]:
        """Return the failures of calls without results."""
        results: set[bytes] = set()
        for first in {key[0] for key in self._failures}:
            results |= _distinct(self._keys[first]) & self._failures.keys()
        return [each for key, each in self._failures.items() if key not in results]


def _of_file(store: Store, name: str, size: int, owner: Owner, seen: _Seen) -> FileSummary:
    try:
        file = open_file(store, name, size, owner)
    except JournalTooNew:
        return FileSummary(name, 0, size, "newer")
    except JournalCorrupt:
        return FileSummary(name, 0, size, "corrupt")
    except JournalMismatch:
        return FileSummary(name, 0, size, "foreign")
    if file is None:
        return FileSummary(name, 0, size, "torn")
    count = 0
    with store.open(name) as source:
        scan = Scan(file, source)
        for key, _ in scan:
            seen.add(key, scan.entry)
            count += 1
        end = scan.at
    if scan.is_torn and has_index(store, file):  # It finds the entries behind, too.
        for key, at in RECORD.iter_unpack(records_of(store, file)[0]):
            if at >= end and (entry := read_entry(store, file, at, key)) is not None:
                seen.add(key, entry)
                count += 1
    return FileSummary(name, count, size, "torn" if scan.is_torn else "whole")


def _distinct(keys: bytearray) -> set[bytes]:
    return {bytes(keys[at : at + KEY_BYTES]) for at in range(0, len(keys), KEY_BYTES)}


def compact(path: str) -> JournalSummary:
    """Merge all files of a journal into one sorted file, without repeated and torn entries.

    The process may be killed at any moment, and attempts may be open: the new file has its name
    before an old one is deleted, and files that are still being written stay. Meanwhile the journal
    takes twice its room.

    Args:
        path: of the journal, as for `Journal`.

    Returns:
        The new content.

    Raises:
        JournalCorrupt: the folder has no journal, or the owner of a file is unreadable.
        JournalMismatch: a file belongs to another job or version, or to other settings.
        JournalTooNew: a later version of asyncwait has written it, or a file in it.
        OSError: the folder can't be read or written.
    """
    with closing(open_store(path)) as store:
        _merge(store, need_identity(store).meta.owner, is_whole=True)
    return summary(path)


def drop_failures(path: str) -> JournalSummary:
    """Drop the failures of a journal, so that these calls are made again; merge all files.

    Failures in files that are still being written stay, and the summary counts them.

    Args:
        path: of the journal, as for `Journal`.

    Returns:
        the new content.

    Raises:
        JournalError: see `compact`.
        OSError: the folder can't be read or written.
    """
    with closing(open_store(path)) as store:
        owner = need_identity(store).meta.owner
        _merge(store, owner, is_whole=True, drops_failures=True)
    return summary(path)


def compact_if_many(store: Store, owner: Owner) -> None:
    """Merge many loose files, and merged files that are not longer than these together."""
    loose = [size for name, size in entry_files(store).items() if name.endswith(LOOSE)]
    if len(loose) > MANY_FILES or sum(loose) > MANY_BYTES:
        _merge(store, owner, is_whole=False)


def _merge(store: Store, owner: Owner, *, is_whole: bool, drops_failures: bool = False) -> None:
    store.sweep()
    # Another process may merge, too.
    undisturbed(store, lambda: _merge_once(store, owner, is_whole, drops_failures))


def _merge_once(store: Store, owner: Owner, is_whole: bool, drops_failures: bool) -> None:  # noqa: FBT001 - one caller
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
    """Return the files to merge, and their bytes: all loose files that are final.

    All merged files are added, or only those not longer than the chosen files together; so few
    files remain, and each entry is rewritten few times.
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
    """Return the places of all entries, by the first byte of their keys, to sort less at a time."""
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
    """Yield all entries in the order of their keys, each key once: its last valid entry."""
    for some in spots:
        for key, same in groupby(sorted(_SPOT.iter_unpack(some)), itemgetter(0)):
            for _, number, at in reversed(list(same)):
                if (entry := read_entry(store, files[number], at, key)) is not None:
                    payload = payload_of(entry)
                    if not (drops_failures and decode_failure(key, payload)):
                        yield key, payload
                    break
