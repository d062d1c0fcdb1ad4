"""Which record of a key is called, and which ones wait until it is decided."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from asyncwait.toolkit import ByKey

if TYPE_CHECKING:
    from asyncwait.reference._handler import ResultHandler


class KeyLines:
    """A line of records for each key that is busy; its first has been called (KEY-1, KEY-4).

    A key without a record in flight has no line, so that nothing is left of it (KEY-13).
    """

    def __init__(self) -> None:
        self.lines: ByKey[deque[ResultHandler]] = ByKey()

    def key_of(self, handler: ResultHandler) -> Any:
        """Return the key of a record."""
        return handler.record.key

    def enter(self, handler: ResultHandler) -> bool:
        """Put a record at the end of the line of its key; say whether it is its turn at once."""
        line = self.lines.get(self.key_of(handler))
        handler.line = deque() if line is None else line
        handler.line.append(handler)
        if line is None:
            self.lines.put(self.key_of(handler), handler.line)
        return line is None

    def leave(self, handler: ResultHandler) -> ResultHandler | None:
        """Take a decided record from the head of its line; return whose turn it is (KEY-5).

        The line is not looked for again: the key may have changed.
        """
        line, handler.line = handler.line, None
        assert line is not None
        line.popleft()
        if line:
            return line[0]
        self.lines.remove(self.key_of(handler), line)
        return None
