"""The folder of a call host, which belongs to the user, with its socket and its lock."""

import fcntl
import os
import shutil
import socket
import struct
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from asyncwait.spec import AsyncWaitError
from asyncwait.spec.texts import shown
from asyncwait.toolkit._file_lock import is_private

STARTING = 60.0
"""Seconds for a host to begin to answer."""

_LONGEST_BASE = 62
"""Bytes of a base folder that leave room for sockets: some systems limit paths to 104 bytes."""

_TAKING = struct.pack("@ll", 5, 0)
"""Seconds and microseconds for a host with very many visitors to accept one more."""

_PEER = (socket.SOL_SOCKET, socket.SO_PEERCRED) if sys.platform == "linux" else (0, 2)
"""The socket option that returns the process at the other end; on other systems LOCAL_PEERPID."""


class NoCallHost(AsyncWaitError):
    """A call host can't be started, or has broken down."""


class HostFolder:
    """The folder of one host."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.socket = path / "socket"
        self.watch = path / "watch"
        """The socket of the thread that sends signs of life."""
        self.job = path / "job"
        self.log = path / "log"

    @classmethod
    def named(cls, name: str) -> "HostFolder":
        """Return the folder of a host; it need not exist.

        Raises:
            NoCallHost: the common folder of all hosts can't be made, belongs to another user,
                or has a path too long for sockets.
        """
        runtime = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
        is_given = runtime.is_absolute() and runtime.is_dir()
        base = runtime / "asyncwait" if is_given else Path.home() / ".asyncwait"
        if len(os.fsencode(base)) > _LONGEST_BASE:
            what = f"a path of {_LONGEST_BASE} bytes at most"
        elif not is_private(base):
            what = "a folder that only this user can enter"
        else:
            return cls(base / name)
        raise NoCallHost(
            f"expected {what} for sockets, got {shown(str(base))}; remove what is there, or set "
            "XDG_RUNTIME_DIR to a folder of your own"
        )

    def connection(self) -> socket.socket | None:
        """Return a connection to the host in this folder; None without a host.

        Raises:
            NoCallHost: the host accepts no visitor.
        """
        made = socket.socket(socket.AF_UNIX)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, _TAKING)
        try:
            made.connect(str(self.socket))
        except BlockingIOError:
            made.close()
            text = f"the call host {self.path.name} takes no visitor: its process does not run"
            raise NoCallHost(text) from None
        except OSError:
            made.close()
            return None
        return made

    @contextmanager
    def locked(self) -> Generator[None]:
        """Hold the lock that lets one host start at a time; the folder exists meanwhile."""
        while True:
            self.path.mkdir(mode=0o700, exist_ok=True)
            try:
                file = (self.path / "lock").open("w")
            except FileNotFoundError:  # An ending host has removed the folder meanwhile.
                continue
            with file:
                fcntl.flock(file, fcntl.LOCK_EX)
                if self._is_still(file.fileno()):
                    yield
                    return

    def _is_still(self, lock: int) -> bool:
        try:
            return os.path.samestat(os.fstat(lock), (self.path / "lock").stat())
        except FileNotFoundError:
            return False

    def sweep(self) -> None:
        """Remove the files that killed hosts have left beside it."""
        for lock in self.path.parent.glob("*/lock"):
            if lock.parent == self.path:
                continue
            with suppress(OSError, NoCallHost):
                if (answered := HostFolder(lock.parent).connection()) is not None:
                    answered.close()
                    continue
                with lock.open() as file:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    HostFolder(lock.parent).remove()

    def is_left_by(self, mine: os.stat_result) -> bool:
        """Whether no other host has its socket here; under the lock.

        Args:
            mine: the socket of the caller, which has not closed it.
        """
        try:
            return os.path.samestat(mine, self.socket.stat())
        except FileNotFoundError:
            return True

    def remove(self) -> None:
        """Remove it; under the lock."""
        shutil.rmtree(self.path, ignore_errors=True)


def process_of(connected: socket.socket) -> int:
    """Return the id of the process that listens at the other end."""
    return int.from_bytes(connected.getsockopt(*_PEER, 4), sys.byteorder)
