"""A child process and all that it starts: read without waiting, ended without remains."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Protocol

import pytest
from remains import carrying, linux, wait_until_gone

from asyncwait.conformance.running import ChildProcess

SECONDS = 30.0
"""Only a broken test waits so long."""


def python(code: str) -> list[str]:
    return [sys.executable, "-u", "-c", f"import os, signal, subprocess, sys, time\n{code}"]


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    mark = f"{request.node.name}-{os.getpid()}"
    monkeypatch.setenv("TEST_MARK", mark)
    return f"TEST_MARK={mark}"


class Start(Protocol):
    def __call__(self, command: Sequence[str], *, memory: int = 0) -> ChildProcess: ...


@pytest.fixture
def start() -> Iterator[Start]:
    with ExitStack() as started:
        yield lambda *args, **kwargs: started.enter_context(ChildProcess(*args, **kwargs))


def lines_of(child: ChildProcess) -> Iterator[bytes]:
    while True:
        try:
            yield child.wait_for_line(SECONDS)
        except EOFError:
            return


HIDES = """
is_hidden, hides = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(hides, b"x")
        time.sleep(600)
    os._exit(0)
os.wait()
os.read(is_hidden, 1)
print("hidden", flush=True)
"""

WAYS = {
    "an orphan in a session of its own": HIDES,
    "signals ignored": "[signal.signal(n, signal.SIG_IGN) for n in (1, 2, 3, 15)]; " + "print()",
    "stopped": "print(); os.kill(os.getpid(), signal.SIGSTOP)",
    "many": "[os.fork() for _ in range(4)]; print()",
}


@linux
@pytest.mark.parametrize("ends", ["it is killed", "it ends by itself"])
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_nothing_that_a_child_has_started_survives_it(
    mark: str, way: str, ends: str, start: Start
) -> None:
    alone = way == WAYS["stopped"]
    last = "time.sleep(600)" if alone or ends == "it is killed" else "os._exit(7)"
    child = start(python(f"{way}\n{last}"))
    child.wait_for_line(SECONDS)
    if last == "os._exit(7)":
        assert child.wait_for_end(SECONDS) == "exit code 7"
    assert carrying(mark) or last == "os._exit(7)"

    child.kill()

    assert carrying(mark) == []


@linux
def test_a_child_that_kills_its_supervisor_hides_nothing(mark: str, start: Start) -> None:
    child = start(python(f"{HIDES}\nos.kill(os.getppid(), 9)\ntime.sleep(600)"))
    assert child.wait_for_line(SECONDS) == b"hidden"
    child._process.wait(SECONDS)

    child.kill()

    wait_until_gone(mark)


def test_the_memory_of_a_child_is_bounded(start: Start) -> None:
    hog = "print(1)\ntry:\n    b'x' * (1 << 30)\nexcept MemoryError:\n    print('no')"
    child = start(python(hog), memory=256 << 20)

    assert [*lines_of(child)] == [b"1", b"no"]


@linux
def test_a_child_that_swarms_is_ended(mark: str, start: Start) -> None:
    # The first process alone forks: it takes a while until a machine without a supervisor is full.
    child = start(python("while True: os.fork() or time.sleep(600)"))

    assert [*lines_of(child)] == []
    assert child.obituary() == "exit code 125: it started more than 256 processes"
    assert carrying(mark) == []
