"""Which context variables the user's functions see, and who sees what they set.

Nobody but a call itself sees what it sets, and everybody sees what was set when the operator was
opened. A call in coroutine form that has a task of its own is so by itself; all that an operator
runs in tasks of *its* own, it runs in a copy of that context.
"""

from collections.abc import Callable
from contextvars import Context, copy_context
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_WITHOUT_CODE = (list, tuple)
"""To read one of these runs nothing that could set a variable."""


def isolated(function: Callable[P, T], context: Context) -> Callable[P, T]:
    """Return a function that runs `function`, each time in a fresh copy of `context`."""

    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return context.copy().run(function, *args, **kwargs)

    return run


def supplied(supplier: Callable[[], T]) -> T:
    """Return what `supplier` gives; what it sets meanwhile is seen by nobody."""
    return copy_context().run(supplier)


def read_whole(collection: Any) -> tuple[Any, ...]:
    """Return what is in `collection`; what that sets while it is read is seen by nobody."""
    if type(collection) in _WITHOUT_CODE:
        return tuple(collection)
    return copy_context().run(tuple, collection)
