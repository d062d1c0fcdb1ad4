"""Runs a backend in a child process, which can be ended from outside when it blocks or dies."""

import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Self

import msgspec

from asyncwait.spec import InvalidConfig
from asyncwait.spec.scenario import (
    LIMITS,
    Ending,
    EndingKind,
    Leg,
    Request,
    Scenario,
    Trace,
    reply_from_json,
)

REAL_SECONDS = 10.0
"""How long one scenario may take on the real clock; on a virtual one it takes milliseconds."""

START_SECONDS = 30.0
"""How long a child may take to its first line: an interpreter starts, a backend is imported."""

END_SECONDS = 5.0
"""How long a child may take to its end when it has closed its output, or was killed."""

AHEAD = 8
"""Scenarios sent before the first is answered: the child plays while the parent judges."""

LONGEST_LINE = LIMITS.bytes
"""A child that goes on and on without an end of line is ended."""

_LAST_WORDS = 4096  # bytes
_AT_ONCE = 1 << 16  # bytes


class ChildPlayer:
    """Plays scenarios in a child process, and starts another one when it is gone.

    Args:
        command: starts a program that speaks JSON lines; see `asyncwait.spec.scenario`.
        real_seconds: patience with one scenario; after it the child is killed.
        self_reported: the traces are the program's own words.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        real_seconds: float = REAL_SECONDS,
        self_reported: bool = False,
    ) -> None:
        self._command = command
        self._real_seconds = real_seconds
        self._self_reported = self_reported
        self._child: _Child | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._drop_child()

    def play(self, scenarios: Iterable[Scenario]) -> Iterator[Trace]:
        """Play `scenarios`; give one trace for each, in order, as they come."""
        waiting = deque(scenarios)
        while waiting:
            yield from self._play_until_death(waiting)

    def _play_until_death(self, waiting: deque[Scenario]) -> Iterator[Trace]:
        """Take scenarios from `waiting` until none is left or the child is gone."""
        self._child = child = self._child or _Child(self._command)
        sent = 0
        while waiting:
            while sent < min(AHEAD, len(waiting)):
                child.send(waiting[sent])
                sent += 1
            line = child.reply(self._real_seconds)
            waiting.popleft()
            sent -= 1
            if isinstance(line, Ending):
                self._drop_child()
                yield Trace((Leg(line),))
                return
            trace = _read(line)
            yield Trace(trace.legs, self_reported=True) if self._self_reported else trace

    def _drop_child(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child = None


def python_child(reference: str) -> list[str]:
    """Return the command that serves the backend `reference` names.

    The child finds the modules that this process finds, however it came to know their folders; the
    present folder stands where it does here, and not in front.
    """
    return [
        sys.executable,
        "-P",
        "-m",
        "asyncwait.conformance.running._child",
        reference,
        *sys.path,
    ]


def _read(line: bytes) -> Trace:
    try:
        reply = reply_from_json(line)
    except InvalidConfig as error:
        return _failed("error", str(error))
    if reply.trace is None:
        return _failed("error", reply.error or "the reply holds neither a trace nor an error")
    return reply.trace


def _failed(how: EndingKind, detail: str) -> Trace:
    return Trace((Leg(Ending(how, detail=detail)),))


class _Child:
    """One child process and its pipes.

    Neither side ever waits for the other to read: what does not fit into the pipe to the child is
    written while its answers are read. The child leads a session of its own, so that whatever it
    has started can be ended with it.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - kill() closes it
        self._process = subprocess.Popen(
            command,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests = self._process.stdin
        self._replies = self._process.stdout
        os.set_blocking(self._requests.fileno(), False)
        self._unsent = bytearray()
        self._received = bytearray()
        self._has_spoken = False

    def kill(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._requests.close()
        self._replies.close()
        self._errors.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(END_SECONDS)

    def send(self, scenario: Scenario) -> None:
        self._unsent += msgspec.json.encode(Request(scenario)) + b"\n"
        self._write()

    def _write(self) -> None:
        """Write as much as the pipe takes now."""
        try:
            while self._unsent:
                del self._unsent[: os.write(self._requests.fileno(), self._unsent[:_AT_ONCE])]
        except BlockingIOError:
            pass  # It is full; `_exchange` goes on.
        except BrokenPipeError:
            self._unsent.clear()  # It is dead; the next reply says so.

    def reply(self, real_seconds: float) -> bytes | Ending:
        """Return the next line, or how the child ended instead; empty lines only say: ready.

        All of the line has to be there in time, whatever else comes meanwhile.
        """
        patience = real_seconds if self._has_spoken else max(real_seconds, START_SECONDS)
        deadline = time.monotonic() + patience
        searched = 0
        while True:
            end = self._received.find(b"\n", searched)
            if end < 0:
                searched = len(self._received)
                if searched > LONGEST_LINE:
                    return Ending("error", detail=f"a line of more than {LONGEST_LINE} bytes")
                data = self._receive(deadline)
                if data is None:
                    return Ending("blocked", detail=f"no answer for {patience:g} s")
                if not data:
                    return self._death()
                self._received += data
                continue
            line = bytes(self._received[:end])
            del self._received[: end + 1]
            searched = 0
            if not self._has_spoken:
                self._has_spoken = True
                patience = real_seconds
                deadline = time.monotonic() + patience
            if line.strip():
                return line

    def _receive(self, deadline: float) -> bytes | None:
        """Return what comes next, empty at the end, or None when the time is over.

        What is unsent is written meanwhile.
        """
        with selectors.DefaultSelector() as selector:
            selector.register(self._replies, selectors.EVENT_READ)
            if self._unsent:
                selector.register(self._requests, selectors.EVENT_WRITE)
            while (left := deadline - time.monotonic()) > 0:
                ready = {key.fileobj for key, _ in selector.select(left)}
                if self._replies in ready:
                    return os.read(self._replies.fileno(), _AT_ONCE)
                if self._requests in ready:
                    self._write()
                    if not self._unsent:
                        selector.unregister(self._requests)
        return None

    def _death(self) -> Ending:
        try:
            code = f"exit code {self._process.wait(END_SECONDS)}"
        except subprocess.TimeoutExpired:
            code = "it closed its output and went on"
        self._errors.seek(max(0, self._errors.seek(0, os.SEEK_END) - _LAST_WORDS))
        said = self._errors.read().decode(errors="replace").strip().splitlines()
        last = f": {said[-1]}" if said else ""
        return Ending("died", detail=f"{code}{last}")
