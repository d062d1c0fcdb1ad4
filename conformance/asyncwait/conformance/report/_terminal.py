"""The output of a verification: failures, a table of areas by backend, a line for each backend.

The first causes are drawn, and each other cause has a line.
"""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from asyncwait.conformance.mailbox import notation_of, trace_lines
from asyncwait.conformance.report._text import (
    again_lines,
    also_line,
    excerpt,
    finding_lines,
    hint,
    printed,
    run_lines,
)
from asyncwait.conformance.verdict import Failure, RuleResult, Status, Verdict, Word, passed_of
from asyncwait.spec.mailbox.program import MailboxTrace
from asyncwait.spec.rules import areas
from asyncwait.spec.texts import counted, lines_of, name_of


def say(line: str, out: Console | None = None, *, style: str = "", err: bool = False) -> None:
    """Print a line of ours.

    Args:
        line: a text that begins with words of ours.
        out: prints the line; None for standard output, or standard error.
        style: of rich.
        err: use standard error.
    """
    for each in lines_of(line):
        if out is None:
            click.echo(each, err=err)
        else:
            out.print(Text(each, style=style), soft_wrap=True)


SHOWN = 5
"""Causes whose failures are drawn; each other cause has a line."""


def failure_lines(verdict: Verdict, kept: AbstractSet[str] = frozenset()) -> Iterator[str]:
    """Yield the lines about failures and open questions; causes come first."""
    for line in (
        *_broken(verdict, kept),
        *(
            f"expected failure that matches nothing: {rule}: {why}"
            for rule, why in verdict.stale.items()
        ),
        *_in_error(verdict),
        *_undecided(verdict),
    ):
        yield f"{name_of(verdict.backend)}: {line}" if line and not line.startswith(" ") else line


def rule_lines(
    backend: str, result: RuleResult, kept: AbstractSet[str] = frozenset()
) -> Iterator[str]:
    """Yield the lines about one rule that does not pass."""
    lines = _rule(backend, result, kept)
    yield f"{name_of(backend)}: {next(lines)}"
    yield from lines


def _broken(verdict: Verdict, kept: AbstractSet[str]) -> Iterator[str]:
    """Yield the failures of the first causes, then a line for each other cause."""
    own = _own(verdict)
    for result, explains in own[:SHOWN]:
        yield from _rule(verdict.backend, result, kept, explains)
    yield from (f"also broken: {line}" for line in entry_lines(verdict, SHOWN))
    if len(verdict.failed) > 1 and verdict.causes:
        more = "; see the others with --rule ID" if own[SHOWN:] else ""
        yield f"likely cause: {own[0][0].rule.id} {own[0][0].rule.title}{more}"
    traces = [failure.trace for result in verdict.failed for failure in result.failures]
    if not all(isinstance(trace, MailboxTrace) for trace in traces):
        yield hint(is_program=verdict.self_reported)


def _own(verdict: Verdict) -> list[tuple[RuleResult, tuple[str, ...]]]:
    explains = {cause.rule: cause.explains for cause in verdict.causes}
    explained = {rule for rules in explains.values() for rule in rules}
    own = [result for result in verdict.failed if result.rule.id not in explained]
    return [(result, explains.get(result.rule.id, ())) for result in own]


def entry_lines(verdict: Verdict, first: int = 0) -> Iterator[str]:
    """Yield a line for each failing rule that no other explains, from number `first` on."""
    for result, explains in _own(verdict)[first:]:
        failure = result.failures[0] if result.failures else None
        text = f"{failure.violation.text} ({failure.case.id})" if failure else result.note
        yield also_line(result.rule.id, result.broken, text, explains)


def _rule(
    backend: str, result: RuleResult, kept: AbstractSet[str], explains: Iterable[str] = ()
) -> Iterator[str]:
    rule = result.rule
    if not result.failures:
        yield f"{rule.id} {rule.title}: {result.status}: {result.note}"
        return
    newer = f"since {rule.since}: newer than what the backend claims, so it does not decide"
    notes = [newer] * result.is_advisory + [f"note: {result.note}"] * bool(result.note)
    drawn = _drawn(backend, result.failures[0], kept)
    yield from finding_lines(
        rule, result.status, broken=result.broken, notes=notes, drawn=drawn, explains=[*explains]
    )
    yield ""


def _drawn(backend: str, failure: Failure, kept: AbstractSet[str]) -> Iterator[str]:
    case, trace, found = failure.case, failure.trace, failure.violation
    if isinstance(trace, MailboxTrace):
        yield f"{case.label}, {case.planned.stage}: {found.text}"
        yield from notation_of(case.planned.program)
        yield from excerpt([*trace_lines(trace, found)])
        yield from printed(trace.output)
        return
    yield f"{case.label}: {found.text} (at {found.at:g} ms)"
    is_adapted = case.scenario != case.planned
    yield from run_lines(case.scenario, trace, found, is_adapted=is_adapted)
    yield from again_lines(backend, case, kept)


def _in_error(verdict: Verdict) -> Iterator[str]:
    for error in verdict.errors[:SHOWN]:
        yield f"error: {error}"
    if len(verdict.errors) > SHOWN:
        yield f"and {counted(len(verdict.errors) - SHOWN, 'more error')}"
    if verdict.stopped:
        yield f"stopped: {verdict.stopped}"


def _undecided(verdict: Verdict) -> Iterator[str]:
    """Yield a line for each reason why rules are undecided, and one for the inapplicable rules."""
    by_reason: dict[tuple[Status, str], list[str]] = {}
    for result in verdict.results:
        if result.status in {"error", "untested", "blocked"}:
            by_reason.setdefault((result.status, result.note), []).append(result.rule.id)
    for (status, note), ids in by_reason.items():
        why = "" if note == verdict.stopped else f" ({note})"
        yield f"{status}{why}: {', '.join(ids)}"
    if spared := [r for r in verdict.results if r.status == "not-applicable"]:
        missing = (name for r in spared for name in r.rule.missing(verdict.capabilities))
        needs = dict.fromkeys(name for name in missing if " or " not in name)
        see = f"asyncwait rules --backend {shlex.quote(verdict.backend)}"
        rules = counted(len(spared), "rule")
        lacks = f", for want of {', '.join(needs)}" if needs else ""
        yield f"not applicable: {rules}{lacks}; see: {see}"
    # These may be outdated, and do not decide.
    if ids := [result.rule.id for result in verdict.results if result.is_unseen]:
        where = f"expected to fail, not seen with seed {verdict.seed}"
        yield f"{where}: {', '.join(ids)}; another seed may show it"


STYLES: Mapping[Word, str] = {
    "conformant": "bold green",
    "conformant with expected failures": "bold yellow",
    "not conformant": "bold red",
    "inconclusive": "bold magenta",
}

_FINE = ("green", "dim")
"""Styles of areas that pass, or do not apply."""

MOST_COLUMNS = 4
"""Backends side by side in a table: with more, names and verdicts break within words."""


def print_report(
    verdicts: Sequence[Verdict], console: Console, kept: AbstractSet[str] = frozenset()
) -> None:
    """Print failures first, then the table, then one line for each backend.

    The table has a column for each backend, or a row if they are more than `MOST_COLUMNS`.
    """
    for verdict in verdicts:
        for line in failure_lines(verdict, kept):
            say(line, console)
    if verdicts:
        is_wide = len(verdicts) > MOST_COLUMNS
        console.print(backend_table(verdicts) if is_wide else area_table(verdicts))
    for verdict in verdicts:
        say(verdict.line, console, style=STYLES[verdict.word])


def area_table(verdicts: Sequence[Verdict]) -> Table:
    """Return the table: passing and applicable rules of each judged area."""
    table = Table(title="rules passed / applicable", title_justify="left")
    table.add_column("area", no_wrap=True, overflow="ellipsis")
    for verdict in verdicts:
        table.add_column(Text(name_of(verdict.backend)), justify="right", overflow="fold")
    judged = {result.rule.area for verdict in verdicts for result in verdict.results}
    for area in (area for area in areas().values() if area.id in judged):
        table.add_row(f"{area.id}  {area.title}", *(area_cell(v, area.id) for v in verdicts))
    table.add_section()
    table.add_row("scenarios", *(f"{verdict.scenarios:,}" for verdict in verdicts))
    table.add_row("seconds", *(f"{verdict.seconds:.1f}" for verdict in verdicts))
    table.add_row("verdict", *(Text(v.word, style=STYLES[v.word]) for v in verdicts))
    return table


def backend_table(verdicts: Sequence[Verdict]) -> Table:
    """Return the table with a row for each backend, which names the areas that do not pass."""
    table = Table(title="rules passed / applicable", title_justify="left")
    table.add_column("backend", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for head in ("rules", "scenarios", "seconds"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("areas that do not pass")
    for verdict in verdicts:
        cells = {area.id: area_cell(verdict, area.id) for area in areas().values()}
        short = [
            Text(f"{area}\N{NO-BREAK SPACE}").append(cell)
            for area, cell in cells.items()
            if cell.style not in _FINE
        ]
        table.add_row(
            Text(name_of(verdict.backend)),
            Text(verdict.word, style=STYLES[verdict.word]),
            _share(verdict.results),
            f"{verdict.scenarios:,}",
            f"{verdict.seconds:.1f}",
            Text(", ").join(short),
        )
    return table


def area_cell(verdict: Verdict, area: str) -> Text:
    """Return the numbers of passing and applicable rules of an area."""
    return _share([result for result in verdict.results if result.rule.area == area])


def _share(results: Sequence[RuleResult]) -> Text:
    statuses = [r.status for r in results if r.status != "not-applicable"]
    if not statuses:
        return Text("-", style="dim")
    if held := statuses.count("held"):
        return Text(f"{held} held so far of {len(statuses)}", style="magenta")
    return Text(passed_of(statuses), style="green" if {*statuses} == {"pass"} else "red")
