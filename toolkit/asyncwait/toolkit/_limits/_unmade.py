"""Calls that an operator counts although they wait for their turns, or were given none."""

from threading import Lock

from msgspec.structs import replace

from asyncwait.spec import Statistics


class Counted:
    """A call that the operator has counted; stand-ins make several of it."""

    __slots__ = ("is_made", "waits")

    def __init__(self) -> None:
        self.is_made = False
        """Whether the service was asked, or need not be."""
        self.waits: tuple[int, int, int] | None = None
        """Calls, batches and retries that the operator counts of it too early; None for none."""


class Unmade:
    """How many there are; for any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._calls = self._batches = self._retries = 0

    def wait(self, call: Counted, *, records: int, batches: int, retries: int) -> None:
        """Note that a call waits, if it is not made yet by a part of it, and is not noted."""
        if not (call.is_made or call.waits):
            call.waits = records, batches, retries
            self._add(1, call.waits)

    def make(self, call: Counted) -> None:
        """Note that it is made."""
        call.is_made = True
        if (waits := call.waits) is not None:
            call.waits = None
            self._add(-1, waits)

    def _add(self, sign: int, waits: tuple[int, int, int]) -> None:
        with self._lock:
            self._calls += sign * waits[0]
            self._batches += sign * waits[1]
            self._retries += sign * waits[2]

    def figures(self, told: Statistics) -> Statistics:
        """Return the figures of the operator without them."""
        with self._lock:
            return replace(
                told,
                calls=told.calls - self._calls,
                batches=told.batches - self._batches,
                retries=told.retries - self._retries,
            )
