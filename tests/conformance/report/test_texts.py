"""What is told in words has bounds: of a timeline, an error, an output and a scenario."""

import msgspec
import pytest
from reports import FAILURE, result

from asyncwait.conformance.report import besides, excerpt, printed, rule_lines
from asyncwait.conformance.timeline import show
from asyncwait.conformance.verdict import Case
from asyncwait.spec import (
    Barrier,
    Element,
    LatencyMarker,
    Record,
    Snapshot,
    Watermark,
    WatermarkStatus,
)
from asyncwait.spec.scenario import Ending, Leg, Scenario, Timed, Trace, scenarios_to_json

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


def test_a_long_line_is_cut() -> None:
    assert [(len(each), "(278 more)" in each) for each in excerpt(["x" * 500])] == [(240, True)]


def test_the_innermost_places_of_a_deep_error_are_shown() -> None:
    deep = "\n".join(numbered(1, 100))

    assert list(besides(Trace((Leg(Ending("finished")),)))) == []
    _, *lines = besides(Trace((Leg(Ending("failed", traceback=deep)),)))
    assert lines == [f"  | {line}" for line in numbered(1, 20)]


def test_the_last_of_much_output_is_shown() -> None:
    lines = list(printed("\n".join(["x" * 500, *(str(n) for n in range(30)), "y" * 500])))

    assert lines[0] == "printed, the last 20 lines:"
    assert lines[1:3] == ["  | 11", "  | 12"]
    assert (len(lines[-1]), "(318 more)" in lines[-1]) == (204, True)


def test_a_scenario_that_would_bury_the_report_is_left_out_of_it() -> None:
    large = Scenario(inputs=tuple(Timed(0, Record(n)) for n in range(200)))
    failure = msgspec.structs.replace(FAILURE, case=Case("large", large, large, generated=True))

    told = rule_lines("mine", result("ORD-1", "fail", "", failure), frozenset())

    (anywhere,) = [line for line in told if line.strip().startswith("anywhere: ")]
    assert f" {len(scenarios_to_json((large,))):,} characters" in anywhere


@pytest.mark.parametrize(
    ("element", "text"),
    [
        (Record("a"), "'a'"),
        (Record(1, 7, "k"), "1@7/k"),
        (Watermark(3), "watermark 3"),
        (WatermarkStatus(True), "idle"),
        (WatermarkStatus(False), "active"),
        (LatencyMarker(5), "marker 5"),
        (Barrier(2), "barrier 2"),
        (Snapshot(2, (Record("a"), Watermark(1))), "snapshot 2 ['a', watermark 1]"),
    ],
)
def test_an_element_is_shown_in_a_few_characters(element: Element, text: str) -> None:
    assert show(element) == text
