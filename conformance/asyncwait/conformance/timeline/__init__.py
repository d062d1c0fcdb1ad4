"""Timelines: a lane for each record, as data and as a picture."""

from asyncwait.conformance.timeline._lay_out import lay_out
from asyncwait.conformance.timeline._svg import PATTERNS, STYLE, draw_svg, svg_of
from asyncwait.conformance.timeline._text import (
    HEAD,
    MARK,
    draw,
    event_line,
    figures,
    show,
    values,
)
from asyncwait.spec.exports import claim_exports

__all__ = [
    "HEAD",
    "MARK",
    "PATTERNS",
    "STYLE",
    "draw",
    "draw_svg",
    "event_line",
    "figures",
    "lay_out",
    "show",
    "svg_of",
    "values",
]

claim_exports(__name__)
