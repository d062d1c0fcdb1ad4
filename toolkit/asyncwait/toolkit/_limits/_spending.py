"""The file that remembers what was spent of a budget, for several runs."""

import fcntl
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from math import isfinite

from asyncwait.spec import InvalidConfig
from asyncwait.spec.texts import shown


class SpendingFile:
    """A file of costs, a line each, to which several processes of a machine append.

    An entry is one short `write`, which survives the process.

    Args:
        path: of the file, in a folder that is there; made where there is none.
        unit: of the costs; the first line names it.
    """

    def __init__(self, path: str, unit: str) -> None:
        self.path = path
        self._head = f"asyncwait budget {shown(unit)}\n".encode()
        self._sum = 0.0
        self.largest = 0.0
        """The largest cost among what was read."""
        self._read = 0
        try:
            self._handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            expected = f"a file that can be written: {error.strerror}"
            raise InvalidConfig.of("Budget.path", path, expected) from error
        with self.locked():
            try:
                self._begin(unit)
            except BaseException:
                self.close()
                raise

    def _begin(self, unit: str) -> None:
        """Write the first line, or look at it; the last one has to have its end."""
        status = os.fstat(self._handle)
        self.identity = status.st_dev, status.st_ino
        if not stat.S_ISREG(status.st_mode):
            raise InvalidConfig.of("Budget.path", self.path, "a file, which remembers")
        head = os.pread(self._handle, len(self._head), 0)
        if not head:
            os.write(self._handle, self._head)
        elif head != self._head:
            expected = f"a file of a budget in {unit}, or none yet"
            raise InvalidConfig.of("Budget.path", self.path, expected)
        elif os.pread(self._handle, 1, status.st_size - 1) != b"\n":
            expected = "a file of a budget, whose last line is whole: end it, or take it out"
            raise InvalidConfig.of("Budget.path", self.path, expected)
        self._read = len(self._head)

    def spent(self) -> float:
        """Return the sum of all that was spent."""
        while chunk := os.pread(self._handle, 1 << 20, self._read):
            whole = chunk[: chunk.rfind(b"\n") + 1]
            if not whole:
                break  # The rest of a line is on its way; or a machine has stopped amid a write.
            amounts = [*map(self._amount, whole.split())]
            self._sum += sum(amounts)
            self.largest = max([self.largest, *amounts])  # of blank lines there are none
            self._read += len(whole)
        return self._sum

    def _amount(self, line: bytes) -> float:
        try:
            if isfinite(amount := float(line)):
                return amount
            raise ValueError
        except ValueError:
            expected = f"a file of a budget, of a number a line, but it holds {shown(line)}"
            raise InvalidConfig.of("Budget.path", self.path, expected) from None

    def add(self, amount: float) -> None:
        """Append a cost; a negative one where less was spent than was thought.

        Of a call that runs on in a thread when the file is closed, what was thought stands.
        """
        if self._handle >= 0:
            os.write(self._handle, f"{amount!r}\n".encode())

    @contextmanager
    def locked(self) -> Generator[None]:
        """Have nobody else on this machine spend meanwhile."""
        fcntl.flock(self._handle, fcntl.LOCK_EX)
        try:
            yield
        finally:
            if self._handle >= 0:
                fcntl.flock(self._handle, fcntl.LOCK_UN)

    def close(self) -> None:
        """Close the file."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
