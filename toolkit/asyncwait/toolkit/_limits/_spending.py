"""The file of the costs of a budget, for several runs."""

import fcntl
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from math import isfinite

from asyncwait.spec import InvalidConfig
from asyncwait.spec.limits import LedgerLost
from asyncwait.spec.texts import shown
from asyncwait.toolkit._file_lock import is_locked_within

_PATIENCE = 10.0
"""Seconds for which another process may lock the file; an entry takes some microseconds."""


class SpendingFile:
    """A file of costs, one for each line, to which several processes of a machine append.

    An entry is one short `write`, which survives the process. An operator that finds the file
    changed raises an error, because the amount spent is unknown then.

    Args:
        path: path of the file, in an existing folder; a missing file is created.
        unit: unit of the costs, in the first line.
        exists: whether the file must hold a budget already.

    Raises:
        InvalidConfig: the file is not a file of a budget in this unit.
        LedgerLost: the file must hold a budget, and is missing or empty.
    """

    def __init__(self, path: str, unit: str, *, exists: bool = False) -> None:
        self.path = path
        self._place = os.path.abspath(path)  # noqa: PTH100 - a str
        self._head = f"asyncwait budget {shown(unit)}\n".encode()
        self._sum = 0.0
        self.largest = 0.0
        """The largest cost in the file so far."""
        self._read = 0
        self._exists = exists
        flags = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | (0 if exists else os.O_CREAT)
        try:
            self._handle = os.open(path, flags, 0o644)
        except (OSError, ValueError) as error:
            if exists and isinstance(error, FileNotFoundError):
                raise self._missing() from error
            expected = f"a file that can be written: {getattr(error, 'strerror', error)}"
            raise InvalidConfig.of("Budget.path", path, expected) from error
        try:
            with self.locked():
                self._begin(unit)
        except BaseException:
            self.close()
            raise

    def _begin(self, unit: str) -> None:
        """Write the first line, or check it; the last line must be complete."""
        status = os.fstat(self._handle)
        self.identity = status.st_dev, status.st_ino
        if not stat.S_ISREG(status.st_mode):
            raise InvalidConfig.of("Budget.path", self.path, "a file, which remembers")
        head = os.pread(self._handle, len(self._head), 0)
        if not head and self._exists:
            raise self._missing()
        if not head:
            self._write(self._head)
        elif head != self._head:
            expected = f"a file of a budget in {unit}, or none yet"
            raise InvalidConfig.of("Budget.path", self.path, expected)
        elif os.pread(self._handle, 1, status.st_size - 1) != b"\n":
            expected = "a file of a budget, whose last line is whole: end it, or take it out"
            raise InvalidConfig.of("Budget.path", self.path, expected)
        self._read = len(self._head)

    def spent(self) -> float:
        """Return the sum of all costs.

        Raises:
            LedgerLost: the file is gone, or was cut.
        """
        self._require_whole()
        while chunk := os.pread(self._handle, 1 << 20, self._read):
            whole = chunk[: chunk.rfind(b"\n") + 1]
            if not whole:
                break  # Another process is writing the line, or the machine stopped meanwhile.
            amounts = [*map(self._amount, whole.split())]
            self._sum += sum(amounts)
            self.largest = max([self.largest, *amounts])  # blank lines give no amounts
            self._read += len(whole)
        return self._sum

    def _require_whole(self) -> None:
        try:
            status = os.stat(self._place)  # noqa: PTH116 - each call needs it
        except OSError as error:
            raise self._lost(f"is gone: {error.strerror}") from error
        if (status.st_dev, status.st_ino) != self.identity:
            raise self._lost("was replaced")
        if status.st_size < self._read:
            raise self._lost("was cut")

    def _missing(self) -> LedgerLost:
        return LedgerLost(
            f"the file of a budget, {self._place}, is missing or empty, and Budget.exists says "
            "that the budget exists: restore the file, or go on with what is left as a new Budget "
            "with exists=False"
        )

    def _lost(self, what: str) -> LedgerLost:
        return LedgerLost(
            f"the file of a budget, {self._place}, {what}: it is unknown what was spent; go on "
            "with what is left as a new Budget"
        )

    def _write(self, line: bytes) -> None:
        """Write a whole line, or nothing; the caller holds the lock.

        Raises:
            LedgerLost: the file can't be written.
        """
        why = "no room is left"
        try:
            written = os.write(self._handle, line)
        except OSError as error:
            written, why = 0, error.strerror or str(error)
        if written < len(line):
            if written > 0:
                with suppress(OSError):  # Then the next run refuses the incomplete line.
                    os.ftruncate(self._handle, os.fstat(self._handle).st_size - written)
            raise LedgerLost(
                f"the file of a budget, {self._place}, can't be written: {why}; so no further call "
                "begins, and what the last one has cost may be missing there"
            )

    def _amount(self, line: bytes) -> float:
        try:
            if isfinite(amount := float(line)):
                return amount
            raise ValueError
        except ValueError:
            expected = f"a file of a budget, of a number a line, but it holds {shown(line)}"
            raise InvalidConfig.of("Budget.path", self.path, expected) from None

    def add(self, amount: float) -> None:
        """Append a cost, or a negative correction of an estimate that was too large.

        A call that still runs in a thread when the file is closed keeps its estimate.

        Raises:
            LedgerLost: the file can't be written.
        """
        if self._handle >= 0:
            self._write(f"{amount!r}\n".encode())

    @contextmanager
    def locked(self) -> Generator[None]:
        """Lock the file, so that no other process spends meanwhile.

        Raises:
            LedgerLost: another process does not release its lock.
        """
        self._lock()
        try:
            yield
        finally:
            if self._handle >= 0:
                fcntl.flock(self._handle, fcntl.LOCK_UN)

    def _lock(self) -> None:
        if self._handle >= 0 and not is_locked_within(self._handle, _PATIENCE):
            raise LedgerLost(
                f"the file of a budget, {self._place}, has been locked by another process for "
                f"{_PATIENCE:g} s: end that one, which may have stopped"
            )

    def close(self) -> None:
        """Close the file."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
