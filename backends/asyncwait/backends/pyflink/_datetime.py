"""Replacement of `datetime` for PyFlink: the loop's time."""

from typing import Self

from asyncwait.backends.flink._stage import here


class Span:
    """The time between two moments."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def total_seconds(self) -> float:
        """Return the seconds, rounded to microseconds."""
        return round(self._seconds, 6)


class datetime:  # noqa: N801 - the name by which it is imported
    """A moment; PyFlink only subtracts moments."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    @classmethod
    def now(cls) -> Self:
        """Return the present moment."""
        return cls(here().now())

    def __sub__(self, other: Self) -> Span:
        return Span(self._seconds - other._seconds)
