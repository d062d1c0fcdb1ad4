"""What a verification prints: failures, a table of areas by backend, a line for each backend."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from rich.console import Console
from rich.table import Table
from rich.text import Text

from asyncwait.conformance._say import say
from asyncwait.conformance.report._failures import failure_lines
from asyncwait.conformance.verdict import RuleResult, Verdict, Word
from asyncwait.spec.rules import areas
from asyncwait.spec.texts import name_of

STYLES: Mapping[Word, str] = {
    "conformant": "bold green",
    "conformant with expected failures": "bold yellow",
    "not conformant": "bold red",
    "inconclusive": "bold magenta",
}

_FINE = ("green", "dim")
"""Styles of areas that pass, or do not apply."""

MOST_COLUMNS = 4
"""Backends that stand side by side: with more, names and verdicts break in the middle of words."""


def print_report(
    verdicts: Sequence[Verdict], console: Console, kept: AbstractSet[str] = frozenset()
) -> None:
    """Print failures first, then the table, then one line for each backend.

    The table has a column for each backend, or a row where there are more than `MOST_COLUMNS`.

    Args:
        verdicts: one for each backend.
        console: where to.
        kept: ids of scenarios that whoever reads this can play by their id.
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
    """Return the table: how many rules of each area that is judged pass, of those that apply."""
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
    """Return how many rules of an area pass, of those that apply.

    Args:
        verdict: on one backend.
        area: its id.
    """
    return _share([result for result in verdict.results if result.rule.area == area])


def _share(results: Sequence[RuleResult]) -> Text:
    """Return how many of the rules that apply pass."""
    applicable = [result for result in results if result.status != "not-applicable"]
    passed = sum(result.status == "pass" for result in applicable)
    if not applicable:
        return Text("-", style="dim")
    if held := sum(result.status == "held" for result in applicable):
        return Text(f"{held} held so far of {len(applicable)}", style="magenta")
    good = passed == len(applicable)
    return Text(f"{passed}/{len(applicable)}", style="green" if good else "red")
