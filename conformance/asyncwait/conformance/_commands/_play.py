"""Subcommand `play`: repeat a run in this process or another, shrink it, or judge a file."""

import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import click
import msgspec
from rich.console import Console

from asyncwait.conformance._commands._group import (
    any_case,
    asyncwait,
    console,
    refuse_contradictions,
    usage_errors,
)
from asyncwait.conformance._commands._here import Here, Watcher, ended_by_debugger, open_here
from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.evidence import describe_scenario
from asyncwait.conformance.expected_failures import ExpectedFailures, moment_of, sort_out
from asyncwait.conformance.harness import heard_by
from asyncwait.conformance.judging import judge
from asyncwait.conformance.report import besides, file_bytes, printed, say
from asyncwait.conformance.running import Broken, Served, adapted, checked, open_backend
from asyncwait.conformance.timeline import draw
from asyncwait.conformance.verdict import EXIT_CODES, Case, Failure, Word, failures_of, worst
from asyncwait.conformance.verifying import (
    Described,
    Gate,
    Search,
    chosen,
    find_scenarios,
    gate_of,
    keep,
    settle,
    trials,
)
from asyncwait.spec import InvalidConfig
from asyncwait.spec.rules import Rule, rules, rules_for
from asyncwait.spec.scenario import (
    Scenario,
    Trace,
    scenarios_to_json,
    size_of,
    trace_from_json,
)
from asyncwait.spec.texts import counted, json_text


def gate_of_one(backend: str) -> Gate:
    """Return the terms of a backend; for single runs, the file of expected failures may be missing.

    Raises:
        InvalidConfig: the project's file or the file of expected failures is wrong.
    """
    return gate_of([backend], Path.cwd(), creates=True)


def show_runs(runs: Sequence[tuple[Case, Trace | Broken]], backend: Described, gate: Gate) -> Word:
    """Print one run of each case; return the worst verdict.

    Raises:
        InvalidConfig: the project's terms for the backend contradict the backend's own.
    """
    by = rules_for(backend.capabilities)
    expected_failures = settle(gate.terms(backend.name), backend, rules()).expected_failures
    return worst([show_run(case, run, by, expected_failures) for case, run in runs])


def show_run(
    case: Case, run: Trace | Broken, by: Mapping[str, Rule], expected_failures: ExpectedFailures
) -> Word:
    """Print one run of `case`, and the rules in `by` that it breaks; return its verdict.

    As in a verdict, only a broken MUST that is no expected failure counts against the case.
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
        say("self-reported: the program that wrote the trace is not watched", out)
    called = (case.id, *(each.name for each in EXAMPLES if each.scenario == case.planned))
    said = sort_out(dict(judged.violations()), expected_failures, called)
    words: list[Word] = []
    for rule, violation in found:
        level = "" if rule.level == "MUST" else f" ({rule.level})"
        note = "" if rule.id in said.findings else " (it may follow from an expected failure)"
        if rule.id in said.known:
            note = f" (an expected failure: {'; '.join(said.known[rule.id])})"
        say(f"{rule.id} broken{level}: {rule.sentence} {violation.text}{note}", out)
        if rule.level == "MUST":
            expected = rule.id not in said.findings
            words.append("conformant with expected failures" if expected else "not conformant")
    broken_checks = [f"{rule}: {j.error}" for rule, j in judged.by_rule.items() if j.error]
    words.extend(_show_broken(Broken(text)) for text in broken_checks)
    if not found and not broken_checks:
        say("no rule is broken", out)
    return worst(words)


def _show_broken(run: Broken) -> Word:
    for line in (f"error: {run.text}", *printed(run.output)):
        say(line, err=True)
    return "inconclusive"


def judge_one(planned: Scenario, file: Path) -> Word:
    """Draw and judge the trace in a file; return the verdict.

    Any program may have written the file, so the trace counts as self-reported.

    Raises:
        InvalidConfig: the file can't be read, or holds no trace.
    """
    try:
        observed = trace_from_json(file_bytes(file))
    except OSError as error:
        raise InvalidConfig(f"--judge {file}: {error.strerror}") from error
    told = msgspec.structs.replace(observed, self_reported=True)
    return show_run(Case("", planned, planned), checked(planned, told), rules(), {})


_ELSEWHERE = (
    "its events are recorded in other processes or on another machine: none could be "
    "printed while it happened"
)


def _played(
    backend: Served | Here, planned: Sequence[Scenario]
) -> list[tuple[Case, Trace | Broken]]:
    cases = [Case("", each, adapted(each, backend.capabilities)) for each in planned]
    return list(zip(cases, backend.play([case.scenario for case in cases]), strict=True))


def play_here(name: str, planned: Sequence[Scenario], *, traces: bool) -> Word:
    """Play scenarios in this process, for a debugger; draw and judge them, return the verdict.

    Raises:
        InvalidConfig: the backend is a program, or the project's file is wrong.
    """
    gate = gate_of_one(name)
    backend = open_here(name, folder=gate.folder(name))
    watcher = Watcher(say, tells=traces)
    with heard_by(watcher), watcher.interruptible(), ended_by_debugger():
        played = _played(backend, planned)
    legs = [leg for _, run in played if isinstance(run, Trace) for leg in run.legs]
    if traces and not watcher.heard and any(leg.events for leg in legs):
        say(_ELSEWHERE, err=True)
    return show_runs(played, backend, gate)


def _play_apart(name: str, planned: Sequence[Scenario]) -> Word:
    gate = gate_of_one(name)
    with open_backend(name, folder=gate.folder(name)) as backend:
        played = _played(backend, planned)
    return show_runs(played, backend, gate)


SECONDS = 60.0
"""Default time for shrinking."""


def shrink_one(name: str, planned: Scenario, wanted: str | None, seconds: float) -> Word:
    """Make a scenario smaller; draw and judge the smallest, save it, and return its verdict.

    Args:
        name: of the backend.
        planned: a scenario that breaks a rule on it.
        wanted: the id of the rule that stays broken; None for the first broken rule.
        seconds: time for the search.

    Raises:
        InvalidConfig: the scenario breaks no rule on the backend, or not the wanted rule.
    """
    if wanted is not None:
        chosen("rule", (wanted,))
    with open_backend(name, folder=str(Path.cwd())) as backend:
        shrinking = _Shrinking(backend, seconds)
        first = shrinking.failures(planned)
        if isinstance(first, Broken):
            say(f"error: {first.text}", err=True)
            return "inconclusive"
        rule = _rule_of(first, wanted, name)
        smallest = shrinking.smallest(rule, first[rule])
    case = smallest.case
    word = show_run(case, smallest.trace, shrinking.by, backend.expected_failures)
    before, after = (size_of(each)[0] for each in (planned, case.planned))
    how = shrinking.cut or "nothing more can be left out"
    say(f"{before:,} characters of JSON before, {after:,} now; {shrinking.tried:,} tried; {how}")
    click.echo(json_text(scenarios_to_json((case.planned,))))
    if case.id in keep([case.planned]):
        say(f"again: asyncwait play {shlex.quote(name)} {case.id} --trace")
    return word


def _rule_of(failures: Mapping[str, Failure], wanted: str | None, backend: str) -> str:
    """Return the rule that is to stay broken: by default the first, preferably a MUST."""
    if wanted is not None and wanted not in failures:
        broken = f"it breaks {', '.join(failures)}" if failures else "it breaks no rule"
        raise InvalidConfig(f"{wanted} is not broken by this scenario on {backend}: {broken}")
    if not failures:
        raise InvalidConfig(f"this scenario breaks no rule on {backend}: it can't be shrunk")
    known = rules()
    return wanted or min(
        failures, key=lambda r: (known[r].level != "MUST", moment_of(failures[r].violation))
    )


class _Shrinking:
    """Plays smaller and smaller scenarios for at most `seconds`.

    Attributes:
        cut: why the search ended early; empty if it tried every reduction.
    """

    def __init__(self, backend: Served, seconds: float) -> None:
        self.by = rules_for(backend.capabilities)
        self.tried = 0
        self.cut = ""
        self._play = backend.play
        self._fitting = partial(adapted, capabilities=backend.capabilities)
        self._seconds = seconds
        self._ends = 0.0
        self._status = Console(stderr=True).status("")

    def failures(self, planned: Scenario) -> Mapping[str, Failure] | Broken:
        """Play a scenario; return its failures by the id of the rule, or why they are unknown."""
        case = Case("", planned, self._fitting(planned), generated=True)
        (run,) = self._play([case.scenario])
        return run if isinstance(run, Broken) else self._broken(case, run)

    def smallest(self, rule: str, failure: Failure) -> Failure:
        self._ends = time.monotonic() + self._seconds
        search = Search(trials(self._play, self._fitting, self._broken), self._is_over)
        try:
            with self._status:
                return search.smallest(rule, failure)
        except KeyboardInterrupt:
            self.cut = "interrupted"
            return search.best(rule)

    def _broken(self, case: Case, run: Trace) -> Mapping[str, Failure]:
        self.tried += self._ends > 0
        judged = judge(case.scenario, run, {rule: CHECKS[rule] for rule in self.by})
        return failures_of(case, run, judged)

    def _is_over(self) -> bool:
        """Whether the time is over; called after each run."""
        self._status.update(f"{counted(self.tried, 'smaller scenario')} tried")
        if time.monotonic() > self._ends:
            self.cut = f"the time is over: --seconds {2 * self._seconds:g} may find more"
        return bool(self.cut)


@asyncwait.command("play")
@click.argument("backend")
@click.argument("scenario", required=False)
@click.option(
    "--here",
    is_flag=True,
    help="Play in the process of this command: breakpoint() works, and what the operator prints "
    "comes out at once. A scenario that blocks goes on until you press Ctrl-C, which shows where "
    "its tasks stand.",
)
@click.option(
    "--trace", "traces", is_flag=True, help="Like --here, and print each event when it happens."
)
@click.option(
    "--shrink",
    "shrinks",
    is_flag=True,
    help="Make a SCENARIO that breaks a rule smaller, until each part of it is needed. The result "
    "is kept under its id.",
)
@click.option(
    "--rule",
    type=any_case,
    metavar="ID",
    help="With --shrink: the rule that stays broken; by default the first broken one.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(0, min_open=True),
    help=f"With --shrink: how long to look, {SECONDS:g} by default. Ctrl-C ends it earlier and "
    "shows the smallest scenario so far.",
)
@click.option(
    "--judge",
    "trace",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="TRACE",
    help="Judge the trace that a program wrote into this file, by all rules, and play nothing. "
    "Give no BACKEND then.",
)
@click.option(
    "--json",
    "file",
    type=click.Path(dir_okay=False, writable=True, allow_dash=True),
    metavar="FILE",
    help="Write the scenarios into FILE as JSON (- is standard output), and play nothing.",
)
def play_command(
    backend: str,
    scenario: str | None,
    here: bool,
    traces: bool,
    shrinks: bool,
    rule: str | None,
    seconds: float | None,
    trace: Path | None,
    file: str | None,
) -> None:
    """Play SCENARIO on BACKEND once more; draw and judge what happens.

    SCENARIO is the id of a scenario that failed, the name of an example, a file, - for standard
    input, or the JSON of a scenario itself. A file may hold a list of scenarios; they are played
    one after the other.

    An id is known if an example has it, or if the scenario has failed in a verification in
    the present folder, which keeps the last ones in .asyncwait. From a log of another machine copy
    the whole command, with the JSON.

    The scenario is adapted to the capabilities of BACKEND and judged as `asyncwait verify` judges
    it, with the expected failures that [tool.asyncwait] of pyproject.toml names.

    Exit code: 0 conformant (expected failures included), 1 not conformant, 2 wrong usage (nothing
    to shrink, too), 3 inconclusive, 130 no verdict, because Ctrl-C or leaving the debugger has
    ended the run.
    """
    others = {"--shrink": shrinks, "--judge": trace is not None, "--json": file is not None}
    refuse_contradictions(**{"--trace" if traces else "--here": here or traces}, **others)
    if not shrinks and (rule is not None or seconds is not None):
        raise click.UsageError("--rule and --seconds say how to shrink: give --shrink, too")
    if trace is not None and scenario is not None:
        raise click.UsageError("--judge plays nothing: name the scenario, and no backend")
    if trace is None and scenario is None:
        raise click.UsageError("name a backend and a scenario")
    with usage_errors():
        planned = find_scenarios(scenario or backend)
        if file is not None:
            try:
                with click.open_file(file, "wb") as opened:
                    opened.write(json_text(scenarios_to_json(planned)).encode() + b"\n")
            except OSError as error:
                raise click.UsageError(f"--json {file}: {error.strerror}") from error
            return
        if trace is not None:
            word = judge_one(_only(planned), trace)
        elif shrinks:
            word = shrink_one(backend, _only(planned), rule, seconds or SECONDS)
        elif here or traces:
            word = play_here(backend, planned, traces=traces)
        else:
            word = _play_apart(backend, planned)
    sys.exit(EXIT_CODES[word])


def _only(planned: Sequence[Scenario]) -> Scenario:
    if len(planned) != 1:
        raise InvalidConfig.of("scenario", len(planned), "one, not a list of several")
    return planned[0]
