"""What a verification prints: a table of areas by backend, verdicts, failures as timelines."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from asyncwait.conformance.report._timeline import describe_scenario, draw
from asyncwait.conformance.verdict import Failure, RuleResult, Status, Verdict
from asyncwait.spec.rules import areas

SHOWN = 5
"""Rules whose failures are drawn; the others are named."""

_STYLES = {
    "conformant": "bold green",
    "conformant with exceptions": "bold yellow",
    "not conformant": "bold red",
    "inconclusive": "bold magenta",
}


def print_report(verdicts: Sequence[Verdict], console: Console) -> None:
    """Print failures first, then the table, then one line for each backend."""
    for verdict in verdicts:
        for line in failure_lines(verdict):
            console.print(Text(line), soft_wrap=True)
    console.print(area_table(verdicts))
    for verdict in verdicts:
        console.print(Text(verdict.line, style=_STYLES[verdict.word]), soft_wrap=True)


def area_table(verdicts: Sequence[Verdict]) -> Table:
    """Return the table: how many rules of each area pass, of those that apply."""
    table = Table(title="rules passed / applicable", title_justify="left")
    table.add_column("area", no_wrap=True, overflow="ellipsis")
    for verdict in verdicts:
        table.add_column(verdict.backend, justify="right")
    for area in areas().values():
        table.add_row(f"{area.id}  {area.title}", *(_cell(v, area.id) for v in verdicts))
    table.add_section()
    table.add_row("scenarios", *(str(verdict.scenarios) for verdict in verdicts))
    table.add_row("seconds", *(f"{verdict.seconds:.1f}" for verdict in verdicts))
    table.add_row("verdict", *(Text(v.word, style=_STYLES[v.word]) for v in verdicts))
    return table


def _cell(verdict: Verdict, area: str) -> Text:
    results = [result for result in verdict.results if result.rule.area == area]
    applicable = [result for result in results if result.status != "not-applicable"]
    passed = sum(result.status == "pass" for result in applicable)
    if not applicable:
        return Text("-", style="dim")
    if held := sum(result.status == "held" for result in applicable):
        return Text(f"{held} held so far of {len(applicable)}", style="magenta")
    good = passed == len(applicable)
    return Text(f"{passed}/{len(applicable)}", style="green" if good else "red")


def failure_lines(verdict: Verdict) -> Iterator[str]:
    """Yield the lines that tell what is wrong, the easiest failure of each rule drawn."""
    failed = [result for result in verdict.results if result.status in {"fail", "unexpected-pass"}]
    for number, result in enumerate(failed):
        if number == SHOWN:
            rest = ", ".join(result.rule.id for result in failed[SHOWN:])
            yield f"{verdict.backend}: also broken: {rest}; see one with --rule ID"
            break
        yield from rule_lines(verdict.backend, result)
    for error in verdict.errors[:SHOWN]:
        yield f"{verdict.backend}: error: {error}"
    if len(verdict.errors) > SHOWN:
        yield f"{verdict.backend}: and {len(verdict.errors) - SHOWN} more errors"
    if verdict.stopped:
        yield f"{verdict.backend}: stopped: {verdict.stopped}"
    yield from _undecided(verdict)


def _undecided(verdict: Verdict) -> Iterator[str]:
    """Yield a line for each reason why rules are not decided, and for which they are."""
    rules: dict[tuple[Status, str], list[str]] = {}
    for result in verdict.results:
        if result.status in {"error", "untested", "blocked"}:
            note = "" if result.note == verdict.stopped else f" ({result.note})"
            rules.setdefault((result.status, note), []).append(result.rule.id)
    for (status, note), ids in rules.items():
        yield f"{verdict.backend}: {status}{note}: {', '.join(ids)}"


def rule_lines(backend: str, result: RuleResult) -> Iterator[str]:
    """Yield the failure of one rule: its sentence, the scenario, what happened."""
    rule = result.rule
    yield f"{backend}: {rule.id} {rule.title}: {result.status} in {result.broken} scenarios"
    yield f"  {rule.level}: {rule.sentence}"
    if result.failures:
        yield from (f"  {line}" for line in drawn(result.failures[0]))
    yield ""


def drawn(failure: Failure) -> Iterator[str]:
    """Yield the scenario of a failure and its timeline."""
    yield f"{failure.case.name}: {failure.violation.text} (at {failure.violation.at:g} ms)"
    yield from describe_scenario(failure.case.scenario)
    yield from draw(failure.case.scenario, failure.trace, failure.violation)
