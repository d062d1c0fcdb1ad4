"""What holds at which moments, found in one pass, is what a look at each of them finds."""

from random import Random

import pytest

from asyncwait.conformance.judging._rest import Span, count, first

MOMENTS = 7


def holding(spans: list[Span], moment: int) -> list[int]:
    """The numbers of the spans that hold at a moment."""
    return [n for n, (since, until) in enumerate(spans) if since <= moment < until]


@pytest.mark.parametrize("seed", range(40))
def test_one_pass_finds_what_a_look_at_each_moment_finds(seed: int) -> None:
    """Empty spans, those that end before they begin, and those that never end among them."""
    rng = Random(seed)
    spans = [(rng.randint(0, MOMENTS), rng.randint(0, MOMENTS)) for _ in range(rng.randint(0, 9))]
    there = [holding(spans, moment) for moment in range(MOMENTS)]

    assert count(spans, MOMENTS) == [len(numbers) for numbers in there]
    assert first([(span, n) for n, span in enumerate(spans)], MOMENTS) == [
        min(numbers, default=None) for numbers in there
    ]


def test_without_moments_there_is_nothing_to_say() -> None:
    """The clock of a leg need not move."""
    assert count([(0, 0)], 0) == first([((0, 0), "a")], 0) == []
