"""Lines of records with one key: the first record is called, the others wait."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from asyncwait.toolkit import ByKey

if TYPE_CHECKING:
    from asyncwait.reference._handler import ResultHandler


class KeyLines:
    """A line of undecided records for each key; the first has been called (KEY-1).

    A key without an undecided record has no line, and takes no memory.
    """

    def __init__(self) -> None:
        self.lines: ByKey[deque[ResultHandler]] = ByKey()

    def key_of(self, handler: ResultHandler) -> Any:
        """Return the key of a record."""
        return handler.record.key

    def enter(self, handler: ResultHandler) -> bool:
        """Put a record at the end of the line of its key; return whether it is the first."""
        line = self.lines.get(self.key_of(handler))
        handler.line = deque() if line is None else line
        handler.line.append(handler)
        if line is None:
            self.lines.put(self.key_of(handler), handler.line)
        return line is None

    def leave(self, handler: ResultHandler) -> ResultHandler | None:
        """Remove a decided record from the head of its line; return the next record (KEY-5).

        The handler holds its line, because a changed key would not find it.
        """
        line, handler.line = handler.line, None
        assert line is not None
        line.popleft()
        if line:
            return line[0]
        self.lines.remove(self.key_of(handler), line)
        return None
