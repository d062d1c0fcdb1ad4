"""What is told in words has bounds: of a timeline, an error, an output and a scenario."""

import pytest

from asyncwait.conformance.report import excerpt

MARK = "     7  >>> it is wrong"


def numbered(first: int, last: int) -> list[str]:
    return [f"line {number}" for number in range(first, last + 1)]


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        # What fits is shown whole, and so is a gap of one line: to count it would take the room.
        ([*numbered(1, 38), MARK], [*numbered(1, 38), MARK]),
        ([*numbered(1, 39), MARK], [*numbered(1, 39), MARK]),
        # Of more, the beginning, what led to the violation, and the end.
        (
            [*numbered(1, 2_000), MARK, *numbered(2_001, 3_000)],
            [
                *numbered(1, 8),
                "   ...  (1,962 more)",
                *numbered(1_971, 2_000),
                MARK,
                *numbered(2_001, 2_006),
                "   ...  (992 more)",
                *numbered(2_999, 3_000),
            ],
        ),
        # A plan has no violation in it.
        (numbered(1, 100), [*numbered(1, 8), "   ...  (62 more)", *numbered(71, 100)]),
    ],
    ids=["fits", "one more", "long", "plan"],
)
def test_of_a_timeline_as_much_is_shown_as_a_person_reads(
    lines: list[str], shown: list[str]
) -> None:
    assert list(excerpt(lines)) == shown
