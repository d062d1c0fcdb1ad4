"""Stands for an operator; what its figures are, a test says."""

from typing import Any

from asyncwait.spec import Statistics


class Played:
    """Its figures are those that it is given.

    Attributes:
        figures: what is read.
        trouble: what reading them raises.
    """

    def __init__(self, **figures: Any) -> None:
        self.figures = Statistics(**figures)
        self.trouble: Exception | None = None

    def statistics(self) -> Statistics:
        """Return what the test says."""
        if self.trouble is not None:
            raise self.trouble
        return self.figures
