"""How many bytes an operator holds: what can be reached from it, without the harness round it."""

import gc
import sys
from asyncio import AbstractEventLoop
from types import (
    AsyncGeneratorType,
    BuiltinFunctionType,
    CodeType,
    CoroutineType,
    FunctionType,
    ModuleType,
)
from typing import Any

_APART = (type, ModuleType, CodeType, BuiltinFunctionType, AbstractEventLoop)
"""What is there once for all, or leads to everybody."""

_RUNNERS = {"Runner", "GuestState"}
"""Trio's own, that lead to everybody; by name, as it need not be there."""


def footprint(operator: Any) -> int:
    """Return the bytes of all objects that `operator` leads to, its tasks and closures included.

    Values count as little as a number does: they are another matter, see `Tracker`. What a module
    or a class holds is not seen.
    """
    seen, waiting, total = {id(operator)}, [operator], 0
    while waiting:
        present = waiting.pop()
        total += sys.getsizeof(present)
        for other in _parts(present):
            if id(other) not in seen and not _is_apart(other):
                seen.add(id(other))
                waiting.append(other)
    return total


def _parts(present: Any) -> list[Any]:
    if type(present) is FunctionType:  # but not the module that it is of
        return [present.__closure__, present.__defaults__, present.__kwdefaults__, vars(present)]
    return gc.get_referents(present)


def _is_apart(other: Any) -> bool:
    kind, code = type(other), None
    if isinstance(other, CoroutineType):  # Who asks any object for an attribute runs its code.
        code = other.cr_code
    elif isinstance(other, AsyncGeneratorType):
        code = other.ag_code
    return (
        issubclass(kind, _APART)
        or str(kind.__module__).startswith("asyncwait.conformance")
        or kind.__name__ in _RUNNERS
        or (code is not None and "/conformance/harness/" in code.co_filename.replace("\\", "/"))
    )
