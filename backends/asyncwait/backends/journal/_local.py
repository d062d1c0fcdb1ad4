"""A folder on a disk. All that changes it is a call of `os`, one step each."""

import errno
import fcntl
import os
import re
import stat
import threading
from collections import OrderedDict
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from asyncwait.backends.journal._errors import JournalCorrupt
from asyncwait.backends.journal._store import LOOSE, MERGED, Write
from asyncwait.toolkit._file_lock import is_locked_within

TEMPORARY = ".tmp"
"""How the name of a file ends that is being begun."""

_BEGUN = re.compile(rf"-[0-9a-f]{{32}}({re.escape(LOOSE)})?{re.escape(TEMPORARY)}$")
"""Of our files alone: whose folder it is may have others that end so."""

_PATIENCE = 5.0
"""Seconds for which another one may have the folder to itself; it may have stopped, or be ours."""

_OPEN_AT_ONCE = 32
_PIECE = 1 << 20


class LocalStore:
    """See `Store`.

    A file is written under another name, locked, and gets its own when it can be read. Its writer
    keeps the lock, and the system gives it back when that is closed or killed: a file that can be
    locked is final.
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
                is_locked_within(folder, _PATIENCE)  # or go on without it
            yield
        finally:
            with suppress(OSError):  # Whoever was forked meanwhile has the descriptor, too.
                fcntl.flock(folder, fcntl.LOCK_UN)
            os.close(folder)

    def sizes(self) -> dict[str, int]:
        found = {}
        with os.scandir(self.path) as files:
            for file in files:
                with suppress(FileNotFoundError):
                    status = file.stat()
                    found[file.name] = status.st_size
                    if file.name.endswith((LOOSE, MERGED)):
                        self._require_file(file.name, status)
        return found

    def read(self, name: str, begin: int, length: int) -> bytes:
        with self._lock:  # Nobody else closes it meanwhile.
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
            self._require_file(name)
            self._open[name] = os.open(self.file(name), os.O_RDONLY | os.O_CLOEXEC)
        return self._open[name]

    def _require_file(self, name: str, status: os.stat_result | None = None) -> None:
        """Refuse what only has the name of a file; to open a FIFO would be to wait for ever."""
        mode = (status or os.stat(self.file(name))).st_mode  # noqa: PTH116 - as above
        if not stat.S_ISREG(mode):
            kind = "folder" if stat.S_ISDIR(mode) else "FIFO" if stat.S_ISFIFO(mode) else "device"
            raise JournalCorrupt.not_a_file(self.file(name), kind)

    def _close(self, name: str) -> None:
        os.close(self._open.pop(name))

    def open(self, name: str) -> BinaryIO:
        self._require_file(name)
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
            self._sync()
            self._forget(name)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)  # noqa: PTH108 - as above
            raise
        finally:
            os.close(file)

    def _forget(self, name: str) -> None:
        """Read a name anew: another file has it now."""
        with self._lock:
            if name in self._open:
                self._close(name)

    def _sync(self) -> None:
        """Have the folder know its names, before anything is deleted because of them."""
        folder = os.open(self.path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def is_final(self, name: str) -> bool:
        self._require_file(name)
        file = os.open(self.file(name), os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # Somebody has it, or there are no locks here: then nobody can know.
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
                with suppress(FileNotFoundError, JournalCorrupt):
                    if self.is_final(name):
                        self.delete(name)

    def close(self) -> None:
        with self._lock:
            while self._open:
                self._close(next(iter(self._open)))

    def file(self, name: str) -> str:
        """Return the path of a file."""
        return f"{self.path}/{name}"


def begin_file(path: str) -> int:
    """Make a file that nobody has yet, and lock it where there are locks.

    Returns:
        its descriptor.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    with suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_EX)
    return file


def write_all(file: int, data: bytes | bytearray) -> None:
    """Write all of `data`: mostly at once, and what is left over if the system takes less."""
    written = os.write(file, data)
    while written < len(data):
        written += os.write(file, memoryview(data)[written:])


def _pread(file: int, begin: int, length: int) -> bytes:
    """Read as much as there is, up to `length` bytes."""
    data = os.pread(file, length, begin)
    while len(data) < length and (more := os.pread(file, length - len(data), begin + len(data))):
        data += more
    return data
