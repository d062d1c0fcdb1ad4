"""A folder on a disk: its files, and the file of an attempt. All changes are calls of `os`."""

import errno
import fcntl
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import BinaryIO
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
from asyncwait.backends.journal._store import LOOSE, Write
from asyncwait.toolkit._file_lock import is_locked_within

TEMPORARY = ".tmp"
"""End of the name of an unfinished file."""

_BEGUN = re.compile(rf"-[0-9a-f]{{32}}({re.escape(LOOSE)})?{re.escape(TEMPORARY)}$")
"""Matches only our own temporary files; users may keep other .tmp files in the folder."""

_PATIENCE = 5.0
"""Seconds to wait for the lock of the folder; its holder may have stopped, or be this process."""

_OPEN_AT_ONCE = 32
_PIECE = 1 << 20

_OFTEN = 10

_SOON = 100e-6
"""Seconds between two checks that the file still exists; a check for each entry would cost half as
much as writing it."""


class LocalStore:
    """See `Store`.

    A new file has a temporary name until it can be read. Its writer holds a lock, which the system
    releases when the writer closes the file or is killed: a file that can be locked is final.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._open: OrderedDict[str, int] = OrderedDict()

    def make(self) -> None:
        os.makedirs(self.path, exist_ok=True)  # noqa: PTH103 - tests fail each call of `os`

    @contextmanager
    def alone(self) -> Generator[None]:
        folder = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            with suppress(OSError):
                is_locked_within(folder, _PATIENCE)  # Without locks, go on.
            yield
        finally:
            with suppress(OSError):  # A process forked meanwhile has the descriptor, too.
                fcntl.flock(folder, fcntl.LOCK_UN)
            os.close(folder)

    def sizes(self) -> dict[str, int]:
        found = {}
        with os.scandir(self.path) as files:
            for file in files:
                with suppress(FileNotFoundError):
                    if file.is_file():
                        found[file.name] = file.stat().st_size
        return found

    def read(self, name: str, begin: int, length: int) -> bytes:
        with self._lock:  # No other thread may close the file meanwhile.
            try:
                return _pread(self._opened(name), begin, length)
            except OSError as error:
                if error.errno != errno.ESTALE:
                    raise
                self._close(name)
                raise FileNotFoundError(errno.ENOENT, "deleted elsewhere", name) from error

    def _opened(self, name: str) -> int:
        if name in self._open:
            self._open.move_to_end(name)
        else:
            if len(self._open) >= _OPEN_AT_ONCE:
                self._close(next(iter(self._open)))
            self._open[name] = os.open(self.file(name), os.O_RDONLY | os.O_CLOEXEC)
        return self._open[name]

    def _close(self, name: str) -> None:
        os.close(self._open.pop(name))

    def open(self, name: str) -> BinaryIO:
        return Path(self.file(name)).open("rb", buffering=_PIECE)

    def put(self, name: str, data: bytes) -> None:
        with self.create(name) as write:
            write(data)

    @contextmanager
    def create(self, name: str) -> Generator[Write]:
        temporary = self.file(f"{name}-{uuid4().hex}{TEMPORARY}")
        file = begin_file(temporary)
        try:
            yield lambda data: write_all(file, data)
            os.fsync(file)
            os.rename(temporary, self.file(name))  # noqa: PTH104 - as above
            folder = os.open(self.path, os.O_RDONLY)
            try:
                os.fsync(folder)  # The name is on the disk before merged files are deleted.
            finally:
                os.close(folder)
            with self._lock:
                if name in self._open:  # Another file had this name before.
                    self._close(name)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)  # noqa: PTH108 - as above
            raise
        finally:
            os.close(file)

    def is_final(self, name: str) -> bool:
        file = os.open(self.file(name), os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # Its writer holds the lock, or the file system has no locks.
            return False
        finally:
            os.close(file)
        return True

    def delete(self, name: str) -> None:
        with suppress(FileNotFoundError):
            os.unlink(self.file(name))  # noqa: PTH108 - as above

    def sweep(self) -> None:
        for name in self.sizes():
            if _BEGUN.search(name):
                with suppress(FileNotFoundError):
                    if self.is_final(name):
                        self.delete(name)

    def close(self) -> None:
        with self._lock:
            while self._open:
                self._close(next(iter(self._open)))

    def file(self, name: str) -> str:
        """Return the path of a file."""
        return f"{self.path}/{name}"


class LocalWriter:
    """Writer of one file on a disk: each entry is in the file when `add` returns.

    A write that fails leaves the file as it was: an entry behind half an entry would be unreadable.

    Attributes:
        own: name of the file that is still being written; None if none is.
        written: bytes that are in files by now.
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
        """True after the error for a deleted file was raised."""
        self._places: dict[bytes, int] = {}
        """Begin of each entry. The garbage collector skips a dict of bytes and numbers; its visits
        would cost as much for each entry as writing it."""

    @property
    def coming(self) -> int:
        """Bytes still to be written if no entry is added any more."""
        return 0 if self.own is None else PER_SEAL + RECORD.size * len(self._places)

    def cost(self, payload: bytes) -> int:
        """Return the bytes by which an entry lengthens the files when all is written."""
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
        """Raise an error if the file was deleted: no reader would find further entries."""
        self._looked = monotonic()
        if os.fstat(self._file).st_nlink == 0:
            self._is_gone = True
            raise JournalError.deleted(f"{self._folder}/{self.own}")

    def _begin(self) -> None:
        """Create the file; another process may sweep it away before it has its name."""
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
        """Cut the file behind the last entry; if that fails, continue in another file."""
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
        """Seal the file; without `room`, in bytes, it stays like the file of a killed process.

        Raises:
            JournalError: the file was deleted, and no error said so yet.
        """
        try:
            if self.own is not None and not self._is_gone:
                self._require_linked()
        except JournalError:
            self._leave()
            raise
        if self.own is not None and self.coming <= room:
            index = b"".join(RECORD.pack(key, at) for key, at in sorted(self._places.items()))
            try:
                write_all(self._file, encode_end(self._salt, index, self.written))
            except OSError:
                self._cut()
        if self.own is not None:
            self._leave()


def begin_file(path: str) -> int:
    """Create a file, lock it where locks exist, and return its descriptor."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    with suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_EX)
    return file


def write_all(file: int, data: bytes | bytearray) -> None:
    """Write all of `data`, in several steps if the system takes less."""
    written = os.write(file, data)
    while written < len(data):
        written += os.write(file, memoryview(data)[written:])


def _pread(file: int, begin: int, length: int) -> bytes:
    data = os.pread(file, length, begin)
    while len(data) < length and (more := os.pread(file, length - len(data), begin + len(data))):
        data += more
    return data
