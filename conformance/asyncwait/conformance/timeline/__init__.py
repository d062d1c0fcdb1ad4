"""Timelines: a lane for each record, as data, as text, and as a picture."""

from asyncwait.conformance.timeline._chart import Lane, Timeline
from asyncwait.conformance.timeline._lay_out import lay_out
from asyncwait.conformance.timeline._svg import draw_svg, svg_of, write_svg
from asyncwait.conformance.timeline._svg_style import PATTERNS, STYLE
from asyncwait.conformance.timeline._text import draw_lanes
from asyncwait.conformance.timeline._words import MARK, ending_of, how_ended, show, values
from asyncwait.spec.exports import claim_exports

__all__ = [
    "MARK",
    "PATTERNS",
    "STYLE",
    "Lane",
    "Timeline",
    "draw_lanes",
    "draw_svg",
    "ending_of",
    "how_ended",
    "lay_out",
    "show",
    "svg_of",
    "values",
    "write_svg",
]

claim_exports(__name__)
