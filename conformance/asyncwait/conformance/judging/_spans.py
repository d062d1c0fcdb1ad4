"""What is there from one moment to another: how much of it at each moment, and what is first.

Moments are numbered; a span holds from `since` on and no longer at `until`. Each question is
answered for all moments in one go, so that its cost grows with spans and moments and no faster.
"""

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from itertools import accumulate
from typing import TypeAlias, TypeVar

_T = TypeVar("_T")

Span: TypeAlias = tuple[int, int]
"""From when until when something is there; nowhere if it ends before it begins."""


def count(spans: Iterable[Span], moments: int) -> list[int]:
    """Return how many of `spans` hold at each of so many moments."""
    changes = [0] * (moments + 1)
    for since, until in spans:
        if since < until:
            changes[since] += 1
            changes[until] -= 1
    return list(accumulate(changes[:moments]))


def first(spans: Sequence[tuple[Span, _T]], moments: int) -> list[_T | None]:
    """Return for each of so many moments the first of `spans`, as they stand, that holds."""
    if not spans:
        return [None] * moments
    beginning: list[list[int]] = [[] for _ in range(moments + 1)]
    for number, ((since, until), _) in enumerate(spans):
        if since < until:
            beginning[since].append(number)
    found: list[_T | None] = []
    holding: list[int] = []
    for moment in range(moments):
        for number in beginning[moment]:
            heappush(holding, number)
        while holding and spans[holding[0]][0][1] <= moment:
            heappop(holding)
        found.append(spans[holding[0]][1] if holding else None)
    return found
