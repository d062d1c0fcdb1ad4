"""What is said of a single run."""

from collections.abc import Mapping

import click
from rich.text import Text

from asyncwait.conformance._commands._shared import console, worst
from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.judging import judge
from asyncwait.conformance.report import besides, describe_scenario, draw, printed
from asyncwait.conformance.running import Broken
from asyncwait.conformance.verdict import Case, Word
from asyncwait.spec.rules import Rule
from asyncwait.spec.scenario import Trace


def show_run(
    case: Case, run: Trace | Broken, by: Mapping[str, Rule], exceptions: Mapping[str, str]
) -> Word:
    """Print one run of `case`, and which of the rules in `by` it breaks; return its verdict.

    Only a MUST that is no declared exception speaks against it, as in a verdict.
    """
    if isinstance(run, Broken):
        return _show_broken(run)
    judged = judge(case.scenario, run, {rule: CHECKS[rule] for rule in by})
    if judged.error:
        return _show_broken(Broken(judged.error))
    out = console()
    found = [(by[rule], violation) for rule, violation in judged.violations()]
    shown = found[0][1] if found else None
    first, *others = describe_scenario(case.scenario)
    for line in (f"{case.id}: {first}", *others, *draw(case.scenario, run, shown), *besides(run)):
        out.print(Text(line), soft_wrap=True)
    if run.self_reported:
        out.print("self-reported: these are the words of whoever wrote the trace")
    words: list[Word] = []
    for rule, violation in found:
        excused = exceptions.get(rule.id)
        note = f" (a known exception: {excused})" if excused else ""
        level = "" if rule.level == "MUST" else f" ({rule.level})"
        said = f"{rule.id} broken{level}: {rule.sentence} {violation.text}{note}"
        out.print(Text(said), soft_wrap=True)
        if rule.level == "MUST":
            words.append("conformant with exceptions" if excused else "not conformant")
    broken_checks = [f"{rule}: {j.error}" for rule, j in judged.by_rule.items() if j.error]
    words.extend(_show_broken(Broken(text)) for text in broken_checks)
    if not found and not broken_checks:
        out.print("no rule is broken")
    return worst(words)


def _show_broken(run: Broken) -> Word:
    for line in (f"error: {run.text}", *printed(run.output)):
        click.echo(line, err=True)
    return "inconclusive"
