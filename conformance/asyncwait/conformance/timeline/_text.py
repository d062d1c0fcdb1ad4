"""Draws a timeline as text: a line for each lane, time from left to right.

A column has two characters, or more where its milliseconds need them: a sign, and behind it what
goes on. While a call runs for a batch, that is the letter of the batch.

    ms                       0       40      120
    'a'                      t 1=====g*
    watermark 5              t       :----*
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from textwrap import wrap

from asyncwait.conformance._words import counted
from asyncwait.conformance.judging import Violation
from asyncwait.conformance.timeline._chart import Chart, Lane, cropped, instants
from asyncwait.conformance.timeline._lay_out import lay_out
from asyncwait.conformance.timeline._words import (
    LONGEST,
    MARK,
    SPANS,
    WAYS,
    batch_sign,
    legend,
)
from asyncwait.spec import texts
from asyncwait.spec.scenario import Scenario, Trace
from asyncwait.spec.texts import one_line, printable, shortened

LABEL, WIDTH = 24, 98
"""Characters: of a label, and of a line."""

MOST_LANES = 24
"""That are drawn; the others are counted."""

LEAST = 12
"""Columns that are drawn in any case."""

GAP = "// "
"""Stands where columns are left out."""


def draw_lanes(
    scenario: Scenario, trace: Trace, violation: Violation | None = None, *, width: int = WIDTH
) -> list[str]:
    """Return the timeline of a run as lines of at most `width` characters.

    Args:
        scenario: what was planned.
        trace: what was observed.
        violation: what is wrong in it; None for nothing.
        width: of a line; what does not fit is left out, and told.

    Raises:
        ValueError: no operator can have written the trace: a call ends that has never started.
    """
    sheets = [_fitting(chart, width) for chart in lay_out(scenario, trace, violation)]
    lines = [line for sheet in sheets for line in sheet.lines()]
    words = "; ".join(f"{each.sign} {each.words}" for each in legend([s.chart for s in sheets]))
    return [*lines, *wrap(words, width, subsequent_indent="  ")]


def _fitting(chart: Chart, width: int) -> "_Sheet":
    columns = max(LEAST, (width - LABEL) // 2)
    sheet = _Sheet(cropped(chart, columns, MOST_LANES), width)
    while sheet.width > width and columns > LEAST:
        columns -= 1
        sheet = _Sheet(cropped(chart, columns, MOST_LANES), width)
    return sheet


class _Sheet:
    """A chart, and where its columns begin."""

    def __init__(self, chart: Chart, most: int) -> None:
        self.chart = chart
        self._most = most
        self._gaps = [len(GAP) if column.skipped else 0 for column in chart.columns]
        self._instants = instants(chart.columns)
        widths = [2] * len(chart.columns)
        for since, until in self._instants:
            needed = len(self._time(since)) + 1
            widths[until] = max(2, needed - 2 * (until - since))
        both = (gap + width for gap, width in zip(self._gaps, widths, strict=True))
        *begins, self.width = accumulate(both, initial=LABEL)
        self._places = [begin + gap for begin, gap in zip(begins, self._gaps, strict=True)]

    def _time(self, number: int) -> str:
        return f"{self.chart.columns[number].at:g}"

    def lines(self) -> Iterator[str]:
        chart = self.chart
        yield printable(chart.title)
        yield self._row("ms", [(since, self._time(since)) for since, _ in self._instants])
        for lane in chart.lanes:
            yield self._lane(lane)
        counts = [(n, str(column.in_flight)[-2:]) for n, column in enumerate(chart.columns)]
        yield self._row(f"in flight, of {chart.capacity}", counts)
        if chart.wrong:
            yield from self._wrong()
        if hidden := self._hidden():
            yield f"not shown: {hidden}"
        yield shortened(printable(chart.ending), self._most)

    def _row(self, label: str, texts: Sequence[tuple[int, str]]) -> str:
        cells = self._blank(label)
        for column, text in texts:
            place = self._places[column]
            cells[place : place + len(text)] = text
        return "".join(cells).rstrip()

    def _blank(self, label: str) -> list[str]:
        shown = printable(label)
        short = shown if len(shown) < LABEL else f"{shown[: LABEL - 3]}.."
        cells = list(f"{short:<{LABEL}}".ljust(self.width))
        for place, gap in zip(self._places, self._gaps, strict=True):
            cells[place - gap : place] = GAP[:gap]
        return cells

    def _lane(self, lane: Lane) -> str:
        cells = self._blank(lane.label)
        for span in lane.spans:
            since, until = self._places[span.since], self._places[span.until]
            sign = SPANS[span.kind][0] if span.batch is None else batch_sign(span.batch)
            cells[since:until] = sign * (until - since)
        for vertical in self.chart.verticals:
            cells[self._places[vertical.column]] = WAYS[vertical.way][0]
        for mark in lane.seen:
            cells[self._places[mark.column]] = mark.sign[0]
        return "".join(cells).rstrip()

    def _wrong(self) -> Iterator[str]:
        offending = [n for n, column in enumerate(self.chart.columns) if column.offends]
        yield self._row("", [(number, "^^") for number in offending])
        said = f"{MARK} at {self.chart.wrong_at:g} ms: {one_line(self.chart.wrong, LONGEST)}"
        yield from wrap(said, self._most, subsequent_indent=f"    {texts.MARK}")

    def _hidden(self) -> str:
        steps = sum(column.skipped for column in self.chart.columns)
        parts = [counted(steps, "step")] if steps else []
        parts += [counted(self.chart.hidden, "lane")] if self.chart.hidden else []
        return " and ".join(parts)
