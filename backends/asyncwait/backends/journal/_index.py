"""Where each entry of a journal is, as an attempt knows it."""

from bisect import bisect_right
from typing import TypeAlias

from asyncwait.backends.journal._files import (
    EntryFile,
    IndexDamagedError,
    index_pieces,
    open_file,
    records_of,
)
from asyncwait.backends.journal._format import KEY_BYTES, RECORD, Owner
from asyncwait.backends.journal._store import Store, entry_files, is_remote, undisturbed

Place: TypeAlias = tuple[EntryFile, int]
"""A file, and where an entry begins in it."""

_IN_PLACE = 16
"""So many indexes at most are searched where they are: each costs every search some time."""

_WORTH = 4096
"""An index of fewer records is read into memory."""

_BLOCK = 128
"""Records that are read at a time of an index that is searched where it is."""

_OFFSET_BITS = 44
"""No file is longer than 16 TiB."""


class Table:
    """A sealed index that is searched where it is: every so many keys are kept, and no other.

    Raises:
        IndexDamagedError: its checksum is wrong.
    """

    def __init__(self, store: Store, file: EntryFile) -> None:
        self.file = file
        self._store = store
        self._whole = b""
        """The index itself, where a look at it would be a request."""
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
        """Return where the entry with that key begins; None if there is none."""
        block = bisect_right(self._first, key) - 1
        if block < 0:
            return None
        records = self._records(block * _BLOCK * RECORD.size)
        at = records.find(key)
        while at % RECORD.size and at >= 0:  # It lies across two of them by chance.
            at = records.find(key, at + 1)
        return RECORD.unpack_from(records, at)[1] if at >= 0 else None

    def _records(self, begin: int) -> bytes:
        assert self.file.index is not None
        length = min(_BLOCK * RECORD.size, self.file.count * RECORD.size - begin)
        if self._whole:
            return self._whole[begin : begin + length]
        return self._store.read(self.file.name, self.file.index + begin, length)


class Index:
    """Where the entries of all files are.

    Attributes:
        size: bytes of all files.
        torn: files that ended with an entry that is wrong, or before the first.
    """

    def __init__(self, store: Store, owner: Owner) -> None:
        self._store = store
        self._owner = owner

    def load(self, own: str | None = None) -> None:
        """Read what is there.

        Raises:
            JournalCorrupt: a file does not say whose it is.
            JournalMismatch: a file belongs to another job or version, or other settings.
            JournalTooNew: a file is of a later version of the format.
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

    def find(self, key: bytes) -> Place | None:
        """Return where the entry with that key is; None if there is none."""
        if (place := self._places.get(key)) is not None:
            return self._files[place >> _OFFSET_BITS], place & ((1 << _OFFSET_BITS) - 1)
        for table in self._tables:
            at = table.find(key)
            if at is not None and (table.file.name, key) not in self._wrong:
                return table.file, at
        return None

    def drop(self, key: bytes, file: EntryFile) -> None:
        """Find the entry of a file no more: it is wrong. Another file may have a right one."""
        if self._places.pop(key, None) is None:
            self._wrong.add((file.name, key))
