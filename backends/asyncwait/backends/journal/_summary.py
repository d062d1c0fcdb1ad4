"""What there is in a journal, for people."""

from collections import Counter
from contextlib import closing
from typing import Literal

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
from asyncwait.backends.journal._format import KEY_BYTES, RECORD, Header, Owner
from asyncwait.backends.journal._store import LOOSE, Store, entry_files, need_identity, undisturbed
from asyncwait.backends.journal._writers import open_store
from asyncwait.backends.services._causes import most_frequent

_CAUSES = 100
"""Causes of failures that a summary tells at most."""


class FileSummary(Struct, frozen=True):
    """What there is in a file.

    Args:
        name: in its folder.
        entries: that can be read.
        bytes: of the file.
        state: "whole"; "torn", if it has an entry, or ends in a header, that is not whole or not
            right; "corrupt", if it does not say whose it is; "foreign", if it belongs to another
            job or version, or to other settings; or "newer", if it is of a later version of the
            format. The last three are refused by every attempt.
    """

    name: str
    entries: int
    bytes: int
    state: Literal["whole", "torn", "corrupt", "foreign", "newer"]


class JournalSummary(Struct, frozen=True):
    """What there is in a journal.

    Args:
        path: of it.
        job: whose it is.
        version: of the function.
        files: that hold entries.
        entries: that can be read.
        keys: that are different.
        bytes: of all those files.
        torn: files that are.
        corrupt: files that are, or are foreign, or newer.
        loose: those that attempts have written.
        merged: those that were made of others.
        settings: what else the results depend on, by name.
        format: version of the format in which it was begun; in 1 there were no settings.
        failures: calls that have failed for good by cause, which is class and HTTP status, the most
            frequent first; behind a hundred of them "other". See `Journal`.
        failed: all such calls.
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
    format: int = 2
    failures: dict[str, int] = {}
    failed: int = 0
    reasons: dict[str, str] = {}


def summary(path: str) -> JournalSummary:
    """Read a journal through, and say what there is.

    Args:
        path: of the journal, as it was given to `Journal`.

    Raises:
        JournalCorrupt: there is no journal, or it does not say whose it is.
        JournalTooNew: a later version of asyncwait has begun it.
        JournalError: files are deleted faster than they can be read.
        MissingExtra: the path is a URL, and fsspec is not installed.
        OSError: it can't be read.
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
        format=identity.format,
        failures=causes,
        failed=len(failures),
        reasons={each.cause: each.reason for each in reversed(failures) if each.cause in causes},
    )


class _Seen:
    """What was read of all files: keys, apart by their first bytes, and failures."""

    def __init__(self) -> None:
        self._keys = [bytearray() for _ in range(256)]
        self._failures: dict[bytes, Failure] = {}

    def add(self, key: bytes, entry: bytes) -> None:
        """Take note of an entry that is right."""
        self._keys[key[0]] += key
        if (failure := decode_failure(key, payload_of(entry))) is not None:
            self._failures[failure.key] = failure

    def count(self) -> int:
        """Return how many keys are different."""
        return sum(len(_distinct(keys)) for keys in self._keys)

    def failures(self) -> list[Failure]:
        """Return the failures, but for those of calls with results."""
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
    return _read_through(store, file, size, seen)


def _read_through(store: Store, file: EntryFile, size: int, seen: _Seen) -> FileSummary:
    count = 0
    with store.open(file.name) as source:
        scan = Scan(file, source)
        for key, _ in scan:
            seen.add(key, scan.entry)
            count += 1
        end = scan.at
    if scan.is_torn and has_index(store, file):  # which finds what is behind, too
        for key, at in RECORD.iter_unpack(records_of(store, file)[0]):
            if at >= end and (entry := read_entry(store, file, at, key)) is not None:
                seen.add(key, entry)
                count += 1
    return FileSummary(file.name, count, size, "torn" if scan.is_torn else "whole")


def _distinct(keys: bytearray) -> set[bytes]:
    return {bytes(keys[at : at + KEY_BYTES]) for at in range(0, len(keys), KEY_BYTES)}
