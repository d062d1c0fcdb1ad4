"""Where a name comes from, as tracebacks, pickles and `help()` tell it: its public module."""

import functools
import sys
from types import FunctionType

_Cached = type(functools.cache(len))


def claim_exports(module: str) -> None:
    """Have each class and function of ours that `module` exports name it as its own module.

    Code lives in private modules; whoever reads `CallFailed` in a traceback looks for it where it
    is imported from. Where two public modules export a name the outer one claims last, and has it.
    Constants and type aliases don't say where they come from.

    The type of a Struct's field that is written as text is looked up in the module that the Struct
    names, so it may hold exported names only.

    Args:
        module: its `__name__`; it calls this at its end.
    """
    namespace = vars(sys.modules[module])
    for name in namespace["__all__"]:
        item = namespace[name]
        if isinstance(item, type | FunctionType | _Cached) and _may_claim(module, item.__module__):
            item.__module__ = module
            item.__qualname__ = name  # so that one which another function has made is found too


def _may_claim(module: str, home: str) -> bool:
    """Whether `home` is one of our private modules, or lies below `module`."""
    is_private = home.startswith("asyncwait.") and "._" in home
    return is_private or home.startswith(f"{module}.")


__all__ = ["claim_exports"]
