"""Verdicts and failures for people."""

from asyncwait.conformance.report._again import again_anywhere, again_here
from asyncwait.conformance.report._besides import besides, printed
from asyncwait.conformance.report._excerpt import excerpt
from asyncwait.conformance.report._failures import failure_lines, rule_lines, rule_text_lines
from asyncwait.conformance.report._report import (
    STYLES,
    area_cell,
    area_table,
    backend_table,
    print_report,
)
from asyncwait.conformance.report._timeline import HEAD, describe_scenario, draw, event_line
from asyncwait.spec.exports import claim_exports

__all__ = [
    "HEAD",
    "STYLES",
    "again_anywhere",
    "again_here",
    "area_cell",
    "area_table",
    "backend_table",
    "besides",
    "describe_scenario",
    "draw",
    "event_line",
    "excerpt",
    "failure_lines",
    "print_report",
    "printed",
    "rule_lines",
    "rule_text_lines",
]

claim_exports(__name__)
