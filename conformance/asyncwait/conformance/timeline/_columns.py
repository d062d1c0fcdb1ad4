"""Gives points their columns.

Two points share a column only if they are of one instant and the later one stands below the
earlier, so that a column reads from the top to the bottom. What concerns all lanes stands alone,
and no column has two outputs: their order is the point.
"""

from bisect import bisect_right
from collections.abc import Iterable

from asyncwait.conformance.timeline._draft import Point


class Columns:
    """The columns of a leg.

    Args:
        moments: ms; each needs a column, whether there is a point or not.
    """

    def __init__(self, points: Iterable[Point], moments: Iterable[float]) -> None:
        self.ats: list[float] = []
        self._orders: list[float] = []
        self._of: dict[Point, int] = {}
        self._last: list[Point] = []
        for point in sorted({*points}):
            self._place(point)
        for moment in moments:
            self._insert(moment)

    def __getitem__(self, point: Point) -> int:
        """Return the number of the column of a point."""
        return self._of[point]

    def _place(self, point: Point) -> None:
        if not self._last or not self._fits(point):
            self.ats.append(point.at)
            self._last = []
        self._last.append(point)
        self._of[point] = len(self.ats) - 1

    def _fits(self, point: Point) -> bool:
        if point.at != self.ats[-1]:
            return False
        last = self._last[-1]
        if (last.order, last.row) == (point.order, point.row):
            return True
        if point.alone or any(each.alone for each in self._last):
            return False
        has_output = any(each.is_output for each in self._last)
        return point.row > last.row and not (point.is_output and has_output)

    def _insert(self, moment: float) -> None:
        """Have a column at `moment`."""
        number = bisect_right(self.ats, moment)
        if number and self.ats[number - 1] == moment:
            return
        self.ats.insert(number, moment)
        moved = {point: column + (column >= number) for point, column in self._of.items()}
        self._of = moved
