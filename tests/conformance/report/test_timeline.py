"""A scenario and what happened in it, as text."""

import pytest

from asyncwait.conformance.evidence import at, replies, told
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import Violation
from asyncwait.conformance.report import draw
from asyncwait.conformance.timeline import ending_of, show
from asyncwait.reference import open_operator
from asyncwait.spec import (
    Barrier,
    Element,
    LatencyMarker,
    Record,
    Snapshot,
    Watermark,
    WatermarkStatus,
)
from asyncwait.spec.scenario import (
    Ending,
    Leg,
    Scenario,
    Trace,
)

SCENARIO = Scenario(inputs=at(0, Record("a")), plans=(replies("a", 40, "x"),))


def test_a_violation_stands_where_it_happened() -> None:
    """Behind everything of its instant, and in its leg; a golden file holds the drawing."""
    drawn = draw(SCENARIO, play(open_operator, SCENARIO), Violation("something is wrong", 0))

    number = drawn.index("     0  >>> something is wrong")
    assert drawn[number + 1].startswith("    40 ")


def test_a_wait_that_nothing_ends_is_drawn() -> None:
    """Where the consumer waits in vain, that is the point."""
    trace = Trace((Leg(Ending("hung", 1_000), told("0: waits")),))

    assert draw(SCENARIO, trace) == [
        "    ms  input                   calls                             output",
        "     0                                                            (waits)",
        "  1000  hung",
    ]


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
    """So that three columns fit on a screen."""
    assert show(element) == text


@pytest.mark.parametrize(
    ("ending", "said"),
    [
        (Ending("finished", 40), "finished"),
        (Ending("hung", 40, detail="while it is left"), "hung: while it is left"),
        (Ending("failed", 40, error="ValueError", detail="of b"), "failed: ValueError of b"),
        (Ending("failed", 40, error="ValueError"), "failed: ValueError"),
    ],
)
def test_how_a_leg_ended_is_said_with_what_is_known(ending: Ending, said: str) -> None:
    """Nothing stands for what is not."""
    assert ending_of(ending) == said
