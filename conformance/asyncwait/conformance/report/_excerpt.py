"""As much of a long timeline as a person reads: how it begins, what led to the violation, its end.

A scenario of thousands of elements that can't be made smaller would bury everything else.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from asyncwait.conformance.timeline import MARK
from asyncwait.spec.texts import shortened

FIRST, BEFORE, AFTER, LAST = 8, 30, 6, 2
"""Lines that are shown: of the beginning, up to the violation, behind it, and of the end."""

GAP = "   ...  "

LONGEST = 240
"""Characters of a line: a snapshot may hold hundreds of elements."""


def excerpt(lines: Sequence[str]) -> Iterator[str]:
    """Yield `lines`, a timeline or a plan, or what matters of them with the gaps counted."""
    marked = next((n for n, line in enumerate(lines) if MARK in line), len(lines))
    shown = [n for n in range(len(lines)) if _matters(n, marked, len(lines))]
    for before, number in pairwise([-1, *shown]):
        if gap := number - before - 1:
            yield f"{GAP}({gap:,} more)" if gap > 1 else _short(lines[number - 1])
        yield _short(lines[number])


def _matters(number: int, marked: int, count: int) -> bool:
    is_at_an_end = number < FIRST or number >= count - LAST
    return is_at_an_end or marked - BEFORE <= number <= marked + AFTER


def _short(line: str) -> str:
    return shortened(line, LONGEST)
