"""Public modules as the home of exported names in tracebacks, pickles and `help()`."""

import functools
import sys
from types import FunctionType

_Cached = type(functools.cache(len))


def claim_exports(module: str) -> None:
    """Set `__module__` of each of our classes and functions that `module` exports to `module`.

    The code is in private modules, but the reader of a traceback looks for `CallFailed` in the
    module from which users import it. If two public modules export a name, the outer module claims
    it last, and has it. Constants and type aliases have no module.

    msgspec looks up a field's type that is written as text in the module that its Struct names, so
    such a text may contain exported names only.

    Args:
        module: `__name__` of the public module, which calls this function at its end.
    """
    namespace = vars(sys.modules[module])
    for name in namespace["__all__"]:
        item = namespace[name]
        if not isinstance(item, type | FunctionType | _Cached):
            continue
        home = item.__module__
        is_private = home.startswith("asyncwait.") and "._" in home
        if is_private or home.startswith(f"{module}."):
            item.__module__ = module
            item.__qualname__ = name  # pickle also finds a function that was made in a function


__all__ = ["claim_exports"]
