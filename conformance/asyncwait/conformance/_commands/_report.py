"""Subcommand `report`."""

import sys
from collections.abc import Iterator
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from asyncwait.conformance._commands._group import asyncwait, console, say_written, usage_errors
from asyncwait.conformance.report import (
    NOT_THERE,
    STYLES,
    Report,
    Run,
    also_lines,
    besides_lines,
    change_lines,
    changes,
    clear_folder,
    count_of,
    header_of,
    merged,
    now,
    read_lines,
    repeated,
    result_lines,
    say,
    titles,
    write_report,
)
from asyncwait.conformance.verdict import passed_of
from asyncwait.spec.texts import name_of, one_line

_OUT = "--out"

_DRAWN = 5
"""Failing rules of each run that are printed; the others are in the table."""


@asyncwait.command("report")
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE..."
)
@click.option(
    _OUT,
    "folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write all runs as one report into this folder, in the forms of `asyncwait verify "
    "--report`.",
)
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="Print a row for each rule; by default only for those that some run does not pass.",
)
def report_command(files: tuple[Path, ...], folder: Path | None, every: bool) -> None:
    """Show the runs in each FILE, of several backends or dates, as one table.

    A FILE is the report.jsonl that `asyncwait verify --report DIR` has written. What changed
    between runs of the same backend stands below the table. A file that was cut is shown as far as
    it goes, and what is in it is inconclusive. A run that stands in several of them counts once.

    Of several runs of a backend the newest decides: the verdict, the badge and the row of Markdown
    are about that one.

    Exit code: by the worst verdict, of each backend's newest run: 0 conformant (expected
    failures included), 1 not conformant, 2 wrong usage, 3 inconclusive.
    """
    with usage_errors():
        reports = [read_lines(file) for file in files]
        report = merged(reports, header_of(now()))
        if folder is not None:
            clear_folder(_OUT, folder)
        out = console()
        _print(report, out, every=every)
        for line in repeated(reports, [str(file) for file in files]):
            say(line, out)
        _print_verdicts(report, out)
        if folder is not None:
            say_written(write_report(report, _OUT, folder))
    sys.exit(report.exit_code)


def _print(report: Report, out: Console, *, every: bool) -> None:
    for line in _failure_lines(report):
        say(line, out)
    if report.runs:
        out.print(_matrix(report, every=every))
    for changed in changes(report):
        first, *others = change_lines(changed)
        say(f"{name_of(changed.after.name)}: what changed {first}", out)
        for line in others:
            say(f"  {line}", out)


def _print_verdicts(report: Report, out: Console) -> None:
    if report.doubt:
        say(f"inconclusive: {report.doubt}", out, style=STYLES["inconclusive"])
    for run in report.newest:
        if (count := count_of(report, run.name)) > 1:
            newest = f"the newest of {count:,} runs decides, from {run.header.created}"
            say(f"{name_of(run.name)}: {newest}", out)
        say(run.line, out, style=STYLES[run.word])


def _failure_lines(report: Report) -> Iterator[str]:
    """Yield the first causes of each run, then its other broken rules."""
    for run in report.newest:
        name = name_of(run.name)
        told, others = run.told(_DRAWN)
        for result in told:
            first, *further = result_lines(report, run, result)
            yield from (f"{name}: {first}", *further, "")
        yield from (f"{name}: also broken: {line}" for line in also_lines(others))
        for line in besides_lines(run):
            yield f"{name}: {line}"


def _matrix(report: Report, *, every: bool) -> Table:
    table = Table(title="rules by run", title_justify="left")
    table.add_column("rule", overflow="fold")
    for title in titles(report):
        table.add_column(Text(title), overflow="fold")
    for area in dict.fromkeys(rule.area for rule in report.rules):
        for row in _rows(report, area, every=every):
            table.add_row(*row)
    table.add_section()
    table.add_row("scenarios", *(_scenarios(run) for run in report.runs))
    table.add_row("verdict", *(Text(run.word, style=STYLES[run.word]) for run in report.runs))
    return table


def _rows(report: Report, area: str, *, every: bool) -> Iterator[list[str | Text]]:
    rules = [rule for rule in report.rules if rule.area == area]
    ids = {rule.id for rule in rules}
    cells = []
    for run in report.runs:
        statuses = [result.status for result in run.results if result.rule in ids]
        passed = passed_of(statuses)
        is_good = {"pass", "not-applicable"}.issuperset(statuses) and not run.doubt
        style = "dim" if passed == "-" else "green" if is_good else "red"
        cells.append(Text(passed, style=style))
    yield [Text(f"{name_of(area)}  {one_line(rules[0].chapter)}", style="bold"), *cells]
    for rule in rules:
        found = [
            run.by_rule[rule.id].status if rule.id in run.by_rule else NOT_THERE
            for run in report.runs
        ]
        if every or not set(found) <= {"pass", "not-applicable"}:
            styles = [_style(report.runs[n], status) for n, status in enumerate(found)]
            told = [Text(status, style=style) for status, style in zip(found, styles, strict=True)]
            yield [Text(f"  {name_of(rule.id)}  {one_line(rule.title)}"), *told]


def _style(run: Run, status: str) -> str:
    if status in {"fail", "unexpected-pass"}:
        return "red"
    if run.doubt or status not in {"pass", "not-applicable", "expected-fail"}:
        return "magenta"
    return {"pass": "green", "not-applicable": "dim"}.get(status, "yellow")


def _scenarios(run: Run) -> str:
    if run.footer is not None:
        return f"{run.footer.scenarios:,}"
    return f"unknown, of {run.header.planned:,}" if run.header.planned else "unknown"
