"""Numbers of things are told as people say them."""

import pytest

from asyncwait.conformance._words import counted


@pytest.mark.parametrize(
    ("count", "words", "said"),
    [
        (0, ("scenario",), "0 scenarios"),
        (1, ("scenario",), "1 scenario"),
        (1_260, ("scenario",), "1,260 scenarios"),
        (1, ("task is", "tasks are"), "1 task is"),
        (2, ("task is", "tasks are"), "2 tasks are"),
    ],
)
def test_one_is_told_as_one_and_the_others_as_many(
    count: int, words: tuple[str, ...], said: str
) -> None:
    """With commas between thousands."""
    assert counted(count, *words) == said
