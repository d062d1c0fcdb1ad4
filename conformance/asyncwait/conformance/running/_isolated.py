"""Runs a backend in a child process, which can be ended from outside when it blocks or dies."""

import os
import selectors
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Self

import msgspec

from asyncwait.conformance.running._lines import Reply, Request
from asyncwait.spec.scenario import Ending, Leg, Outcome, Scenario, Trace

REAL_SECONDS = 10.0
"""How long one scenario may take on the real clock; on a virtual one it takes milliseconds."""

START_SECONDS = 30.0
"""How long a child may take to its first line: an interpreter starts, a backend is imported."""

AHEAD = 8
"""Scenarios sent before the first is answered: the child plays while the parent judges. They fit
into a pipe, so that neither ever waits for the other to read."""


class ChildPlayer:
    """Plays scenarios in a child process, and starts another one when it is gone.

    Args:
        command: starts a program that speaks the lines of `_lines`.
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

    The child finds the modules that this process finds, however it came to know their folders.
    """
    return [sys.executable, "-m", "asyncwait.conformance.running._child", reference, *sys.path]


def _read(line: bytes) -> Trace:
    try:
        reply = msgspec.json.decode(line, type=Reply)
    except msgspec.DecodeError as error:
        return _failed("error", f"the reply is no trace: {error}")
    if reply.trace is None:
        return _failed("error", reply.error or "the reply holds neither a trace nor an error")
    return reply.trace


def _failed(how: Outcome, detail: str) -> Trace:
    return Trace((Leg(Ending(how, detail=detail)),))


class _Child:
    """One child process and its pipes."""

    def __init__(self, command: Sequence[str]) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - kill() closes it
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests = self._process.stdin
        self._replies = self._process.stdout.fileno()
        self._buffer = b""
        self._has_spoken = False

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._errors.close()

    def send(self, scenario: Scenario) -> None:
        try:
            self._requests.write(msgspec.json.encode(Request(scenario)) + b"\n")
            self._requests.flush()
        except BrokenPipeError:
            pass  # It is dead; the next reply says so.

    def reply(self, real_seconds: float) -> bytes | Ending:
        """Return the next line, or how the child ended instead; empty lines only say: ready."""
        while True:
            patience = real_seconds if self._has_spoken else max(real_seconds, START_SECONDS)
            line = self._line(patience)
            self._has_spoken = True
            if line:
                return line

    def _line(self, real_seconds: float) -> bytes | Ending:
        with selectors.DefaultSelector() as selector:
            selector.register(self._replies, selectors.EVENT_READ)
            while b"\n" not in self._buffer:
                if not selector.select(real_seconds):
                    return Ending("blocked", detail=f"no answer for {real_seconds:g} s")
                data = os.read(self._replies, 1 << 16)
                if not data:
                    return self._death()
                self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _death(self) -> Ending:
        code = self._process.wait()
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").strip().splitlines()
        last = f": {said[-1]}" if said else ""
        return Ending("died", detail=f"exit code {code}{last}")
