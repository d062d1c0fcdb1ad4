"""Any async function of a list of keys as a table."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from asyncwait.backends.lookup._table import Answers
from asyncwait.spec import InvalidConfig
from asyncwait.toolkit import awaited, require_kind, run_hook, settled


class FunctionTable:
    """A table that is a function.

    Args:
        fn: an async function that is given a list of keys, and returns a mapping from key to rows;
            see `Table.get_many`. It may have `open()` and `close()`, async or not.

    Raises:
        InvalidConfig: `fn` is none, or has a `yield`.
    """

    def __init__(self, fn: Callable[[Sequence[Any]], Awaitable[Answers]]) -> None:
        if isinstance(fn, type) or not callable(fn):
            raise InvalidConfig.of("fn", fn, "an async function of a list of keys")
        require_kind(fn, blocks=False, many=False, batched=True)
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
            WrongFunction: it is not async, or gives unfinished work.
        """
        return settled("fn", await awaited(self._fn(keys)))  # type: ignore[no-any-return]
