"""Timelines: a lane for each record, as data and as a picture."""

from asyncwait.conformance.timeline._chart import Lane
from asyncwait.conformance.timeline._lay_out import lay_out
from asyncwait.conformance.timeline._svg import PATTERNS, STYLE, draw_svg, svg_of
from asyncwait.conformance.timeline._words import (
    MARK,
    ending_of,
    figures,
    how_ended,
    in_batch,
    show,
    values,
)
from asyncwait.spec.exports import claim_exports

__all__ = [
    "MARK",
    "PATTERNS",
    "STYLE",
    "Lane",
    "draw_svg",
    "ending_of",
    "figures",
    "how_ended",
    "in_batch",
    "lay_out",
    "show",
    "svg_of",
    "values",
]

claim_exports(__name__)
