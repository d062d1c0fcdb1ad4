"""The client of a call host: it finds the host by its folder, and starts it if none runs."""

import asyncio
import fcntl
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, BinaryIO

from pyspark import cloudpickle

from asyncwait.backends.spark.carry._host import (
    Asked,
    CallHost,
    CarryWork,
    Sign,
    broken_text,
    read_answer,
    read_sign,
)
from asyncwait.backends.spark.progress._wire import packed, received
from asyncwait.backends.threads import LoopThread
from asyncwait.spec import AsyncWaitError
from asyncwait.spec.carry import Identity, Outcome, Visit
from asyncwait.spec.texts import one_line, shown
from asyncwait.toolkit._file_lock import is_private

STARTING = 60.0
"""Seconds for a host to begin to answer."""

_LONGEST_BASE = 62
"""Longest path of a base folder, in bytes: some systems limit paths of sockets to 104 bytes."""

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
                if _is_at(self.path / "lock", os.fstat(file.fileno())):
                    yield
                    return

    def sweep(self) -> None:
        """Remove the folders of killed hosts next to this folder."""
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
        """Whether no other host has its socket here; the caller holds the lock.

        Args:
            mine: status of the caller's socket, which is still open.
        """
        return not self.socket.exists() or _is_at(self.socket, mine)

    def remove(self) -> None:
        """Remove the folder; the caller holds the lock."""
        shutil.rmtree(self.path, ignore_errors=True)


def _is_at(path: Path, file: os.stat_result) -> bool:
    try:
        return os.path.samestat(file, path.stat())
    except FileNotFoundError:
        return False


def process_of(connected: socket.socket) -> int:
    """Return the id of the process that listens at the other end."""
    return int.from_bytes(connected.getsockopt(*_PEER, 4), sys.byteorder)


_EACH = 1.0
"""Seconds after which a waiting visit checks for a sign of life of its host."""

_ENDING = 10.0
"""Seconds for the event loop of a host to notice that it must end."""

_HOSTS = 5
"""Number of hosts that a visit tries, one after the other."""

_DYING = 0.05
"""Seconds in which a killed host may still accept connections without answering."""


class HostClient:
    """A call host; the first visit starts its process.

    Args:
        job: its work, pickled.
        patience: seconds for which the event loop of the host may stand still while a visit waits.
    """

    def __init__(self, folder: HostFolder, job: bytes, patience: float = 30.0) -> None:
        self._folder = folder
        self.job = job
        self.patience = patience
        self._turned = 0.0
        """The last time at which the loop of the host has turned, or the visit has begun."""
        self._gap = 0
        self._socket: socket.socket | None = None
        self._log: BinaryIO | None = None
        """The output of the host; the open file stays readable after the host has removed it."""
        self._here: HostHere | None = None
        self.figures: Sequence[float] = ()
        """Figures of the host after the last visit; none if calls run in this process."""

    def after(self, gap: int) -> "HostClient":
        """Return this client, for a visit `gap` milliseconds after the last visit of its lane."""
        self._gap = gap
        return self

    def visit(self, visit: Visit) -> Mapping[Identity, Outcome]:
        """Return the outcomes that a visit wants; see `asyncwait.spec.carry.Host`.

        Raises:
            NoCallHost: no call host runs, or the host has broken down or does not answer.
        """
        if self._here is not None:
            return self._visit_here(visit)
        try:
            answer = self._answer(packed(Asked(visit, self._gap)))
        except _NoProcess as error:
            sys.stderr.write(f"asyncwait: {error}; calls end with each worker\n")
            self._here = HostHere(cloudpickle.loads(self.job), self._folder.path.name)
            return self._visit_here(visit)
        said = read_answer(answer)
        if said.broken is not None:
            self.close()
            raise NoCallHost(f"the call host has broken down: {said.broken}")
        self.figures = said.figures
        return dict(said.outcomes)

    def _visit_here(self, visit: Visit) -> Mapping[Identity, Outcome]:
        assert self._here is not None
        try:
            return self._here.visit(visit)
        except Exception as error:
            self.close()
            raise NoCallHost(f"the call host has broken down: {broken_text(error)}") from error

    def _answer(self, question: bytes) -> bytes:
        """Return the answer of a host; if the host ends meanwhile, ask another host.

        Raises:
            NoCallHost: the hosts end one after the other.
        """
        with ExitStack() as ended:
            logs: list[BinaryIO] = []
            why: object = None
            for _ in range(_HOSTS):
                try:
                    return self._ask(question)
                except OSError as error:
                    why = error
                    if self._log is not None:
                        logs.append(ended.enter_context(self._log))
                        self._log = None
                    self.close()
                    time.sleep(_DYING)
            lines = [line for log in logs for line in _end_of(log).splitlines() if line.strip()]
            text = f"{_HOSTS} call hosts have ended, one after the other, without an answer"
            raise NoCallHost(f"{text}: {one_line(lines[-1] if lines else why)}")

    def _ask(self, question: bytes) -> bytes:
        if self._socket is None:
            self._socket = self._connected()
            self._socket.settimeout(min(_EACH, self.patience))
        visited = self._socket
        self._turned = time.monotonic()
        left = memoryview(question)
        while left:
            left = left[self._patiently(visited, visited.send, left) :]
        return received(lambda length: self._patiently(visited, visited.recv, length))

    def _patiently(self, visited: socket.socket, move: Callable[[Any], Any], what: Any) -> Any:
        """Move bytes; wait for the host as long as its event loop turns.

        Raises:
            NoCallHost: the loop has not turned for too long.
        """
        while True:
            try:
                return move(what)
            except TimeoutError:
                sign = self._sign(process := process_of(visited))
            now = time.monotonic()
            if sign is not None:
                self._turned = max(self._turned, now - sign.still)
            if now - self._turned >= self.patience:
                self.close()
                raise NoCallHost(self._unanswered(process, sign))

    def _sign(self, process: int) -> Sign | None:
        """Return a sign of life of the host's process; None if the process does not run.

        Raises:
            OSError: the host is ending, or has ended.
        """
        with socket.socket(socket.AF_UNIX) as made:
            made.settimeout(min(_EACH, self.patience))
            try:
                made.connect(str(self._folder.watch))
                if process_of(made) != process:
                    raise ConnectionError("another call host is in the place of this one")
                return read_sign(received(made.recv))
            except (BlockingIOError, TimeoutError):
                return None

    def _unanswered(self, process: int, sign: Sign | None) -> str:
        text = f"its process does not run; go on by kill -CONT {process}, or end it by kill -KILL"
        if sign is not None:
            where = one_line("; ".join(sign.frames), 2_000)
            text = f"a call blocks its event loop: {where}; await what takes long, or use a thread"
        host = f"the call host {self._folder.path.name} (process {process})"
        return f"{host} has not answered for {self.patience:g} s: {text}"

    def _connected(self) -> socket.socket:
        if (found := self._folder.connection()) is None:
            with self._folder.locked():
                if (found := self._folder.connection()) is None:
                    found = self._started()
        with suppress(OSError):
            self._log = self._folder.log.open("rb")
        return found

    def _started(self) -> socket.socket:
        folder = self._folder
        folder.sweep()
        try:
            for left in (folder.socket, folder.watch, folder.log):
                left.unlink(missing_ok=True)
            folder.job.write_bytes(self.job)
            log = folder.log.open("wb")
        except OSError as error:
            folder.remove()
            raise NoCallHost(f"the call host has no place: {error}") from error
        command = [sys.executable, "-m", f"{__package__}._serve", str(folder.path)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        try:
            with log:
                started = subprocess.run(
                    command,
                    env=environment,
                    start_new_session=True,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    timeout=STARTING,
                    check=False,
                )
        except OSError as error:
            folder.remove()
            raise _NoProcess(f"no call host can be started: {error}") from error
        except subprocess.TimeoutExpired:
            raise NoCallHost(f"the call host did not answer within {STARTING:g} s") from None
        found = folder.connection()
        if started.returncode or found is None:
            with folder.log.open("rb") as printed:
                said = one_line(_end_of(printed), 2_000)
            folder.remove()
            raise NoCallHost(f"the call host does not start: {said}")
        return found

    def close(self) -> None:
        """Leave the host; a host in this process ends."""
        if self._here is not None:
            self._here.close()
            self._here = None
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._log is not None:
            self._log.close()
            self._log = None


class _NoProcess(Exception):
    """This machine does not let this process start another one."""


class HostHere:
    """A call host in a thread of this process; the host and its calls end with the process."""

    def __init__(self, work: CarryWork, name: str) -> None:
        async def opened() -> CallHost:
            return work.host(name)

        self._loop = LoopThread(asyncio.new_event_loop)
        self._host = self._loop.ask(opened())

    def visit(self, visit: Visit) -> Mapping[Identity, Outcome]:
        return dict(self._loop.ask(self._host.visit(visit)))

    def close(self) -> None:
        try:
            self._loop.ask(self._host.aclose())
        finally:
            self._loop.stop()


def end_host(folder: HostFolder) -> None:
    """End the host in a folder, if there is one; SIGKILL ends a host that hangs."""
    with suppress(OSError, NoCallHost), folder.connection() or nullcontext() as made:
        if made is not None:
            made.settimeout(_ENDING)
            try:
                made.sendall(packed(None))
                made.recv(1)
            except TimeoutError:
                if process := process_of(made):  # 0 means a process of another container.
                    os.kill(process, signal.SIGKILL)


def _end_of(log: BinaryIO) -> str:
    log.seek(max(0, log.seek(0, os.SEEK_END) - 2_000))
    return log.read().decode(errors="replace")
