"""Timelines: a lane for each record, and pictures."""

from xml.etree import ElementTree as ET

import pytest
from sample import some

from asyncwait.conformance.areas import CHECKS, EXAMPLES, all_witnesses
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import Violation, judge
from asyncwait.conformance.timeline import draw, draw_svg, lay_out
from asyncwait.reference import open_operator
from asyncwait.spec import Record
from asyncwait.spec.scenario import (
    CallEnded,
    Ending,
    Leg,
    Scenario,
    Timed,
    Trace,
)
from asyncwait.spec.texts import one_line


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
            is_whole = not (chart.hidden or any(column.skipped for column in chart.columns))
            assert len(marks) == len(set(columns)) <= len(took), example.name
            assert len(marks) == len(took) or not is_whole, example.name


def test_a_picture_of_a_long_run_is_of_bounded_size() -> None:
    inputs = tuple(Timed(number, Record(number)) for number in range(400))
    scenario = Scenario(mode="unordered", capacity=8, inputs=inputs)

    text = draw_svg(scenario, play(open_operator, scenario), Violation("it is wrong", 200))

    assert len(text) < 60_000
    assert "more lanes are not shown" in text
    assert "steps are not shown" in text
