"""Reports: what a verification found, as data, for people, and in forms that other tools read."""

from asyncwait.conformance.report._json_lines import read_lines, report_to_lines, write_lines
from asyncwait.conformance.report._model import (
    NOT_THERE,
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
    changes,
    count_of,
    merged,
    repeated,
    titles,
)
from asyncwait.conformance.report._of_verdicts import header_of, report_of
from asyncwait.conformance.report._terminal import (
    STYLES,
    area_cell,
    area_table,
    backend_table,
    entry_lines,
    print_report,
    rule_lines,
)
from asyncwait.conformance.report._timeline import HEAD, draw, event_line
from asyncwait.conformance.report._words import (
    also_lines,
    besides,
    besides_lines,
    change_lines,
    excerpt,
    printed,
    result_lines,
    timeline_lines,
)
from asyncwait.conformance.report._write import (
    FORMS,
    add_step_summary,
    clear_folder,
    now,
    write_report,
)
from asyncwait.spec.exports import claim_exports

__all__ = [
    "FORMS",
    "HEAD",
    "NOT_THERE",
    "STYLES",
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
    "also_lines",
    "area_cell",
    "area_table",
    "backend_table",
    "besides",
    "besides_lines",
    "change_lines",
    "changes",
    "clear_folder",
    "count_of",
    "draw",
    "entry_lines",
    "event_line",
    "excerpt",
    "header_of",
    "merged",
    "now",
    "print_report",
    "printed",
    "read_lines",
    "repeated",
    "report_of",
    "report_to_lines",
    "result_lines",
    "rule_lines",
    "timeline_lines",
    "titles",
    "write_lines",
    "write_report",
]

claim_exports(__name__)
