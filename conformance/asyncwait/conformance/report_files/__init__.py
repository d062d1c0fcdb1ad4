"""Reports as files: what a verification found, as data, and in the forms that other tools read."""

from asyncwait.conformance.report_files._data import (
    FORMAT,
    Evidence,
    Footer,
    Header,
    Played,
    Report,
    Result,
    RuleText,
    Run,
    RunFooter,
    RunHeader,
)
from asyncwait.conformance.report_files._lines import read_lines, report_to_lines, write_lines
from asyncwait.conformance.report_files._of_verdicts import report_of
from asyncwait.spec.exports import claim_exports

__all__ = [
    "FORMAT",
    "Evidence",
    "Footer",
    "Header",
    "Played",
    "Report",
    "Result",
    "RuleText",
    "Run",
    "RunFooter",
    "RunHeader",
    "read_lines",
    "report_of",
    "report_to_lines",
    "write_lines",
]

claim_exports(__name__)
