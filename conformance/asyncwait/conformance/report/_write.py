"""Writes a report into a folder, in every form."""

import tempfile
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from asyncwait.conformance.report._json_lines import report_to_lines
from asyncwait.conformance.report._junit import to_junit
from asyncwait.conformance.report._markdown import to_badge, to_row, to_summary
from asyncwait.conformance.report._model import Report
from asyncwait.spec import InvalidConfig


def _html(report: Report) -> bytes:
    # Templates take a while to load, and most commands write no page.
    from asyncwait.conformance.report._page import html_of

    return _encoded(html_of(report))


def _summary(report: Report) -> bytes:
    return _encoded(to_summary(report))


FORMS: Mapping[str, Callable[[Report], bytes]] = {
    "report.jsonl": report_to_lines,  # may refuse, before anything is written
    "report.html": _html,
    "junit.xml": to_junit,
    "badge.json": to_badge,
    "row.md": lambda report: _encoded(to_row(report)),
    "summary.md": _summary,
}
"""Writers of each file of a report, by its name."""


def now() -> str:
    """Return the present moment in the form that reports use."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def clear_folder(option: str, folder: Path) -> None:
    """Make sure that a report can be written into `folder`, and remove an old report.

    A reader would take an old report for the report of a run that has not ended.

    Raises:
        InvalidConfig: the folder can't be written; the message says why.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        for name in FORMS:
            folder.joinpath(name).unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        raise _unwritable(option, folder, error) from error


def write_report(report: Report, option: str, folder: Path) -> tuple[Path, ...]:
    """Write a report in every form; return the files.

    Raises:
        InvalidConfig: it can no longer be written; the message says why.
    """
    try:
        for name, form in FORMS.items():
            folder.joinpath(name).write_bytes(form(report))
    except OSError as error:
        raise _unwritable(option, folder, error) from error
    return tuple(folder / name for name in FORMS)


def _unwritable(option: str, folder: Path, error: Exception) -> InvalidConfig:
    why = getattr(error, "strerror", None) or error
    return InvalidConfig(f"{option} {folder}: expected a folder to write reports into: {why}")


def add_step_summary(report: Report, file: str) -> str:
    """Append a report to the summary that GitHub shows beside a run; return an error's text.

    Args:
        report: the report.
        file: the value of `GITHUB_STEP_SUMMARY`; empty to write nothing.
    """
    if not file:
        return ""
    try:
        with Path(file).open("ab") as opened:
            opened.write(_summary(report) + b"\n")
    except (OSError, ValueError) as error:
        return f"GITHUB_STEP_SUMMARY {file} can't be written: {error}"
    return ""


def _encoded(text: str) -> bytes:
    """Return `text` in UTF-8, with surrogates escaped."""
    return text.encode("utf-8", "backslashreplace")
