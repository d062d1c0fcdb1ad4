"""Runs in their author's own process: a watcher for events, and support for debuggers.

Stacks show the code of operator and author, without the suite, the loops and the command.

Nowhere else does that process run a backend's code: here it could fake any verdict, block for ever,
or end it; but its output comes out at once, and a debugger finds a terminal.

A debugger that the user leaves ends the process: its operator has not failed, nor has it passed.
"""

import asyncio
import gc
import os
import pdb  # noqa: T100 - patched, to see how the user leaves it
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from traceback import StackSummary, walk_stack
from types import AsyncGeneratorType, CoroutineType, FrameType, GeneratorType
from typing import Any

from asyncwait.conformance._commands._group import INTERRUPTED
from asyncwait.conformance.expected_failures import ExpectedFailures, expected_failures_of
from asyncwait.conformance.harness import line_of
from asyncwait.conformance.report import say
from asyncwait.conformance.running import Backend, Broken, checked, exec_name, load_backend
from asyncwait.conformance.timeline import HEAD, event_line
from asyncwait.spec import InvalidConfig
from asyncwait.spec.scenario import Capability, EndingKind, Event, Scenario, Trace

Place = tuple[FrameType, int]
"""A frame, and its present line."""

_NOT_THEIRS = (
    "__main__",
    "anyio",
    "asyncio",
    "asyncwait.conformance",
    "click",
    "contextlib",
    "rich",
    "runpy",
    "selectors",
    "threading",
    "trio",
)
"""Modules, with all below them, that are no part of an operator."""


def stack_lines(frame: FrameType | None = None) -> Iterator[str]:
    """Yield the stacks of all running and waiting tasks and threads, in the thread of a loop."""
    told = False
    for name, places in (*_tasks(), *_threads(frame)):
        theirs = [place for place in places if not _is_ours(place[0])]
        if theirs:
            told = True
            yield f"{name}:"
            for text in StackSummary.extract(theirs).format():
                yield from text.rstrip().splitlines()
    if not told:
        yield "no task and no thread is in the operator"


def _is_ours(frame: FrameType) -> bool:
    module = str(frame.f_globals.get("__name__", ""))
    return any(module == name or module.startswith(f"{name}.") for name in _NOT_THEIRS)


def _tasks() -> Iterator[tuple[str, Iterable[Place]]]:
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        yield from _tasks_on_trio()
        return
    for task in sorted(asyncio.all_tasks(loop), key=lambda each: each.get_name()):
        yield f"task {task.get_name()!r}", _awaited(task.get_coro())


def _tasks_on_trio() -> Iterator[tuple[str, Iterable[Place]]]:
    trio: Any = sys.modules.get("trio")
    if trio is None:
        return
    try:
        left = [trio.lowlevel.current_root_task()]
    except RuntimeError:  # trio does not run here
        return
    while left:
        task = left.pop()
        if task is not None:
            left += [child for nursery in task.child_nurseries for child in nursery.child_tasks]
            yield f"task {task.name!r}", task.iter_await_frames()


def _awaited(waiting: Any) -> Iterator[Place]:
    while waiting is not None:
        match waiting:
            case CoroutineType():
                frame, waiting = waiting.cr_frame, waiting.cr_await
            case GeneratorType():
                frame, waiting = waiting.gi_frame, waiting.gi_yieldfrom
            case AsyncGeneratorType():
                frame, waiting = waiting.ag_frame, waiting.ag_await
            case _:
                frame, waiting = None, _behind(waiting)
        if frame is not None:
            yield frame, frame.f_lineno


def _behind(waiting: object) -> object:
    kinds = (AsyncGeneratorType, CoroutineType, GeneratorType)
    if type(waiting).__module__ != "builtins":
        return None
    return next((each for each in gc.get_referents(waiting) if isinstance(each, kinds)), None)


def _threads(frame: FrameType | None) -> Iterator[tuple[str, Iterable[Place]]]:
    """Yield the stack of each thread; of this thread only if `frame` is its innermost frame."""
    frames = sys._current_frames()  # noqa: SLF001 - documented, for debuggers such as this
    here = threading.get_ident()
    for thread in threading.enumerate():
        at = frame if thread.ident == here else frames.get(thread.ident or 0)
        if at is not None:
            yield f"thread {thread.name!r}", reversed(list(walk_stack(at)))


class Here:
    """A backend in this process, with the interface of a served backend.

    Attributes:
        spec: the version of the specification that it claims; empty for the newest.
    """

    def __init__(self, name: str, backend: Backend) -> None:
        self.name = name
        self.spec: str = getattr(backend, "spec", "")
        self.capabilities: frozenset[Capability] = backend.capabilities
        self.expected_failures: ExpectedFailures = expected_failures_of(backend.expected_failures)
        self._backend = backend

    def play(self, scenarios: Sequence[Scenario]) -> Iterator[Trace | Broken]:
        """Play `scenarios`; yield for each its trace or a `Broken`."""
        for scenario in scenarios:
            try:
                (trace,) = self._backend.run([scenario])
            except Exception as error:
                yield Broken(f"the backend raised {line_of(error)}")
            else:
                yield checked(scenario, trace)


def open_here(name: str, *, folder: str) -> Here:
    """Return the backend of that name, in this process.

    Args:
        name: registered, or "module:callable".
        folder: another folder in which its module may be.

    Raises:
        UnknownBackend: the name is unknown, or it can't be loaded. The message says why.
        MissingExtra: it needs a package that is not installed.
        InvalidConfig: it is a program.
    """
    if name.startswith(exec_name("")):
        raise InvalidConfig(f"{name} is a program: see it with asyncwait play, in its own process")
    if folder not in sys.path:
        sys.path.append(folder)
    return Here(name, load_backend(name))


@contextmanager
def ended_by_debugger() -> Generator[None]:
    """End the process as soon as the user leaves a debugger in this block.

    Any error that leaves the debugger would pass for the error of a call.
    """

    def leave(*_: object) -> None:
        say("stopped by the debugger: no verdict", err=True)
        sys.stdout.flush()
        os._exit(INTERRUPTED)

    with ExitStack() as restored:
        for name in ("q", "quit", "exit", "EOF"):
            restored.callback(setattr, pdb.Pdb, f"do_{name}", getattr(pdb.Pdb, f"do_{name}"))
            setattr(pdb.Pdb, f"do_{name}", leave)
        yield


class Watcher:
    """Listens to the harness, and prints the events."""

    def __init__(self, say: Callable[[str], None], *, tells: bool) -> None:
        self.heard = 0
        self.is_interrupted = False
        self._say = say
        self._tells = tells
        self._scenario = Scenario()
        self._legs = 0
        self._is_overdue = False

    def begins(self, scenario: Scenario) -> None:
        """Note that a leg of `scenario` begins."""
        self._scenario = scenario
        self._legs += 1
        self._is_overdue = False
        if self._tells:
            if self._legs > 1:
                self._say(f"leg {self._legs}")
            self._say(HEAD)

    def hears(self, event: Event) -> None:
        """Print an event that has just happened."""
        self.heard += 1
        if self._tells:
            self._say(event_line(self._scenario, event))

    def overdue(self, how: EndingKind) -> None:
        """Print the stacks of an operator that does not finish."""
        if not self._is_overdue:
            self._is_overdue = True
            self._stands(f"{how}: it stands here", None)

    def _stands(self, head: str, frame: FrameType | None) -> None:
        self._say("\n".join([head, *stack_lines(frame)]))

    def _interrupt(self, _: int, frame: FrameType | None) -> None:
        if self.is_interrupted:
            os._exit(INTERRUPTED)  # Any other exit would wait for the operator.
        self.is_interrupted = True
        self._stands("interrupted: it stands here (press again to end at once)", frame)
        raise KeyboardInterrupt

    @contextmanager
    def interruptible(self) -> Generator[None]:
        """Make Ctrl-C print the stacks of the operator before it ends the run."""
        if threading.current_thread() is not threading.main_thread():
            yield  # Another thread handles signals.
            return
        before = signal.signal(signal.SIGINT, self._interrupt)
        try:
            yield
        except BaseException as error:
            if self.is_interrupted:  # A loop may have turned it into another error.
                raise KeyboardInterrupt from error
            raise
        finally:
            signal.signal(signal.SIGINT, before)
