"""What is said of a single run."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from asyncwait.conformance._commands._shared import console
from asyncwait.conformance._gate import Gate, gate_of
from asyncwait.conformance._say import say
from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.expected_failures import ExpectedFailures, Sorted, sort_out
from asyncwait.conformance.expected_failures.file import Held, settle
from asyncwait.conformance.judging import judge
from asyncwait.conformance.report import besides, describe_scenario, draw, printed
from asyncwait.conformance.running import Broken
from asyncwait.conformance.verdict import Case, Word, worst
from asyncwait.spec.rules import Rule, rules
from asyncwait.spec.scenario import Trace


def gate_of_one(backend: str) -> Gate:
    """Return what a backend is held to; who plays single runs may have no such file yet.

    Raises:
        InvalidConfig: the project's file or that of the expected failures is wrong.
    """
    return gate_of([backend], Path.cwd(), creates=True)


def show_runs(
    cases: Sequence[Case], runs: Sequence[Trace | Broken], backend: Held, gate: Gate
) -> Word:
    """Print one run of each case; return the worst verdict.

    Raises:
        InvalidConfig: what is said of the backend from outside contradicts it.
    """
    by = {name: rule for name, rule in rules().items() if rule.applies_to(backend.capabilities)}
    expected_failures = settle(
        gate.terms(backend.name), backend, rules(), rules()
    ).expected_failures
    pairs = zip(cases, runs, strict=True)
    words: list[Word] = [show_run(case, run, by, expected_failures) for case, run in pairs]
    return worst(words)


def show_run(
    case: Case, run: Trace | Broken, by: Mapping[str, Rule], expected_failures: ExpectedFailures
) -> Word:
    """Print one run of `case`, and which of the rules in `by` it breaks; return its verdict.

    Only a MUST that is no expected failure speaks against it, as in a verdict.
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
        say(line, out)
    if run.self_reported:
        say("self-reported: these are the words of whoever wrote the trace", out)
    said = sort_out(case.scenario, dict(judged.violations()), expected_failures)
    words: list[Word] = []
    for rule, violation in found:
        level = "" if rule.level == "MUST" else f" ({rule.level})"
        line = f"{rule.id} broken{level}: {rule.sentence} {violation.text}{_note(rule.id, said)}"
        say(line, out)
        if rule.level == "MUST":
            expected = rule.id not in said.findings
            words.append("conformant with expected failures" if expected else "not conformant")
    broken_checks = [f"{rule}: {j.error}" for rule, j in judged.by_rule.items() if j.error]
    words.extend(_show_broken(Broken(text)) for text in broken_checks)
    if not found and not broken_checks:
        say("no rule is broken", out)
    return worst(words)


def _note(rule: str, said: Sorted) -> str:
    """Return what is to be added where a rule is broken that does not count."""
    if rule in said.known:
        return f" (an expected failure: {'; '.join(said.known[rule])})"
    return "" if rule in said.findings else " (it may follow from what is known)"


def _show_broken(run: Broken) -> Word:
    for line in (f"error: {run.text}", *printed(run.output)):
        say(line, err=True)
    return "inconclusive"
