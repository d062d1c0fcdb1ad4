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
from asyncwait.conformance.report_files._merge import (
    NOT_THERE,
    Changed,
    changes,
    count_of,
    merged,
    repeated,
    titles,
)
from asyncwait.conformance.report_files._of_verdicts import header_of, report_of
from asyncwait.conformance.report_files._words import (
    besides_lines,
    change_lines,
    evidence_lines,
    result_lines,
    timeline_lines,
)
from asyncwait.conformance.report_files._write import (
    FORMS,
    add_step_summary,
    clear_folder,
    now,
    write_report,
)
from asyncwait.spec.exports import claim_exports

__all__ = [
    "FORMAT",
    "FORMS",
    "NOT_THERE",
    "Changed",
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
    "add_step_summary",
    "besides_lines",
    "change_lines",
    "changes",
    "clear_folder",
    "count_of",
    "evidence_lines",
    "header_of",
    "merged",
    "now",
    "read_lines",
    "repeated",
    "report_of",
    "report_to_lines",
    "result_lines",
    "timeline_lines",
    "titles",
    "write_lines",
    "write_report",
]

claim_exports(__name__)
