"""Stands for an operator, or a lookup; what its figures are, a test says."""

from typing import Any

from asyncwait.spec import Statistics


class Played:
    def __init__(self, **figures: Any) -> None:
        self.figures: Any = Statistics(**figures)
        self.trouble: Exception | None = None

    def statistics(self) -> Any:
        if self.trouble is not None:
            raise self.trouble
        return self.figures
