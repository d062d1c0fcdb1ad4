"""As much of a long timeline as a person reads."""

from asyncwait.conformance.report import excerpt

MARK = "     7  >>> it is wrong"


def numbered(first: int, last: int) -> list[str]:
    """Lines that are told apart by their number."""
    return [f"line {number}" for number in range(first, last + 1)]


def test_a_timeline_that_fits_is_shown_whole() -> None:
    """As nearly all are: they are shrunk."""
    lines = [*numbered(1, 38), MARK]

    assert list(excerpt(lines)) == lines


def test_of_a_long_one_the_beginning_the_violation_and_the_end_are_shown() -> None:
    """With what led to the violation; the gaps are counted."""
    lines = [*numbered(1, 2_000), MARK, *numbered(2_001, 3_000)]

    assert list(excerpt(lines)) == [
        *numbered(1, 8),
        "   ...  (1,962 more)",
        *numbered(1_971, 2_000),
        MARK,
        *numbered(2_001, 2_006),
        "   ...  (992 more)",
        *numbered(2_999, 3_000),
    ]


def test_a_gap_of_one_line_is_no_gap() -> None:
    """To count it would take as much room."""
    lines = [*numbered(1, 39), MARK]

    assert list(excerpt(lines)) == lines


def test_where_nothing_is_wrong_the_end_is_shown() -> None:
    """A plan has no violation in it."""
    assert list(excerpt(numbered(1, 100))) == [
        *numbered(1, 8),
        "   ...  (62 more)",
        *numbered(71, 100),
    ]


def test_a_long_line_is_cut() -> None:
    """A snapshot may hold hundreds of elements."""
    assert [(len(each), "(278 more)" in each) for each in excerpt(["x" * 500])] == [(240, True)]
