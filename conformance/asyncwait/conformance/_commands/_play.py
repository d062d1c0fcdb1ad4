"""Subcommands that look at single runs: `play`, `judge`."""

import sys
from collections.abc import Mapping
from pathlib import Path

import click
import msgspec
from rich.text import Text

from asyncwait.conformance._commands._group import asyncwait
from asyncwait.conformance._commands._shared import console, usage_errors, worst
from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.judging import judge
from asyncwait.conformance.report import describe_scenario, draw
from asyncwait.conformance.running import Broken, adapted, checked, open_backend
from asyncwait.conformance.verdict import EXIT_CODES, Word
from asyncwait.spec import InvalidConfig
from asyncwait.spec.rules import Rule, rules
from asyncwait.spec.scenario import Scenario, Trace, scenarios_from_json, trace_from_json


@asyncwait.command("play")
@click.argument("backend")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def play_command(backend: str, file: Path) -> None:
    """Play the scenarios in FILE (a JSON list) on BACKEND; draw and judge each.

    They are adapted to what BACKEND can do, and judged as `asyncwait verify` judges them.
    """
    with usage_errors():
        planned = scenarios_from_json(file.read_bytes())
        with open_backend(backend, folder=str(Path.cwd())) as loaded:
            capabilities = loaded.capabilities
            scenarios = [adapted(scenario, capabilities) for scenario in planned]
            played = list(loaded.play(scenarios))
    by = {name: rule for name, rule in rules().items() if rule.applies_to(capabilities)}
    pairs = zip(scenarios, played, strict=True)
    words: list[Word] = [_show_run(s, run, by, loaded.exceptions) for s, run in pairs]
    sys.exit(EXIT_CODES[worst(words)])


@asyncwait.command("judge")
@click.argument("scenario", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("trace", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def judge_command(scenario: Path, trace: Path) -> None:
    """Judge a TRACE that a program wrote of a SCENARIO (both JSON; the scenario in a list).

    Nobody knows who wrote it: it is judged as the program's own words, by all rules.
    """
    with usage_errors():
        planned = _only(scenarios_from_json(scenario.read_bytes()))
        observed = trace_from_json(trace.read_bytes())
    told = msgspec.structs.replace(observed, self_reported=True)
    sys.exit(EXIT_CODES[_show_run(planned, checked(planned, told), rules(), {})])


def _only(scenarios: tuple[Scenario, ...]) -> Scenario:
    if len(scenarios) != 1:
        raise InvalidConfig.of("scenario", len(scenarios), "one in a list")
    return scenarios[0]


def _show_run(
    scenario: Scenario, run: Trace | Broken, by: Mapping[str, Rule], exceptions: Mapping[str, str]
) -> Word:
    """Print one run and which of the rules in `by` it breaks; return what it says of its operator.

    Only a MUST that is no declared exception speaks against it, as in a verdict.
    """
    if isinstance(run, Broken):
        return _show_broken(run)
    judged = judge(scenario, run, {rule: CHECKS[rule] for rule in by})
    if judged.error:
        return _show_broken(Broken(judged.error))
    out = console()
    found = [(by[rule], violation) for rule, violation in judged.violations()]
    shown = found[0][1] if found else None
    for line in (*describe_scenario(scenario), *draw(scenario, run, shown)):
        out.print(Text(line), soft_wrap=True)
    if run.self_reported:
        out.print("self-reported: these are the words of whoever wrote the trace")
    words: list[Word] = []
    for rule, violation in found:
        excused = exceptions.get(rule.id)
        note = f" (a known exception: {excused})" if excused else ""
        level = "" if rule.level == "MUST" else f" ({rule.level})"
        said = f"{rule.id} broken{level}: {rule.sentence} {violation.text}{note}"
        out.print(Text(said))
        if rule.level == "MUST":
            words.append("conformant with exceptions" if excused else "not conformant")
    broken_checks = [f"{rule}: {j.error}" for rule, j in judged.by_rule.items() if j.error]
    words.extend(_show_broken(Broken(text)) for text in broken_checks)
    if not found and not broken_checks:
        out.print("no rule is broken")
    return worst(words)


def _show_broken(run: Broken) -> Word:
    click.echo(f"error: {run.text}", err=True)
    return "inconclusive"
