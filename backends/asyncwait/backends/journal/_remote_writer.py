"""The parts of an attempt behind fsspec: each is written whole, when enough has come."""

from uuid import uuid4

from asyncwait.backends.journal._errors import JournalError
from asyncwait.backends.journal._files import EntryFile, payload_of, read_entry
from asyncwait.backends.journal._format import (
    PER_ENTRY,
    PER_SEAL,
    RECORD,
    Owner,
    encode_end,
    encode_entry,
    encode_header,
)
from asyncwait.backends.journal._store import IDENTITY_NAME, LOOSE, Store

PART_BYTES = 32 * 1024 * 1024
"""A part that has come to so many bytes is written, however few entries it has."""


class RemoteWriter:
    """See `Writer`.

    Entries of a part that could not be written are kept, and written with the next ones.
    """

    own: str | None = None

    def __init__(self, store: Store, name: str, owner: Owner, flush_rows: int) -> None:
        self.written = 0
        self._store = store
        self._name = name
        self._owner = owner
        self._flush_rows = flush_rows
        self._kept: dict[bytes, bytes] = {}
        self._kept_bytes = 0
        self._places: dict[bytes, tuple[EntryFile, int]] = {}

    @property
    def coming(self) -> int:
        return self._kept_bytes

    def cost(self, payload: bytes) -> int:
        return PER_ENTRY + len(payload) + (0 if self._kept else self._around())

    def _around(self) -> int:
        return len(encode_header(self._owner)[0]) + PER_SEAL

    def add(self, key: bytes, payload: bytes) -> None:
        cost = self.cost(payload)
        if key in self._kept:
            cost -= PER_ENTRY + len(self._kept[key])
        self._kept[key] = payload
        self._kept_bytes += cost
        if len(self._kept) >= self._flush_rows or self._kept_bytes >= PART_BYTES:
            self.flush()

    def find(self, key: bytes) -> bytes | None:
        if key in self._kept:
            return self._kept[key]
        if key not in self._places:
            return None
        file, at = self._places[key]
        try:
            entry = read_entry(self._store, file, at, key)
        except FileNotFoundError:
            self._places = {}  # They have been merged, and are found in the new file.
            raise
        return None if entry is None else payload_of(entry)

    def flush(self) -> None:
        if not self._kept:
            return
        if self._places and IDENTITY_NAME not in self._store.sizes():
            raise JournalError.deleted(self._store.path)
        name = f"{self._name}-{uuid4().hex}{LOOSE}"
        header, salt = encode_header(self._owner)
        data, places = bytearray(header), dict[bytes, int]()
        for key, payload in self._kept.items():
            places[key] = len(data)
            data += encode_entry(salt, key, payload)
        index = b"".join(RECORD.pack(key, at) for key, at in sorted(places.items()))
        data += encode_end(salt, index, len(data))
        self._store.put(name, bytes(data))
        file = EntryFile(name, salt, len(header))
        self._places.update((key, (file, at)) for key, at in places.items())
        self.written += len(data)
        self._kept, self._kept_bytes = {}, 0

    def close(self, room: float) -> None:  # noqa: ARG002 - it was there when entries were added
        self.flush()
