"""Draws a timeline as SVG."""

from collections.abc import Sequence
from pathlib import Path

from asyncwait.conformance._counted import counted
from asyncwait.conformance.judging import Violation
from asyncwait.conformance.timeline._chart import Chart, Timeline
from asyncwait.conformance.timeline._crop import cropped
from asyncwait.conformance.timeline._lay_out import lay_out
from asyncwait.conformance.timeline._svg_chart import chart_lines, legend_lines
from asyncwait.conformance.timeline._svg_lane import CELL, LEFT, quoted
from asyncwait.conformance.timeline._svg_style import PATTERNS, STYLE
from asyncwait.spec.scenario import Scenario, Trace

LEAST_WIDTH = 560
"""Pixels: the legend and the words about the end need room, too."""

MOST_COLUMNS, MOST_LANES = 60, 30
"""That are drawn; the others are counted."""


def draw_svg(
    scenario: Scenario, trace: Trace, violation: Violation | None = None, *, title: str = ""
) -> str:
    """Return the timeline of a run as an SVG document that needs nothing else.

    Args:
        scenario: what was planned.
        trace: what was observed.
        violation: what is wrong in it; None for nothing.
        title: what it shows; the scenario's name if there is none.

    Raises:
        ValueError: no operator can have written the trace: a call ends that has never started.
    """
    timeline = lay_out(scenario, trace, violation)
    return svg_of(timeline, title=title or scenario.name or "timeline")


def write_svg(
    file: Path,
    scenario: Scenario,
    trace: Trace,
    violation: Violation | None = None,
    *,
    title: str = "",
) -> None:
    """Write the timeline of a run into a file, as `draw_svg` draws it."""
    drawn = draw_svg(scenario, trace, violation, title=title)
    file.write_text(f"{drawn}\n", encoding="utf-8", newline="\n")


def svg_of(timeline: Timeline, *, title: str, alone: bool = True) -> str:
    """Return a timeline as SVG."""
    charts = [cropped(chart, MOST_COLUMNS, MOST_LANES) for chart in timeline.charts]
    width = max([LEFT + CELL * (len(chart.columns) + 1) for chart in charts] + [LEAST_WIDTH])
    lines, y = list[str](), 0
    for chart in charts:
        drawn, y = chart_lines(chart, y, width)
        lines += drawn
    drawn, y = legend_lines(charts, y, width)
    space = 'xmlns="http://www.w3.org/2000/svg" ' if alone else ""
    size = f'width="{width}" height="{y}" viewBox="0 0 {width} {y}"'
    parts = [
        f'<svg {space}class="aw" role="img" {size}>',
        f"<title>{quoted(title)}</title>",
        f"<desc>{quoted(_described(charts))}</desc>",
        *([f"<style>{STYLE}</style>", PATTERNS] if alone else []),
        f'<path class="bg" d="M0 0h{width}v{y}h-{width}z"/>',
    ]
    return "\n".join([*parts, *lines, *drawn, "</svg>"])


def _described(charts: Sequence[Chart]) -> str:
    """Return what a picture shows, in words."""
    parts = []
    for chart in charts:
        lanes = counted(sum(lane.kind != "track" for lane in chart.lanes), "lane")
        steps = counted(len(chart.columns), "step")
        parts.append(f"{chart.title}: {lanes}, {steps}. {chart.ending}.")
        if chart.wrong:
            parts.append(f"Wrong at {chart.wrong_at:g} ms: {chart.wrong}.")
    return " ".join(parts)
