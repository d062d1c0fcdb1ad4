"""A scenario and what happened in it, as text."""

import pytest

from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import Violation
from asyncwait.conformance.report import describe_scenario, draw
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
    Crash,
    Ending,
    Handler,
    Leg,
    Plan,
    Scenario,
    SinkStep,
    SinkWaits,
    SnapshotRequest,
    Step,
    Timed,
    Trace,
)

SCENARIO = Scenario(
    capacity=2,
    timeout=80,
    handled=True,
    inputs=(Timed(0, Record("a", 1)), Timed(0, Barrier(1)), Timed(40, Record("b"))),
    plans=(
        Plan("a", (Step(after=40, results=("x", "y")),)),
        Plan("b", (Step("never"),), Handler("reply", ("late",))),
    ),
    hooks="plain",
)


def lines(text: str) -> list[str]:
    """The lines of a text in the test."""
    return [line[4:] for line in text.splitlines()[1:-1]]


def test_a_run_is_drawn_with_time_from_top_to_bottom() -> None:
    """Input, calls and output have a column each; a time stands where it begins."""
    drawn = draw(SCENARIO, play(open_operator, SCENARIO))

    assert drawn == lines(
        """
        ms  input                   calls                             output
         0                          open
            'a'@1
                                    #0 'a' called
            barrier 1
                                                                      snapshot 1 ['a'@1]
        40                          #0 gave 'x', 'y'
            'b'
                                    #1 'b' called
            end
            closed
                                                                      'x'@1
                                                                      'y'@1
       120                          timeout('b') asked
                                    #1 cancelled
                                                                      'late'
                                                                      (waits)
                                    #1 ended
                                    close
       120  finished
    """
    )


def test_a_violation_stands_where_it_happened() -> None:
    """Behind everything of its instant, and in its leg."""
    drawn = draw(SCENARIO, play(open_operator, SCENARIO), Violation("something is wrong", 40))

    number = drawn.index("    40  >>> something is wrong")
    assert drawn[number + 1].startswith("   120 ")
    assert drawn[number - 1].endswith(" 'y'@1")


def test_each_leg_is_drawn_with_what_it_began_with() -> None:
    """A crash ends a leg, and the next one is told its snapshot."""
    scenario = Scenario(
        inputs=(Timed(0, Record("a")), Timed(0, Barrier(1))),
        plans=(Plan("a", (Step(after=80, results=("x",)),)),),
        crashes=(Crash(40, capacity=1),),
    )

    drawn = draw(scenario, play(open_operator, scenario))

    assert drawn == lines(
        """
    leg 1 (ordered, capacity 4)
        ms  input                   calls                             output
         0  'a'
                                    #0 'a' called
            barrier 1
                                                                      snapshot 1 ['a']
            end
            closed
        40                                                            (left)
                                    #0 cancelled
                                    #0 ended
        40  crashed
    leg 2 (ordered, capacity 1)
        ms  input                   calls                             output
         0                          #0 'a' called
            end
            closed
        80                          #0 gave 'x'
                                                                      'x'
                                                                      (waits)
        80  finished
    """
    )


def test_a_wait_that_nothing_ends_is_drawn() -> None:
    """Where the consumer waits in vain, that is the point."""
    trace = Trace((Leg(Ending("hung", 1_000), (SinkWaits(0),)),))

    assert draw(SCENARIO, trace) == [
        "    ms  input                   calls                             output",
        "     0                                                            (waits)",
        "  1000  hung",
    ]


FAILING = Step("raise", 40, error="ValueError")


def test_a_scenario_is_described_in_a_few_lines() -> None:
    """Everything that is planned and can't be seen from the timeline."""
    scenario = Scenario(
        "unordered",
        3,
        80,
        handled=True,
        plans=(
            Plan("a", (Step(), FAILING), Handler("raise", error="ValueError")),
            Plan(1, (Step("misreturn", error="text"), Step("never", swallow=True, clean_up=40))),
            Plan("c", (Step(results=("x",), thread=True, twice=True),), Handler("reply", ("y",))),
        ),
        form="callback",
        restore=Snapshot(9, (Record("a"), Watermark(1))),
        sink=(SinkStep("read", 2), SinkStep("pause", 40), SinkStep("leave")),
        crashes=(Crash(40), Crash(80, 1, "ordered")),
        requests=(SnapshotRequest(40, 100),),
        cancel_at=120,
        source_error="own",
    )

    assert describe_scenario(scenario) == lines(
        """
    unordered, capacity 3, timeout 80 ms, handled, callback
      call of 'a': give nothing, then raise ValueError after 40 ms; at its deadline raise ValueError
      call of 1: give text instead of results, then never answer (go on 40 ms when cancelled); \
at its deadline give no results
      call of 'c': give 'x' (from a thread) (twice); at its deadline give 'y'
      restored: snapshot 9 ['a', watermark 1]
      consumer: read 2, pause 40, leave
      crash at 40 ms
      crash at 80 ms, then capacity 1, ordered
      the source raises in place of its end
      cancelled at 120 ms
    """
    )


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
