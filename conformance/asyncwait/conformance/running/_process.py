"""The parent's side of a child process: three pipes, and a supervisor that ends its tree."""

import os
import secrets
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from asyncwait.spec.checks import require_posix
from asyncwait.spec.scenario import LIMITS
from asyncwait.spec.texts import counted, one_line

MARK = "ASYNCWAIT_CHILD"
"""Environment variable that the suite sets in each child: a secret word of that child."""

END_SECONDS = 2.0
"""Seconds for a child to end after it has closed its output."""

KILL_SECONDS = 10.0
"""Seconds for a supervisor to end all processes below it."""

LONGEST_LINE = LIMITS.bytes
"""Longest line of a child, in bytes; a child with a longer line is ended."""

LAST_WORDS = 1 << 14
"""Bytes kept from the end of a child's output for each scenario."""

LONGEST_LAST = 1_000
"""Most characters of a child's last line in a message."""

_SUPERVISOR = str(Path(__file__).with_name("_supervisor.py"))
_AT_ONCE = 1 << 16  # bytes
_DRAINED_AT_ONCE = 1 << 20  # bytes; so a child that prints faster than we read does not block us
_MOST_SCENARIOS = 100_000  # most scenarios whose output waits for `take`


class LineTooLong(Exception):
    """The child's line is longer than `LONGEST_LINE`."""


class ChildProcess:
    """A process that reads and writes lines.

    Neither side ever waits for the other to read: a request that does not fit into the pipe to the
    child is written while its answers are read. The parent also reads the child's standard error,
    and keeps the end of it.

    Args:
        memory: bytes of data that each of its processes may have; 0 for no limit.

    Raises:
        NeedsPosix: this is Windows.
    """

    def __init__(self, command: Sequence[str], memory: int = 0) -> None:
        require_posix("a backend that plays in a process of its own")
        self._word = secrets.token_hex(8)
        self.folder = Path(tempfile.mkdtemp(prefix="asyncwait-"))
        """The folder of its temporary files."""
        heard, self._control = _pipe()
        program = [sys.executable, "-IS", _SUPERVISOR, str(heard), str(self.folder), str(memory)]
        try:
            self._process = subprocess.Popen(
                [*program, *command],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # Files that it leaves in the folder of temporary files are removed with the folder.
                env={**os.environ, MARK: self._word, "TMPDIR": str(self.folder)},
                pass_fds=(heard,),
                start_new_session=True,
            )
        except BaseException:
            os.close(self._control)
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        finally:
            os.close(heard)
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._requests, self._replies, self._errors = process.stdin, process.stdout, process.stderr
        for pipe in (self._requests, self._replies, self._errors):
            os.set_blocking(pipe.fileno(), False)
        self.words = Words(mark_of(self._word))
        self.is_mute = False
        """Whether the child has closed its output, by ending or otherwise."""
        self._unsent = bytearray()
        self._received = bytearray()
        self._searched = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def send(self, line: bytes) -> None:
        """Send `line`: as much as the pipe takes now; `attend` writes the rest."""
        self._unsent += line
        self._write()

    def watch(self, by: "select.poll") -> None:
        """Register every pipe that `attend` would read or write."""
        if not self.is_mute:
            by.register(self._replies, select.POLLIN)
        if not self._errors.closed:
            by.register(self._errors, select.POLLIN)
        if self._unsent:
            by.register(self._requests, select.POLLOUT)

    def attend(self) -> None:
        """Read and write what can be read and written without waiting."""
        self._write()
        while not self.is_mute and (data := _read(self._replies.fileno())) is not None:
            self._received += data
            self.is_mute = not data
            if len(self._received) > LONGEST_LINE + _AT_ONCE:
                break
        # Only after the replies: all output from before a reply has arrived with it.
        self._drain()

    def _write(self) -> None:
        try:
            while self._unsent:
                del self._unsent[: os.write(self._requests.fileno(), self._unsent[:_AT_ONCE])]
        except BlockingIOError:
            pass  # The pipe is full; `attend` goes on.
        except OSError:
            self._unsent.clear()  # The child is dead; the end of its output reports that.

    def _drain(self) -> None:
        drained = 0
        while not self._errors.closed and drained < _DRAINED_AT_ONCE:
            data = _read(self._errors.fileno())
            if data is None:
                return
            if not data:
                self._errors.close()
            drained += len(data)
            self.words.add(data)

    def line(self) -> bytes | None:
        """Return the next line without its newline; None until the line is complete.

        Raises:
            LineTooLong: the line exceeds `LONGEST_LINE`.
        """
        end = self._received.find(b"\n", self._searched)
        if end < 0:
            self._searched = len(self._received)
            if self._searched > LONGEST_LINE:
                raise LineTooLong(f"a line of more than {LONGEST_LINE} bytes")
            return None
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        self._searched = 0
        return line

    def wait_for_line(self, seconds: float) -> bytes:
        """Return the next line.

        Raises:
            TimeoutError: it does not come within `seconds`.
            EOFError: no more lines come.
        """
        give_up = time.monotonic() + seconds
        while (line := self.line()) is None:
            left = give_up - time.monotonic()
            if self.is_mute:
                raise EOFError(self.obituary())
            if left <= 0:
                raise TimeoutError(f"no answer for {seconds:g} s")
            self._wait(left)
        return line

    def _wait(self, seconds: float) -> None:
        by = select.poll()
        self.watch(by)
        by.poll(seconds * 1000)
        self.attend()

    @property
    def starved(self) -> float:
        """Seconds for which the child waited for a processor; 0 if unknown."""
        from asyncwait.conformance.running._supervisor import KNOWS_PROCESSES, below

        pids = below(self._process.pid) if KNOWS_PROCESSES else ()
        return max(map(_starved, pids), default=0.0)

    def wait_for_end(self, seconds: float) -> str:
        """Say how the child ended, or that it did not within `seconds`; drop its lines."""
        give_up = time.monotonic() + seconds
        while (left := give_up - time.monotonic()) > 0:
            if self.is_mute and self._errors.closed:
                with suppress(subprocess.TimeoutExpired):
                    return _ended(self._process.wait(left))
                break
            self._wait(left)
            self._received.clear()
        return "it closed its output and went on"

    def obituary(self) -> str:
        """Say how the child ended, with its last line, once it has closed its output."""
        how = self.wait_for_end(END_SECONDS)
        last = one_line(self.words.last_line, LONGEST_LAST)
        return f"{how}: {last}" if last else how

    def doom(self) -> None:
        """Make the supervisor end the child; do not wait for the end."""
        if self._control >= 0:
            os.close(self._control)
            self._control = -1
            with suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGCONT)  # if the child has stopped it

    def kill(self) -> None:
        """End the child and all processes below it, and remove its files. May be called again."""
        self.doom()
        for pipe in (self._requests, self._replies, self._errors):
            pipe.close()
        try:
            self._process.wait(KILL_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.returncode < 0:
            _kill_marked(self._word)  # The supervisor itself may have been killed.
        shutil.rmtree(self.folder, ignore_errors=True)


def _pipe() -> tuple[int, int]:
    """Return a pipe whose ends never take the number of a closed standard stream."""
    import fcntl

    ends = os.pipe()
    moved = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 3) for end in ends]
    for end in ends:
        os.close(end)
    return moved[0], moved[1]


def _read(pipe: int) -> bytes | None:
    try:
        return os.read(pipe, _AT_ONCE)
    except BlockingIOError:
        return None


def _starved(pid: int) -> float:
    """Return the longest wait of any thread for a processor, in seconds."""
    waited = [0]
    for file in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with suppress(OSError, ValueError, IndexError):
            waited.append(int(file.read_text(encoding="ascii").split()[1]))
    return max(waited) / 1e9


def _ended(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"ended by signal {-code}"


def _kill_marked(word: str) -> None:
    mark = f"{MARK}={word}".encode()
    processes = Path("/proc")
    for folder in processes.glob("[0-9]*") if processes.is_dir() else ():
        with suppress(OSError):
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                os.kill(int(folder.name), signal.SIGKILL)


def mark_of(word: str) -> bytes:
    """Return the bytes that a child with this word prints between two scenarios."""
    return f"\0{word}\0".encode()


class Words:
    """The end of a child's output, scenario by scenario."""

    def __init__(self, mark: bytes) -> None:
        self._mark = mark
        self._whole: deque[_Tail] = deque(maxlen=_MOST_SCENARIOS)
        self._open = _Tail()

    def add(self, data: bytes) -> None:
        """Add output of the child."""
        # The mark may have come in two parts.
        *whole, rest = (self._open.take_end(len(self._mark) - 1) + data).split(self._mark)
        for part in whole:
            self._open.add(part)
            self._whole.append(self._open)
            self._open = _Tail()
        self._open.add(rest)

    def take(self) -> str:
        """Return the output of the next scenario: up to its mark, or all output so far."""
        if self._whole:
            return self._whole.popleft().text
        taken, self._open = self._open, _Tail()
        return taken.text

    @property
    def last_line(self) -> str:
        """The last line of the remaining output that is not empty."""
        for tail in (self._open, *reversed(self._whole)):
            for line in reversed(tail.text.split("\n")):
                if said := line.strip():
                    return said
        return ""


class _Tail:
    """The end of a text of any length."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self._lost = 0

    def add(self, data: bytes) -> None:
        self._kept += data
        too_many = len(self._kept) - LAST_WORDS
        if too_many > 0:
            del self._kept[:too_many]
            self._lost += too_many

    def take_end(self, count: int) -> bytes:
        end = bytes(self._kept[-count:])
        del self._kept[-count:]
        return end

    @property
    def text(self) -> str:
        said = self._kept.decode(errors="replace").strip("\n")
        return f"({counted(self._lost, 'byte')} before)\n{said}" if self._lost else said
