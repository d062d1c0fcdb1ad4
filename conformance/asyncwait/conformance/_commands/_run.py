"""What is said of a single run, played here or judged from a file."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from asyncwait.conformance._commands._shared import console
from asyncwait.conformance._gate import Gate, gate_of
from asyncwait.conformance._guard import INTERRUPTED, say
from asyncwait.conformance._playing_here import DebuggerLeft, Watcher, ended_by_debugger, open_here
from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.expected_failures import ExpectedFailures, Sorted, sort_out
from asyncwait.conformance.expected_failures.file import Held, settle
from asyncwait.conformance.harness import heard_by
from asyncwait.conformance.judging import judge
from asyncwait.conformance.report import besides, describe_scenario, draw, printed
from asyncwait.conformance.running import Broken, adapted, checked
from asyncwait.conformance.verdict import Case, Word, worst
from asyncwait.spec import InvalidConfig
from asyncwait.spec.rules import Rule, rules
from asyncwait.spec.scenario import Scenario, Trace, trace_from_json


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


def judge_one(planned: Scenario, file: Path) -> Word:
    """Draw and judge the trace in a file; return the verdict.

    Any program may have written the file, so that the trace counts as self-reported.

    Raises:
        InvalidConfig: the file can't be read, or holds no trace.
    """
    try:
        observed = trace_from_json(file.read_bytes())
    except OSError as error:
        raise InvalidConfig(f"--judge {file}: {error.strerror}") from error
    told = msgspec.structs.replace(observed, self_reported=True)
    return show_run(Case("", planned, planned), checked(planned, told), rules(), {})


_ELSEWHERE = (
    "its events are recorded in other processes or on another machine: none could be told "
    "while it happened"
)


def play_here(backend: str, planned: Sequence[Scenario], *, traces: bool) -> Word:
    """Play scenarios in this process, for a debugger; draw and judge them, return the verdict.

    Raises:
        InvalidConfig: the backend is a program, or what the project's file says of it is wrong.
    """
    gate = gate_of_one(backend)
    with open_here(backend, folder=gate.folder(backend)) as opened:
        cases = [Case("", each, adapted(each, opened.capabilities)) for each in planned]
        watcher = Watcher(_say, tells=traces)
        try:
            with heard_by(watcher), watcher.interruptible(), ended_by_debugger():
                played = list(opened.play([case.scenario for case in cases]))
        except DebuggerLeft:
            say("stopped by the debugger: no verdict", err=True)
            sys.exit(INTERRUPTED)
    if traces and not watcher.heard and _has_events(played):
        say(_ELSEWHERE, err=True)
    return show_runs(cases, played, opened, gate)


def _say(line: str) -> None:
    say(line)
    sys.stdout.flush()


def _has_events(played: Sequence[Trace | Broken]) -> bool:
    return any(isinstance(run, Trace) and any(leg.events for leg in run.legs) for run in played)
