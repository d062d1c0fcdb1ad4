"""One file of entries: opened, read through, and asked for single entries."""

from collections.abc import Iterator
from typing import BinaryIO

from msgspec import Struct

from asyncwait.backends.journal._errors import JournalCorrupt, JournalMismatch, JournalTooNew
from asyncwait.backends.journal._format import (
    AROUND,
    BEFORE,
    CHECK_BYTES,
    END,
    ENTRIES,
    FOOTER,
    HEADER_MOST,
    MOST,
    RECORD,
    TAIL,
    Header,
    IndexCheck,
    Newer,
    Owner,
    decode_header,
    is_entry,
)
from asyncwait.backends.journal._store import Store

_NEAR = 4096
"""Bytes that are read of an entry at first: most are no longer."""

_PIECE = RECORD.size * 40_000
"""Bytes that are read of an index at a time."""


class EntryFile(Struct, frozen=True):
    """A file whose header is right.

    Args:
        name: in its folder.
        salt: of its checksums.
        first: where the first entry begins.
        index: where its index begins; None if it is not sealed.
        count: records in the index.
    """

    name: str
    salt: bytes
    first: int
    index: int | None = None
    count: int = 0


def open_file(store: Store, name: str, size: int, owner: Owner) -> EntryFile | None:
    """Return what the header and the footer of a file say; None if it ends within its header.

    The footer is believed when the index has been read (`index_pieces`).

    Raises:
        FileNotFoundError: it has gone.
        JournalCorrupt: it has no header.
        JournalMismatch: it belongs to another job or version, or was kept with other settings.
        JournalTooNew: it is of a later version of the format.
    """
    header = decode_header(ENTRIES, store.read(name, 0, HEADER_MOST))
    path = f"{store.path}/{name}"
    if header == "torn":
        return None
    if isinstance(header, Newer):
        raise JournalTooNew.of(path, header.format, header.known)
    if header == "corrupt":
        way_out = "delete that file, and what is in there is called again"
        raise JournalCorrupt.of(path, "does not say whose it is: its header is damaged", way_out)
    assert isinstance(header, Header)
    if (held := header.meta.owner) != owner:
        raise JournalMismatch.between(path, _differences(held, owner))
    file = EntryFile(name, header.salt, header.size)
    count, begin = _footer(store, file, size)
    return EntryFile(name, header.salt, header.size, begin, count)


def _differences(held: Owner, owner: Owner) -> dict[str, tuple[str | None, str | None]]:
    """Say in what a file belongs to somebody else; of settings it has a digest alone."""
    both = {
        "job": (held.job, owner.job),
        "version": (held.version, owner.version),
        "settings": (held.settings.hex() or None, owner.settings.hex() or None),
    }
    return {name: (was, now) for name, (was, now) in both.items() if was != now}


def _footer(store: Store, file: EntryFile, size: int) -> tuple[int, int | None]:
    begin = size - TAIL.size
    data = store.read(file.name, begin, TAIL.size) if begin >= file.first else b""
    if len(data) < TAIL.size:
        return 0, None
    count, index, _, magic = TAIL.unpack(data)
    fits = index >= file.first + len(END) and index + count * RECORD.size == begin
    return (count, index) if magic == FOOTER and fits else (0, None)


class IndexDamagedError(Exception):
    """The checksum of an index is wrong; never leaves this package."""


def index_pieces(store: Store, file: EntryFile) -> Iterator[bytes]:
    """Yield the records of a file's index, many at a time; they are right if it comes to an end.

    Raises:
        IndexDamagedError: they are not.
    """
    assert file.index is not None
    end = file.index + file.count * RECORD.size
    check = IndexCheck(file.salt)
    for begin in range(file.index, end, _PIECE):
        piece = store.read(file.name, begin, min(_PIECE, end - begin))
        check.update(piece)
        if len(piece) % RECORD.size:
            raise IndexDamagedError
        yield piece
    tail = store.read(file.name, end, TAIL.size)
    if tail != TAIL.pack(file.count, file.index, check.digest(file.count, file.index), FOOTER):
        raise IndexDamagedError


def has_index(store: Store, file: EntryFile) -> bool:
    """Say whether a file has an index that is right."""
    if file.index is None:
        return False
    try:
        for _ in index_pieces(store, file):
            pass
    except IndexDamagedError:
        return False
    return True


class Scan:
    """Reads a file entry by entry, checking each, up to the first that is wrong.

    Attributes:
        is_torn: whether it ended with an entry that is wrong.
        at: where the next entry would begin.
        entry: that was read last.
    """

    def __init__(self, file: EntryFile, source: BinaryIO) -> None:
        self.is_torn = False
        self.at = file.first
        self.entry = b""
        self._salt = file.salt
        self._source = source

    def __iter__(self) -> Iterator[tuple[bytes, int]]:
        """Yield the key of each entry, and where it begins."""
        read, salt = self._source.read, self._salt
        self._source.seek(self.at)
        while before := read(BEFORE.size):
            if before.startswith(END):
                return
            entry = before + self._rest(before)
            if not is_entry(salt, entry):
                self.is_torn = True
                return
            self.entry = entry
            yield before[4:], self.at
            self.at += len(entry)

    def _rest(self, before: bytes) -> bytes:
        """Return payload and checksum, if the length is one."""
        length = int.from_bytes(before[:4], "little")
        if len(before) < BEFORE.size or length > MOST:
            return b""
        rest = self._source.read(length + CHECK_BYTES)
        return rest if len(rest) == length + CHECK_BYTES else b""


def scan(store: Store, file: EntryFile) -> tuple[bytes, bool]:
    """Return the records of all entries of a file that are right, and whether it ends torn."""
    with store.open(file.name) as source:
        entries = Scan(file, source)
        return b"".join(RECORD.pack(key, at) for key, at in entries), entries.is_torn


def records_of(store: Store, file: EntryFile) -> tuple[bytes, bool]:
    """Return the records of all entries of a file, and whether it ends torn.

    They are those of its index, if it is sealed; else it is read through.
    """
    if file.index is not None:
        try:
            return b"".join(index_pieces(store, file)), False
        except IndexDamagedError:
            pass
    return scan(store, file)


def read_entry(store: Store, file: EntryFile, at: int, key: bytes) -> bytes | None:
    """Return an entry, the whole of it; None if it is none of that file, or has another key."""
    entry = store.read(file.name, at, _NEAR)
    size = int.from_bytes(entry[:4], "little") + AROUND
    if entry[4 : BEFORE.size] != key or size > MOST + AROUND:
        return None
    if size > len(entry) == _NEAR:
        entry += store.read(file.name, at + _NEAR, size - _NEAR)
    entry = entry[:size]
    return entry if len(entry) == size and is_entry(file.salt, entry) else None


def payload_of(entry: bytes) -> bytes:
    """Return the payload of an entry that is right."""
    return entry[BEFORE.size : -CHECK_BYTES]
