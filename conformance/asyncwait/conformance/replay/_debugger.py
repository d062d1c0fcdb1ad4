"""A debugger that somebody leaves ends the run: its operator has not failed, nor has it passed."""

import bdb
import pdb  # noqa: T100 - it is asked how it is left
import sys
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from typing import Any

_WAYS = ((bdb.Bdb, "set_quit"), *((pdb.Pdb, f"do_{name}") for name in ("q", "quit", "exit")))
"""What is called of a debugger by which it is left; end of input comes to one of these, too."""


class DebuggerLeft(SystemExit):
    """Somebody has left the debugger.

    It passes through loops and operators, which take any other error, that of the debugger itself
    among them, for one of a call.
    """


@contextmanager
def ended_by_debugger() -> Generator[None]:
    """Have whoever leaves a debugger in this block leave the block.

    Raises:
        DebuggerLeft: somebody did, whatever the operator has made of that.
    """
    left: list[DebuggerLeft] = []

    def leave(*_: object) -> None:
        sys.settrace(None)
        sys.breakpointhook = lambda *_, **__: None  # What is left may clean up undisturbed.
        left.append(DebuggerLeft())
        raise left[0]

    with ExitStack() as restored:
        restored.callback(setattr, sys, "breakpointhook", sys.breakpointhook)
        for debugger, name in _WAYS:
            _replace(debugger, name, leave, restored)
        try:
            yield
        except BaseException as error:
            if left:
                raise left[0] from error
            raise
    if left:
        raise left[0]


def _replace(owner: Any, name: str, by: Callable[..., None], restored: ExitStack) -> None:
    restored.callback(setattr, owner, name, getattr(owner, name))
    setattr(owner, name, by)
