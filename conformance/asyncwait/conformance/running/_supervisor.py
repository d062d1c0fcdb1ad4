"""Supervises one child process, so that no process that it starts outlives the command.

    python -IS _supervisor.py CONTROL FOLDER MEMORY COMMAND...

This is a separate program, between the command and the child. It runs until the child ends, until
the other end of the pipe CONTROL is closed, its parent is gone, a signal asks it to end, or too
many processes run below it. Then it kills all processes below it, removes FOLDER,
and ends as the child did.

On Linux orphans become children of the supervisor (it is their subreaper), even in sessions of
their own, and the child dies with the supervisor. On other systems the supervisor
does not find a process that leaves the session of the child. On no system does it find a process
that a daemon starts on request.

It needs the standard library alone and runs none of the child's code.
"""

import ctypes
import os
import resource
import select
import shutil
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

LOOK_EVERY = 0.1  # seconds between two checks for a missing parent, or too many processes
MOST_PROCESSES = 256  # below a supervisor
SWEEP_WITHIN = 5.0  # seconds

_SWARMED = -1  # the result in place of a child's status: too many processes
_SWARMED_CODE = 125
_DIE_WITH_PARENT, _ADOPT_ORPHANS = 1, 36  # PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER
_ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
# Python ignores the first two, and shells make background processes ignore the others.
_MAYBE_IGNORED = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGQUIT)


def main(control: int, folder: str, memory: int, command: list[str]) -> NoReturn:
    """Supervise the child that `command` starts; see above.

    Args:
        control: file descriptor.
        folder: removed at the end.
        memory: bytes of data that each process below may have; 0 for no limit.
        command: program and arguments.
    """
    parent = os.getppid()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _prctl(_ADOPT_ORPHANS, 1)
    os.set_inheritable(control, False)
    woken = _wake_on_signals()
    supervisor = os.getpid()
    child = os.fork()
    if child == 0:
        _become(command, memory, supervisor)
    words = _let_go()
    status = _outlast(child, control, woken, parent)
    _sweep(child)
    shutil.rmtree(folder, ignore_errors=True)
    if status == _SWARMED:
        _say(words, f"it started more than {MOST_PROCESSES} processes")
    _end_like(status)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, *map(ctypes.c_ulong, (value, 0, 0, 0)))


KNOWS_PROCESSES = sys.platform == "linux" and os.path.exists("/proc/self/stat")  # noqa: PTH110 - faster start

# Each supervisor checks its child ten times a second. To read all processes of a machine
# takes milliseconds; to read only the processes below takes 0.1 ms, if the kernel lists children.
_KNOWS_CHILDREN = os.path.exists("/proc/thread-self/children")  # noqa: PTH110 - faster start

_asked: list[int] = []


def _wake_on_signals() -> int:
    woken, alarm = os.pipe()
    os.set_blocking(woken, False)
    os.set_blocking(alarm, False)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for ending in _ENDING:
        signal.signal(ending, lambda number, _: _asked.append(number))
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(alarm, warn_on_full_buffer=False)
    return woken


def _become(command: list[str], memory: int, supervisor: int) -> NoReturn:
    try:
        os.setsid()
        for number in _MAYBE_IGNORED:
            signal.signal(number, signal.SIG_DFL)
        if memory:
            _limit(memory)
        _prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        if os.getppid() == supervisor:
            os.execvp(command[0], command)  # noqa: S606 - no shell is wanted
    except OSError as error:
        os.write(2, f"{command[0]} can't be started: {error.strerror}\n".encode())
    os._exit(126)


def _limit(memory: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY:
        memory = min(memory, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (memory, hard))


def _let_go() -> int:
    """Close the child's pipes, so that their readers see its end; return a copy of stderr."""
    words = os.dup(2)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    return words


def _say(words: int, text: str) -> None:
    os.set_blocking(words, False)
    with suppress(OSError):
        os.write(words, f"{text}\n".encode())


def _outlast(child: int, control: int, woken: int, parent: int) -> int:
    """Wait until it is time to end; return the status of the child, 0 if it runs on."""
    while True:
        ready, _, _ = select.select([control, woken], [], [], LOOK_EVERY)
        if woken in ready:
            os.read(woken, 512)
        status, _ = _reap(child)
        if status is not None:
            return status
        if control in ready or _asked or os.getppid() != parent:
            return 0
        if KNOWS_PROCESSES and len(below(os.getpid())) > MOST_PROCESSES:
            return _SWARMED


def _reap(child: int) -> tuple[int | None, bool]:
    """Reap dead processes; return the status of `child` if dead, and whether any process lives."""
    found = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found, False
        if pid == 0:
            return found, True
        if pid == child:
            found = status


def _sweep(child: int) -> None:
    """Kill everything below, however often it forks meanwhile: a killed process forks no more."""
    pause = 0.001
    give_up = time.monotonic() + SWEEP_WITHIN
    while time.monotonic() < give_up:
        for pid in below(os.getpid()) if KNOWS_PROCESSES else (-child,):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        _, any_left = _reap(child)
        if not any_left:
            return
        time.sleep(pause)
        pause = min(2 * pause, 0.05)


def below(top: int) -> list[int]:
    """Return the processes below `top`."""
    children_of = _children if _KNOWS_CHILDREN else _children_of_all()
    found = [top]
    for pid in found:
        found.extend(children_of(pid))
    return found[1:]


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - faster start
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:  # noqa: PTH123 - faster start
                found.extend(map(int, file.read().split()))
    return found


def _children_of_all() -> Callable[[int], list[int]]:
    """Read all processes; return a function that gives the children of a process."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - without pathlib: half the start time
        with suppress(OSError, ValueError, IndexError):
            with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123 - faster start
                fields = file.read().rpartition(b")")[2].split()
            children.setdefault(int(fields[1]), []).append(int(name))
    return lambda pid: children.get(pid, [])


def _end_like(status: int) -> NoReturn:
    if status == _SWARMED:
        os._exit(_SWARMED_CODE)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        with suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4:])
