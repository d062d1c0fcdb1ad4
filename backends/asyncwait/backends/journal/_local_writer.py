"""The file of an attempt on a disk: each entry is there when `add` returns."""

import os
from contextlib import suppress
from time import monotonic
from uuid import uuid4

from asyncwait.backends.journal._errors import JournalError
from asyncwait.backends.journal._files import payload_of
from asyncwait.backends.journal._format import (
    AROUND,
    BEFORE,
    MOST,
    PER_ENTRY,
    PER_SEAL,
    RECORD,
    Owner,
    encode_end,
    encode_entry,
    encode_header,
    is_entry,
)
from asyncwait.backends.journal._local import TEMPORARY, begin_file, write_all
from asyncwait.backends.journal._store import LOOSE

_OFTEN = 10

_SOON = 100e-6
"""Seconds between two looks whether the file is still there: nobody deletes a folder in less, and
a look at each entry would cost half as much as writing it."""


class LocalWriter:
    """See `Writer`.

    Whatever breaks a write off leaves the file as it was before: what follows would not be read
    behind half an entry.
    """

    def __init__(self, folder: str, name: str, owner: Owner) -> None:
        self.own: str | None = None
        self.written = 0
        self._folder = folder
        self._name = name
        self._header, self._salt = encode_header(owner)
        self._owner = owner
        self._file = -1
        self._looked = 0.0
        self._is_gone = False
        """Whether it was said that the file is deleted."""
        self._places: dict[bytes, int] = {}
        """Where each entry begins. Nothing but bytes and numbers: Python's collector has no look at
        it, which would cost as much for each entry as writing it does."""

    @property
    def coming(self) -> int:
        return 0 if self.own is None else PER_SEAL + RECORD.size * len(self._places)

    def cost(self, payload: bytes) -> int:
        first = len(self._header) + PER_SEAL if self.own is None else 0
        return first + PER_ENTRY + len(payload)

    def add(self, key: bytes, payload: bytes) -> None:
        if self.own is None:
            self._begin()
        entry, at = encode_entry(self._salt, key, payload), self.written
        try:
            write_all(self._file, entry)
            self._places[key] = at
            self.written = at + len(entry)
        except BaseException:
            self._cut()
            raise
        if monotonic() - self._looked > _SOON:
            self._require_linked()

    def _require_linked(self) -> None:
        """Refuse to go on when the file was deleted: nobody would find what is written there."""
        self._looked = monotonic()
        if os.fstat(self._file).st_nlink == 0:
            self._is_gone = True
            raise JournalError.deleted(f"{self._folder}/{self.own}")

    def _begin(self) -> None:
        """Make the file; somebody may take one that has not got its name yet for a dead one's."""
        for _ in range(_OFTEN):
            name = f"{self._name}-{uuid4().hex}{LOOSE}"
            path = f"{self._folder}/{name}"
            with suppress(FileNotFoundError):
                self._begin_at(path)
                self.own, self.written = name, len(self._header)
                return
        raise FileNotFoundError(f"{self._folder} is gone, or no file can be made in there")

    def _begin_at(self, path: str) -> None:
        file = begin_file(path + TEMPORARY)
        try:
            write_all(file, self._header)
            os.fsync(file)
            os.rename(path + TEMPORARY, path)  # noqa: PTH104 - tests fail each call of `os`
        except BaseException:
            os.close(file)
            with suppress(OSError):
                os.unlink(path + TEMPORARY)  # noqa: PTH108 - as above
            raise
        self._file = file

    def _cut(self) -> None:
        """Take away what stands behind the last entry; if that fails, go on in another file."""
        try:
            os.ftruncate(self._file, self.written)
            os.lseek(self._file, self.written, os.SEEK_SET)
        except OSError:
            self._leave()

    def _leave(self) -> None:
        with suppress(OSError):
            os.close(self._file)
        self.own = None
        self._places = {}
        self._header, self._salt = encode_header(self._owner)

    def find(self, key: bytes) -> bytes | None:
        if (at := self._places.get(key)) is None:
            return None
        length = int.from_bytes(os.pread(self._file, BEFORE.size, at)[:4], "little")
        entry = os.pread(self._file, min(length, MOST) + AROUND, at)
        is_ours = entry[4 : BEFORE.size] == key and is_entry(self._salt, entry)
        return payload_of(entry) if is_ours else None

    def flush(self) -> None:
        pass

    def close(self, room: float) -> None:
        """Seal the file; without room it stays as one that was left by a killed process.

        Raises:
            JournalError: it was deleted, and nobody was told yet.
        """
        try:
            if self.own is not None and not self._is_gone:
                self._require_linked()
        except JournalError:
            self._leave()
            raise
        if self.own is not None and self.coming <= room:
            self._seal()
        if self.own is not None:
            self._leave()

    def _seal(self) -> None:
        index = b"".join(RECORD.pack(key, at) for key, at in sorted(self._places.items()))
        try:
            write_all(self._file, encode_end(self._salt, index, self.written))
        except OSError:
            self._cut()
