"""Reports: the findings of a verification, as data, for people, and in forms for other tools."""

from asyncwait.conformance.report._json_lines import (
    file_bytes,
    read_lines,
    report_to_lines,
)
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
    entry_lines,
    failure_lines,
    print_report,
    rule_lines,
    say,
)
from asyncwait.conformance.report._text import (
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
    "besides",
    "besides_lines",
    "change_lines",
    "changes",
    "clear_folder",
    "count_of",
    "entry_lines",
    "excerpt",
    "failure_lines",
    "file_bytes",
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
    "say",
    "timeline_lines",
    "titles",
    "write_report",
]

claim_exports(__name__)
