"""What PyFlink imports as `datetime`: the time is that of the loop."""

from typing import Self

from asyncwait.backends.pyflink._stage import here


class Span:
    """The time between two moments, however long."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def total_seconds(self) -> float:
        """Return its seconds, to the microsecond."""
        return round(self._seconds, 6)


class datetime:  # noqa: N801 - the name by which it is imported
    """A moment, of which PyFlink knows nothing but how long it is since another one."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    @classmethod
    def now(cls) -> Self:
        """Return the present one."""
        return cls(here().clock.time())

    def __sub__(self, other: Self) -> Span:
        return Span(self._seconds - other._seconds)
