"""The subcommands of `asyncwait`."""

import sys
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path

import click
import msgspec
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from asyncwait.conformance._guard import GuardedGroup
from asyncwait.conformance._shrink import SHRINK_SECONDS
from asyncwait.conformance._verify import Coverage, Stage, verify
from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.generation import FULL, QUICK
from asyncwait.conformance.judging import judge
from asyncwait.conformance.report import describe_scenario, draw, print_report
from asyncwait.conformance.running import (
    REAL_SECONDS,
    Broken,
    adapted,
    broken_families,
    checked,
    exec_reference,
    known_backends,
    load_backend,
    open_player,
    runs,
    shipped_backends,
)
from asyncwait.conformance.verdict import EXIT_CODES, USAGE_ERROR, Verdict, Word
from asyncwait.spec import AsyncWaitError, InvalidConfig
from asyncwait.spec.rules import Rule, rules
from asyncwait.spec.scenario import Scenario, Trace, scenarios_from_json, trace_from_json

SHRINKING = f"shrinking failures, for {SHRINK_SECONDS:g} s at most"

WORST_FIRST: tuple[Word, ...] = (
    "not conformant",
    "inconclusive",
    "conformant with exceptions",
    "conformant",
)


@click.group(cls=GuardedGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="asyncwait")
def asyncwait() -> None:
    """Hold operators for asynchronous I/O on streams to their specification."""


@asyncwait.command("verify")
@click.argument("backends", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Verify every backend that is shipped.")
@click.option(
    "--exec", "program", metavar="COMMAND", help="Verify a program that speaks JSON lines."
)
@click.option("--full", is_flag=True, help=f"{FULL} generated scenarios instead of {QUICK}.")
@click.option("--count", type=click.IntRange(1), help="Exactly so many generated scenarios.")
@click.option("--rule", "only", multiple=True, metavar="ID", help="Judge by this rule only.")
@click.option("--seed", default=0, show_default=True, help="Of the generated scenarios.")
@click.option(
    "--no-shrink",
    is_flag=True,
    help="Show failures of generated scenarios as they are. Else smaller ones are looked for, "
    f"for {SHRINK_SECONDS:g} seconds at most.",
)
@click.option(
    "--patience",
    default=REAL_SECONDS,
    show_default=True,
    help="Seconds after which a scenario that blocks its loop is ended.",
)
def verify_command(
    backends: tuple[str, ...],
    every: bool,
    program: str | None,
    full: bool,
    count: int | None,
    only: tuple[str, ...],
    seed: int,
    no_shrink: bool,
    patience: float,
) -> None:
    """Play the suite on BACKENDS and judge every run by every rule.

    A backend is a name (see `asyncwait backends`) or module:callable.

    Exit code: 0 conformant (exceptions included), 1 not conformant, 2 wrong usage, 3 inconclusive.
    """
    names = (*backends, *(n for n in shipped_backends() if every and n not in backends))
    if program is not None:
        names = (*names, exec_reference(program))
    if not names:
        raise click.UsageError("name a backend, or give --all; see: asyncwait backends")
    plan = Coverage(
        count or (FULL if full else QUICK), seed, only, shrinks=not no_shrink, patience=patience
    )
    with _usage_errors():
        for name in names:
            load_backend(name)
        verdicts = [_verify_with_progress(name, plan) for name in names]
    print_report(verdicts, _console())
    sys.exit(EXIT_CODES[_worst(verdict.word for verdict in verdicts)])


@asyncwait.command("backends")
def backends_command() -> None:
    """List the backends that are installed."""
    for name in sorted(known_backends()):
        click.echo(name)
    for name, why in broken_families().items():
        click.echo(f"{name}: can't be loaded: {why}", err=True)


@asyncwait.command("rules")
@click.argument("wanted", nargs=-1, metavar="[ID]...")
def rules_command(wanted: tuple[str, ...]) -> None:
    """List the rules, or show those with ID whole."""
    known = rules()
    unknown = [rule for rule in wanted if rule not in known]
    if unknown:
        raise click.UsageError(f"no rule {unknown[0]!r}; see: asyncwait rules")
    for rule in known.values():
        if not wanted:
            click.echo(f"{rule.id:8} {rule.level:6} {rule.title}")
        elif rule.id in wanted:
            click.echo(f"{rule.id} {rule.title}\n{rule.level}, since {rule.since}\n")
            click.echo(f"{rule.sentence}\n\nWhy: {rule.why}\n\nSource: {rule.source}\n")


@asyncwait.command("play")
@click.argument("backend")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def play_command(backend: str, file: Path) -> None:
    """Play the scenarios in FILE (a JSON list) on BACKEND; draw and judge each.

    They are adapted to what BACKEND can do, and judged as `asyncwait verify` judges them.
    """
    with _usage_errors():
        loaded = load_backend(backend)
        capabilities = loaded.capabilities
        scenarios = [adapted(s, capabilities) for s in scenarios_from_json(file.read_bytes())]
        with open_player(backend, loaded, REAL_SECONDS) as play:
            played = list(runs(play, scenarios))
    by = {name: rule for name, rule in rules().items() if rule.needs <= capabilities}
    words: list[Word] = []
    for scenario, run in zip(scenarios, played, strict=False):
        words.append(_show_run(scenario, run, by, loaded.exceptions))
    words.extend(_show_broken(run) for run in played[len(scenarios) :])
    sys.exit(EXIT_CODES[_worst(words)])


@asyncwait.command("judge")
@click.argument("scenario", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("trace", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def judge_command(scenario: Path, trace: Path) -> None:
    """Judge a TRACE that a program wrote of a SCENARIO (both JSON; the scenario in a list).

    Nobody knows who wrote it: it is judged as the program's own words, by all rules.
    """
    with _usage_errors():
        planned = _only(scenarios_from_json(scenario.read_bytes()))
        observed = trace_from_json(trace.read_bytes())
    told = msgspec.structs.replace(observed, self_reported=True)
    sys.exit(EXIT_CODES[_show_run(planned, checked(planned, told), rules(), {})])


@contextmanager
def _usage_errors() -> Generator[None]:
    """Turn errors that a user can mend into one line and exit code 2."""
    try:
        yield
    except AsyncWaitError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(USAGE_ERROR)


def _verify_with_progress(name: str, plan: Coverage) -> Verdict:
    console = Console(stderr=True)
    if not console.is_terminal:
        return _verify_with_lines(name, plan)
    text = TextColumn("{task.description:18}")
    columns = (text, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        bars: dict[Stage, TaskID] = {"judged": progress.add_task(name, total=None)}

        def show(stage: Stage, done: int, of: int) -> None:
            if stage not in bars:
                bars[stage] = progress.add_task(SHRINKING)
            progress.update(bars[stage], completed=done, total=of)

        return verify(name, plan, show)


def _verify_with_lines(name: str, plan: Coverage) -> Verdict:
    """Say something now and then where there is no terminal to draw on."""
    said = -1

    def say(stage: Stage, done: int, of: int) -> None:
        nonlocal said
        quarter = 4 * done // of if of else 4
        if stage == "judged" and quarter > said:
            said = quarter
            click.echo(f"{name}: {done} of {of} scenarios judged", err=True)
        elif stage == "shrunk" and of and not done:
            click.echo(f"{name}: {SHRINKING}: of {of} rules", err=True)

    return verify(name, plan, say)


def _console() -> Console:
    """Return where reports go: as wide as the terminal, and wide enough for a log without one."""
    console = Console()
    return console if console.is_terminal else Console(width=120)


def _only(scenarios: tuple[Scenario, ...]) -> Scenario:
    if len(scenarios) != 1:
        raise InvalidConfig.of("scenario", len(scenarios), "one in a list")
    return scenarios[0]


def _worst(words: Iterable[Word]) -> Word:
    """Return the worst of `words`; where there is none, nothing speaks against anybody."""
    found = set(words)
    return next(word for word in WORST_FIRST if word in {"conformant", *found})


def _show_run(
    scenario: Scenario, run: Trace | Broken, by: Mapping[str, Rule], exceptions: Mapping[str, str]
) -> Word:
    """Print one run and which of the rules in `by` it breaks; return what it says of its operator.

    Only a MUST that is no declared exception speaks against it, as in a verdict.
    """
    if isinstance(run, Broken):
        return _show_broken(run)
    judged = judge(scenario, run, CHECKS)
    if judged.error:
        return _show_broken(Broken(judged.error))
    console = _console()
    found = [(by[rule], violation) for rule, violation in judged.violations() if rule in by]
    shown = found[0][1] if found else None
    for line in (*describe_scenario(scenario), *draw(scenario, run, shown)):
        console.print(Text(line), soft_wrap=True)
    if run.self_reported:
        console.print("self-reported: these are the words of whoever wrote the trace")
    words: list[Word] = []
    for rule, violation in found:
        excused = exceptions.get(rule.id)
        note = f" (a known exception: {excused})" if excused else ""
        level = "" if rule.level == "MUST" else f" ({rule.level})"
        said = f"{rule.id} broken{level}: {rule.sentence} {violation.text}{note}"
        console.print(Text(said))
        if rule.level == "MUST":
            words.append("conformant with exceptions" if excused else "not conformant")
    broken_checks = [f"{rule}: {j.error}" for rule, j in judged.by_rule.items() if j.error]
    words.extend(_show_broken(Broken(text)) for text in broken_checks)
    if not found and not broken_checks:
        console.print("no rule is broken")
    return _worst(words)


def _show_broken(run: Trace | Broken) -> Word:
    click.echo(f"error: {run.text if isinstance(run, Broken) else run}", err=True)
    return "inconclusive"


__all__ = ["asyncwait"]
