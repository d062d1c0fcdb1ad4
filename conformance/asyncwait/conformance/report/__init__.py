"""Verdicts and failures for people."""

from asyncwait.conformance.report._text import (
    area_table,
    drawn,
    failure_lines,
    print_report,
    rule_lines,
)
from asyncwait.conformance.report._timeline import describe_scenario, draw, show

__all__ = [
    "area_table",
    "describe_scenario",
    "draw",
    "drawn",
    "failure_lines",
    "print_report",
    "rule_lines",
    "show",
]
