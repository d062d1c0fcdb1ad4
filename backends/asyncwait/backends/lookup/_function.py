"""Any async function of a list of keys as a table."""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from asyncwait.backends.lookup._table import Answers
from asyncwait.spec import InvalidConfig
from asyncwait.spec.texts import shown
from asyncwait.toolkit import run_hook


class FunctionTable:
    """A table that is a function.

    Args:
        fn: an async function that is given a list of keys, and returns a mapping from key to rows;
            see `Table.get_many`. It may have `open()` and `close()`, async or not.

    Raises:
        InvalidConfig: `fn` is none.
    """

    def __init__(self, fn: Callable[[Sequence[Any]], Awaitable[Answers]]) -> None:
        if isinstance(fn, type) or not callable(fn):
            raise InvalidConfig.of("fn", fn, "an async function of a list of keys")
        self._fn = fn

    async def open(self) -> None:
        """Run the function's own `open`, if it has that."""
        await run_hook(getattr(self._fn, "open", None))

    async def close(self) -> None:
        """Run the function's own `close`, if it has that."""
        await run_hook(getattr(self._fn, "close", None))

    async def get_many(self, keys: Sequence[Any]) -> Answers:
        """Call the function.

        Raises:
            TypeError: it is not async.
        """
        returned = self._fn(keys)
        if not inspect.isawaitable(returned):
            raise TypeError(
                f"expected an awaitable from fn, got {shown(returned)}; is it an `async def`?"
            )
        return await returned
