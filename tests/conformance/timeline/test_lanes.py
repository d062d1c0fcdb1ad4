"""Timelines as data: a lane for each record."""

from xml.etree import ElementTree as ET

import pytest
from sample import some

from asyncwait.conformance.areas import CHECKS, EXAMPLES, all_witnesses
from asyncwait.conformance.evidence import scenario_of
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import judge
from asyncwait.conformance.report import draw
from asyncwait.conformance.timeline import Lane, draw_svg, lay_out
from asyncwait.reference import open_operator
from asyncwait.spec.scenario import (
    CallEnded,
    Ending,
    Leg,
    Scenario,
    Trace,
)
from asyncwait.spec.texts import one_line


def test_attempts_are_told_from_the_back_off_between_them() -> None:
    scenario = scenario_of("retry; 0: a; a: 40 raises own, 40 gives")

    (chart,) = lay_out(scenario, play(open_operator, scenario))

    (lane,) = (lane for lane in chart.lanes if lane.kind == "record")
    times = [(s.kind, chart.columns[s.since].at, chart.columns[s.until].at) for s in lane.spans]
    assert times == [
        ("waiting", 0, 0),
        ("running", 0, 40),
        ("back-off", 40, 80),
        ("running", 80, 120),
    ]
    assert [(m.sign, chart.columns[m.column].at) for m in lane.seen] == [
        ("t", 0),
        ("1", 0),
        ("!", 40),
        ("2", 80),
        ("n", 120),
    ]


LEAVING = """
capacity 6; timeout 120; handled; retry initial=40; batch max_size=3 max_wait=40; 0: a; 80: b c;
a: 20 raises own, 100 gives a1, late gives a?; b c: 100 gives *1; source_ends_at 240
"""
"""a is alone in the first batch, and leaves the second at its deadline."""


def test_which_records_share_a_call_and_when_one_leaves_it_is_seen() -> None:
    scenario = scenario_of(LEAVING)

    trace = play(open_operator, scenario)
    (chart,) = lay_out(scenario, trace)

    shared = {
        lane.label: [
            (span.batch, chart.columns[span.since].at, chart.columns[span.until].at)
            for span in lane.spans
            if span.batch is not None
        ]
        for lane in chart.lanes
        if lane.kind == "record"
    }
    assert shared == {
        "'a'": [(0, 40, 60), (1, 100, 160)],
        "'b'": [(1, 100, 200)],
        "'c'": [(1, 100, 200)],
    }
    called = [line.split()[-4:] for line in draw(scenario, trace) if " called in batch " in line]
    assert called[:2] == [["called", "in", "batch", "A"], ["called", "in", "batch", "B"]]


def spans(lane: Lane) -> list[str]:
    return [span.kind for span in lane.spans]


def test_a_trace_that_no_operator_can_have_written_is_refused() -> None:
    trace = Trace((Leg(Ending("finished"), (CallEnded(0, 7),)),))

    with pytest.raises(ValueError, match=r"^call 7 was cancelled or ended, and never started$"):
        lay_out(Scenario(), trace)


def test_each_rule_can_be_seen_broken() -> None:
    for witness in all_witnesses():
        run = witness.violating
        found = dict(judge(run.scenario, run.trace, CHECKS).violations())[witness.rule]
        wrong = [c for c in lay_out(run.scenario, run.trace, found) if c.wrong]
        told = draw(run.scenario, run.trace, found)

        assert [chart.wrong for chart in wrong] == [found.text]
        assert any(column.offends and column.at == found.at for column in wrong[0].columns)
        assert any(line.endswith(f">>> {one_line(found.text)}") for line in told)
        picture = ET.fromstring(draw_svg(run.scenario, run.trace, found))  # noqa: S314 - of our own
        assert [each for each in picture.iter() if "wrong" in each.get("class", "").split()]


@pytest.mark.sampled
def test_in_an_example_each_output_stands_in_a_lane_once() -> None:
    for example in some(EXAMPLES, 5, "in lanes"):
        trace = play(open_operator, example.scenario)
        for chart, leg in zip(lay_out(example.scenario, trace), trace.legs, strict=True):
            marks = [m for lane in chart.lanes for m in lane.marks if m.kind == "emitted"]
            took = [event for event in leg.events if type(event).__name__ == "SinkTook"]
            columns = [mark.column for mark in marks]
            assert (len(marks), len(set(columns))) == (len(took), len(took)), example.name
