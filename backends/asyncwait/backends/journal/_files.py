"""Files of entries: opening, reading through, and searching by key."""

from bisect import bisect_right
from collections.abc import Iterator
from typing import BinaryIO

from msgspec import Struct

from asyncwait.backends.journal._errors import JournalMismatch
from asyncwait.backends.journal._format import (
    AROUND,
    BEFORE,
    CHECK_BYTES,
    END,
    ENTRIES,
    FOOTER,
    KEY_BYTES,
    MOST,
    RECORD,
    TAIL,
    Owner,
    encode_footer,
    index_check,
    is_entry,
)
from asyncwait.backends.journal._store import (
    Store,
    entry_files,
    is_remote,
    read_header,
    undisturbed,
)

_NEAR = 4096
"""Bytes of the first read of an entry: most entries are shorter."""

_PIECE = RECORD.size * 40_000
"""Bytes of one read of an index."""


class EntryFile(Struct, frozen=True):
    """A file with a valid header.

    Args:
        name: in its folder.
        salt: of its checksums.
        first: place of the first entry.
        index: place of the index; None if the file is not sealed.
        count: records in the index.
    """

    name: str
    salt: bytes
    first: int
    index: int | None = None
    count: int = 0


def open_file(store: Store, name: str, size: int, owner: Owner) -> EntryFile | None:
    """Read the header and the footer of a file; return None if it ends within its header.

    Only a read of the index (`index_pieces`) proves the footer.

    Raises:
        FileNotFoundError: the file is gone.
        JournalCorrupt: it has no header.
        JournalMismatch: it belongs to another job or version, or to other settings.
        JournalTooNew: it has a later version of the format.
    """
    damage = "has no readable owner: its header is damaged"
    way_out = "delete that file, and its calls are made again"
    header = read_header(store, name, ENTRIES, damage, way_out)
    if header is None:
        return None
    if (held := header.meta.owner) != owner:
        both = {
            "job": (held.job, owner.job),
            "version": (held.version, owner.version),
            "settings": (held.settings.hex() or None, owner.settings.hex() or None),  # digests
        }
        differs = {each: (was, now) for each, (was, now) in both.items() if was != now}
        raise JournalMismatch.between(f"{store.path}/{name}", differs)
    begin = size - TAIL.size
    data = store.read(name, begin, TAIL.size) if begin >= header.size else b""
    if len(data) == TAIL.size:
        count, index, _, magic = TAIL.unpack(data)
        fits = index >= header.size + len(END) and index + count * RECORD.size == begin
        if magic == FOOTER and fits:
            return EntryFile(name, header.salt, header.size, index, count)
    return EntryFile(name, header.salt, header.size)


class IndexDamagedError(Exception):
    """The checksum of an index is wrong; never leaves this package."""


def index_pieces(store: Store, file: EntryFile) -> Iterator[bytes]:
    """Yield the records of a file's index, many at a time; the end proves them.

    Raises:
        IndexDamagedError: the checksum is wrong.
    """
    assert file.index is not None
    end = file.index + file.count * RECORD.size
    check = index_check(file.salt)
    for begin in range(file.index, end, _PIECE):
        piece = store.read(file.name, begin, min(_PIECE, end - begin))
        check.update(piece)
        if len(piece) % RECORD.size:
            raise IndexDamagedError
        yield piece
    footer = encode_footer(check, file.count, file.index)
    if store.read(file.name, end, TAIL.size) != footer:
        raise IndexDamagedError


def has_index(store: Store, file: EntryFile) -> bool:
    """Return whether a file has a valid index."""
    try:
        return file.index is not None and all(map(len, index_pieces(store, file)))
    except IndexDamagedError:
        return False


class Scan:
    """Reads a file entry by entry, checking each, up to the first invalid entry.

    Attributes:
        is_torn: whether it ended with an invalid entry.
        at: where the next entry would begin.
        entry: the last entry read.
    """

    def __init__(self, file: EntryFile, source: BinaryIO) -> None:
        self.is_torn = False
        self.at = file.first
        self.entry = b""
        self._salt = file.salt
        self._source = source

    def __iter__(self) -> Iterator[tuple[bytes, int]]:
        """Yield the key of each entry, and its place."""
        read, salt = self._source.read, self._salt
        self._source.seek(self.at)
        while before := read(BEFORE.size):
            if before.startswith(END):
                return
            length = int.from_bytes(before[:4], "little")
            entry = before
            if len(before) == BEFORE.size and length <= MOST:
                entry += read(length + CHECK_BYTES)
            if len(entry) != length + AROUND or not is_entry(salt, entry):
                self.is_torn = True
                return
            self.entry = entry
            yield before[4:], self.at
            self.at += len(entry)


def records_of(store: Store, file: EntryFile) -> tuple[bytes, bool]:
    """Return the records of all entries of a file, and whether it ends torn.

    A sealed file is read by its index; any other file is read through.
    """
    if file.index is not None:
        try:
            return b"".join(index_pieces(store, file)), False
        except IndexDamagedError:
            pass
    with store.open(file.name) as source:
        entries = Scan(file, source)
        return b"".join(RECORD.pack(key, at) for key, at in entries), entries.is_torn


def read_entry(store: Store, file: EntryFile, at: int, key: bytes) -> bytes | None:
    """Return a complete entry; None if the place has no entry of that file, or another key."""
    entry = store.read(file.name, at, _NEAR)
    size = int.from_bytes(entry[:4], "little") + AROUND
    if entry[4 : BEFORE.size] != key or size > MOST + AROUND:
        return None
    if size > len(entry) == _NEAR:
        entry += store.read(file.name, at + _NEAR, size - _NEAR)
    entry = entry[:size]
    return entry if len(entry) == size and is_entry(file.salt, entry) else None


def payload_of(entry: bytes) -> bytes:
    """Return the payload of a valid entry."""
    return entry[BEFORE.size : -CHECK_BYTES]


_IN_PLACE = 16
"""Number of indexes that are searched in their files: each slows every search."""

_WORTH = 4096
"""Records of an index from which on it is searched in its file."""

_BLOCK = 128
"""Records of one read of an index that is searched in its file."""

_OFFSET_BITS = 44
"""No file is longer than 16 TiB."""


class Table:
    """A sealed index that is searched in its file: memory has only the first key of each block.

    Raises:
        IndexDamagedError: its checksum is wrong.
    """

    def __init__(self, store: Store, file: EntryFile) -> None:
        self.file = file
        self._store = store
        self._whole = b""
        """The index itself, if a read of it would be a request."""
        self._first: list[bytes] = []
        kept, remote = [], is_remote(store.path)
        step = _BLOCK * RECORD.size
        behind = 0
        for piece in index_pieces(store, file):
            starts = range(-behind % step, len(piece), step)
            self._first += [piece[at : at + KEY_BYTES] for at in starts]
            behind += len(piece)
            if remote:
                kept.append(piece)
        self._whole = b"".join(kept)

    def find(self, key: bytes) -> int | None:
        """Return the place of the entry with a key; None if none exists."""
        block = bisect_right(self._first, key) - 1
        if block < 0:
            return None
        records = self._records(block * _BLOCK * RECORD.size)
        at = records.find(key)
        while at % RECORD.size and at >= 0:  # The match spans two records.
            at = records.find(key, at + 1)
        return RECORD.unpack_from(records, at)[1] if at >= 0 else None

    def _records(self, begin: int) -> bytes:
        assert self.file.index is not None
        length = min(_BLOCK * RECORD.size, self.file.count * RECORD.size - begin)
        if self._whole:
            return self._whole[begin : begin + length]
        return self._store.read(self.file.name, self.file.index + begin, length)


class Index:
    """Places of the entries of all files.

    Attributes:
        size: bytes of all files.
        torn: number of files that end with an invalid entry, or before the first.
    """

    def __init__(self, store: Store, owner: Owner) -> None:
        self._store = store
        self._owner = owner

    def load(self, own: str | None = None) -> None:
        """Read all files.

        Raises:
            JournalCorrupt: the owner of a file is unreadable.
            JournalMismatch: a file belongs to another job or version, or to other settings.
            JournalTooNew: a file has a later version of the format.
            JournalError: files are deleted faster than they can be read.
        """
        undisturbed(self._store, lambda: self._load(own))

    def _load(self, own: str | None) -> None:
        sizes = entry_files(self._store)
        sizes.pop(own or "", None)
        self.size = sum(sizes.values())
        self.torn = 0
        self._files: list[EntryFile] = []
        self._tables: list[Table] = []
        self._places: dict[bytes, int] = {}
        self._wrong: set[tuple[str, bytes]] = set()
        for name, size in sorted(sizes.items(), key=lambda each: -each[1]):
            file = open_file(self._store, name, size, self._owner)
            if file is None:
                self.torn += 1
            elif not self._is_table(file):
                self._take(file)

    def _is_table(self, file: EntryFile) -> bool:
        if file.count < _WORTH or len(self._tables) >= _IN_PLACE:
            return False
        try:
            self._tables.append(Table(self._store, file))
        except IndexDamagedError:
            return False
        return True

    def _take(self, file: EntryFile) -> None:
        records, is_torn = records_of(self._store, file)
        self.torn += is_torn
        number = len(self._files) << _OFFSET_BITS
        self._files.append(file)
        self._places.update((key, number | at) for key, at in RECORD.iter_unpack(records))

    def find(self, key: bytes) -> tuple[EntryFile, int] | None:
        """Return the file and the place of the entry with a key; None if none exists."""
        if (place := self._places.get(key)) is not None:
            return self._files[place >> _OFFSET_BITS], place & ((1 << _OFFSET_BITS) - 1)
        for table in self._tables:
            at = table.find(key)
            if at is not None and (table.file.name, key) not in self._wrong:
                return table.file, at
        return None

    def drop(self, key: bytes, file: EntryFile) -> None:
        """Ignore an invalid entry from now on. Another file may have a valid one."""
        if self._places.pop(key, None) is None:
            self._wrong.add((file.name, key))
