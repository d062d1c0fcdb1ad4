"""What only the loop can tell an operator: the time, the way in, and whose an exception is.

Nothing is imported for it: whoever runs on trio, or cancels with anyio, has imported that.
"""

import asyncio
import math
import sys
from collections.abc import Iterator
from typing import Any

from asyncwait.spec.mailbox import Loop

_INTERRUPTIONS = (KeyboardInterrupt, SystemExit)


def running_loop() -> Loop:
    """Return the loop that runs the caller, be it asyncio's or trio's.

    Raises:
        RuntimeError: there is none.
    """
    trio = running_trio()
    if trio is not None:
        clock, token = trio.lowlevel.current_clock(), trio.lowlevel.current_trio_token()
        return Loop(clock.current_time, token.run_sync_soon, None)
    loop = asyncio.get_running_loop()
    return Loop(loop.time, loop.call_soon_threadsafe, loop.call_at)


def reraise_fatal(error: BaseException) -> None:
    """Return if `error` is an outcome; raise what is meant for the whole program, plainly.

    Raises:
        KeyboardInterrupt: it is one, or a group that holds one.
        SystemExit: the same. It is nobody's outcome either, wherever it is raised.
    """
    for leaf in _leaves(error):
        if isinstance(leaf, _INTERRUPTIONS):
            raise leaf


def is_own_cancellation(error: BaseException) -> bool:
    """Say whether `error` is a cancellation that a scope round the present task asks for.

    If user code has made it up, or it comes from a task that somebody else has cancelled, no such
    scope is cancelled, and it is an error like any other (FAIL-5). So it is outside of any task.
    """
    trio = running_trio()
    if trio is not None:
        cancelled, scopes = trio.Cancelled, trio
    else:
        cancelled, scopes = asyncio.CancelledError, sys.modules.get("anyio")
    if scopes is None or not isinstance(error, cancelled):
        return False
    if trio is None and asyncio.current_task() is None:
        return False
    return bool(scopes.current_effective_deadline() == -math.inf)


def plain_error(group: BaseExceptionGroup[Any]) -> BaseException:
    """Return what is to leave an operator whose tasks have raised `group`: a plain error.

    That is an error for the whole program if there is one, else the first. asyncio has let a
    KeyboardInterrupt or a SystemExit of a task out where the loop is run. Once more, it would end
    the loop amid its shutdown: there, the host of the operator is cancelled like all other tasks.
    """
    leaves = list(_leaves(group))
    for leaf in leaves:
        if isinstance(leaf, _INTERRUPTIONS):
            return asyncio.CancelledError() if running_trio() is None else leaf
    return leaves[0]


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def running_trio() -> Any:
    """Return trio if it runs the caller, else None."""
    trio = sys.modules.get("trio")
    return trio if trio is not None and trio.lowlevel.in_trio_run() else None
