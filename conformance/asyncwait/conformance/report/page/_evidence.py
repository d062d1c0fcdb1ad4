"""What of the evidence fits into a page: pictures first, the most telling ones, then the data."""

from collections.abc import Iterator

import msgspec
from markupsafe import Markup
from msgspec import Struct, field

from asyncwait.conformance.report._model import Evidence, Played, Report, Result, Run
from asyncwait.conformance.report._words import timeline_lines
from asyncwait.conformance.report.page._texts import escaped, lines_shown
from asyncwait.conformance.timeline import lay_out, svg_of
from asyncwait.spec.scenario import scenarios_to_json
from asyncwait.spec.texts import json_text

PICTURES = 0.5
"""Of the room for evidence, what pictures and timelines may take before the data."""

MISSES = 20
"""Pieces that find no room, after which no smaller one is looked for: each has to be drawn."""

TAGS = 600
"""Bytes that the page itself puts around a piece of evidence."""


class Drawn(Struct):
    """What stands in a page."""

    pictures: dict[tuple[int, str, int], Markup] = field(default_factory=dict)
    timelines: dict[tuple[int, str, int], Markup] = field(default_factory=dict)
    data: dict[tuple[int, int], tuple[Markup, Markup]] = field(default_factory=dict)


def draw_within(report: Report, room: int) -> Drawn:
    """Return as much evidence as fits into so many bytes.

    Args:
        report: whose evidence.
        room: bytes that are left.
    """
    drawn = Drawn()
    left = int(room * PICTURES)
    misses = 0
    for number, run, result, piece in _pieces(report):
        key = number, result.rule, piece
        picture, timeline = _piece(run, result, result.evidence[piece])
        needed = _size(picture, timeline)
        if needed <= left:
            left -= needed
            drawn.pictures[key], drawn.timelines[key] = picture, timeline
        elif (misses := misses + 1) == MISSES:
            break
    left += room - int(room * PICTURES)
    for number, run in enumerate(report.runs):
        for place, played in enumerate(run.played):
            data = _data(played)
            if data is not None and _size(*data) <= left:
                left -= _size(*data)
                drawn.data[number, place] = data
    return drawn


def _size(*parts: str) -> int:
    return sum(len(part.encode()) for part in parts) + TAGS


def _pieces(report: Report) -> Iterator[tuple[int, Run, Result, int]]:
    """Yield each piece of evidence: of each rule the first, causes before what they explain."""
    most = max((len(r.evidence) for run in report.runs for r in run.results), default=0)
    for piece in range(most):
        for number, run in enumerate(report.runs):
            others = [r for r in run.results if r not in run.failed]
            for result in (*run.failed, *others):
                if piece < len(result.evidence):
                    yield number, run, result, piece


def _piece(run: Run, result: Result, evidence: Evidence) -> tuple[Markup, Markup]:
    played = run.played[evidence.played]
    timeline = lines_shown(timeline_lines(played, evidence))
    return _picture(played, evidence, f"{run.name} breaks {result.rule}"), timeline


def _picture(played: Played, evidence: Evidence, title: str) -> Markup:
    """Return the timeline of a run as SVG; nothing where the report tells of it in words only."""
    if played.as_played is None or played.trace is None:
        return Markup("")
    try:
        timeline = lay_out(played.as_played, played.trace, evidence.violation)
    except Exception:
        # A file that nobody has judged here may hold a trace that no layout knows what to do with.
        # Nothing is hidden: the same evidence stands beside it in words, with scenario and trace.
        return Markup("")
    return Markup(svg_of(timeline, title=title, alone=False))  # noqa: S704 - it escapes its texts


def _data(played: Played) -> tuple[Markup, Markup] | None:
    if played.planned is None or played.trace is None:
        return None
    scenario = json_text(scenarios_to_json((played.planned,)))
    return escaped(scenario), escaped(json_text(msgspec.json.encode(played.trace)))
