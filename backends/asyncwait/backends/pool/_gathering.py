"""Records that wait for a shared call, and the times since when they wait."""

from collections import deque
from collections.abc import Callable, Iterable

from asyncwait.backends.pool._core import Core
from asyncwait.backends.pool._order import Entry


class Gathering(deque[Entry]):
    """Records that wait for their call, with the time since when each waits; it calls `look`.

    Args:
        core: the operator.
        clock: the loop's.
        size: of a batch.
        look: called when a batch may go.
    """

    def __init__(
        self, core: Core, clock: Callable[[], float], size: int, look: Callable[[], None]
    ) -> None:
        super().__init__()
        self._core = core
        self._clock = clock
        self._size = size
        self._look = look
        self._since: deque[float] = deque()

    @property
    def since(self) -> float:
        """Time since when the first record waits, in seconds of the loop's clock."""
        return self._since[0]

    def append(self, entry: Entry) -> None:
        """Add a record behind the others."""
        self._since.append(self._clock())
        super().append(entry)
        self._look_at_more()

    def extend(self, entries: Iterable[Entry]) -> None:
        """Add records behind the others."""
        super().extend(entries)
        self._since.extend([self._clock()] * (len(self) - len(self._since)))
        self._look_at_more()

    def _look_at_more(self) -> None:
        """Call `look` if no more records may join; `Core` announces the first record."""
        if len(self) >= self._size or self._core.is_full:
            self._look()

    def take(self, count: int) -> list[Entry]:
        """Take the first `number` records."""
        for _ in range(count):
            self._since.popleft()
        if count == len(self):
            taken = list(self)
            super().clear()
            return taken
        return [self.popleft() for _ in range(count)]

    def forget(self, entry: Entry) -> None:
        """Remove a record that is decided without a call, if it waits here."""
        if entry in self:
            place = self.index(entry)
            del self[place], self._since[place]

    def clear(self) -> None:
        """Remove all records."""
        self._since.clear()
        super().clear()
