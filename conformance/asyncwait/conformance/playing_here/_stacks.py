"""Where an operator stands: the stacks of the tasks on the loop, and of all threads.

Of the suite, the loops and the command nothing is shown: what is left is the operator's, and its
author's.
"""

import asyncio
import gc
import sys
import threading
from collections.abc import Iterable, Iterator
from traceback import StackSummary, walk_stack
from types import AsyncGeneratorType, CoroutineType, FrameType, GeneratorType
from typing import Any

Place = tuple[FrameType, int]
"""A frame, and the line at which it stands."""

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
    """Yield lines on where everything stands that runs or waits, in the thread of a loop.

    Args:
        frame: where this thread stands; None if that is plain.
    """
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
    """Yield the tasks on the loop of this thread, and where each waits."""
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
    except RuntimeError:  # It does not run here.
        return
    while left:
        task = left.pop()
        if task is not None:
            left += [child for nursery in task.child_nurseries for child in nursery.child_tasks]
            yield f"task {task.name!r}", task.iter_await_frames()


def _awaited(waiting: Any) -> Iterator[Place]:
    """Yield where a coroutine stands, then what it awaits, to the innermost."""
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
    """Return what a step of an async generator, or of an object that is awaited, steps through."""
    kinds = (AsyncGeneratorType, CoroutineType, GeneratorType)
    if type(waiting).__module__ != "builtins":
        return None
    return next((each for each in gc.get_referents(waiting) if isinstance(each, kinds)), None)


def _threads(frame: FrameType | None) -> Iterator[tuple[str, Iterable[Place]]]:
    """Yield where each thread stands; this one only if `frame` says where."""
    frames = sys._current_frames()  # noqa: SLF001 - documented, for debuggers such as this
    here = threading.get_ident()
    for thread in threading.enumerate():
        at = frame if thread.ident == here else frames.get(thread.ident or 0)
        if at is not None:
            yield f"thread {thread.name!r}", reversed(list(walk_stack(at)))
