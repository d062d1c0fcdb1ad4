"""Subcommand `verify`: of backends, or of a task mailbox."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import NoReturn, Self, TypeVar

import click
from click.core import ParameterSource
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from asyncwait.conformance._commands._group import (
    any_case,
    asyncwait,
    console,
    jobs_option,
    patience_option,
    refuse_contradictions,
    say_written,
    told_by_quarters,
    usage_errors,
)
from asyncwait.conformance._commands._mailbox import verify_a_mailbox
from asyncwait.conformance.generation import FULL, QUICK
from asyncwait.conformance.mailbox import GENERATED
from asyncwait.conformance.report import (
    add_step_summary,
    clear_folder,
    file_bytes,
    now,
    print_report,
    report_of,
    say,
    write_report,
)
from asyncwait.conformance.running import (
    Served,
    exec_name,
    open_backend,
    shipped_backends,
)
from asyncwait.conformance.verdict import EXIT_CODES, Verdict, Word, worst
from asyncwait.conformance.verifying import (
    SHRINK_SECONDS,
    Coverage,
    Gate,
    Phase,
    Played,
    Terms,
    chosen,
    gate_of,
    keep,
    rules_of,
    settle,
    updated,
    verify_to_tell,
)
from asyncwait.spec import InvalidConfig, MissingExtra
from asyncwait.spec.mailbox.program import STAGES, Stage
from asyncwait.spec.texts import counted, name_of

_DO = "Mend that first, see the errors, and verify again"


SHRINKING = f"shrinking failures, for {SHRINK_SECONDS:g} s at most"


class Board:
    """The progress while backends are verified: bars on a terminal, a few lines in a log."""

    def __init__(self) -> None:
        text = TextColumn("{task.description:18}", markup=False)
        times = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
        console = Console(stderr=True)
        self._is_drawn = console.is_terminal
        self._bars = Progress(
            *(text, BarColumn(), MofNCompleteColumn(), *times), console=console, transient=True
        )

    def __enter__(self) -> Self:
        if self._is_drawn:
            self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_drawn:
            self._bars.stop()

    def verify(self, backend: Served, plan: Coverage, terms: Terms) -> Played:
        """Verify a backend, and show the progress."""
        tell = self._bar if self._is_drawn else self._lines
        return verify_to_tell(backend, plan, tell(name_of(backend.name)), terms=terms)

    def _bar(self, name: str) -> Callable[[Phase, int, int], None]:
        bars: dict[Phase, TaskID] = {"judged": self._bars.add_task(name, total=None)}

        def show(phase: Phase, done: int, of: int) -> None:
            if of and phase not in bars:
                bars[phase] = self._bars.add_task(SHRINKING)
            if of:
                self._bars.update(bars[phase], completed=done, total=of)

        return show

    def _lines(self, name: str) -> Callable[[Phase, int, int], None]:
        judged = told_by_quarters(
            lambda done, of: say(f"{name}: {done:,} of {counted(of, 'scenario')} judged", err=True)
        )

        def tell(phase: Phase, done: int, of: int) -> None:
            if phase == "judged":
                judged(done, of)
            elif of and not done:
                say(f"{name}: {SHRINKING}: of {counted(of, 'rule')}", err=True)

        return tell


def update_expected_failures(
    gate: Gate, played: Sequence[Played], left_out: Mapping[str, str]
) -> None:
    """Write the file of expected failures anew, and print the changes.

    Raises:
        InvalidConfig: the file can't be read or written.
    """
    assert gate.file is not None
    name = gate.file.name
    verdicts = [one.verdict for one in played]
    cuts = [
        f"{each.backend} was not played to its end: {each.stopped}"
        if each.stopped
        else f"nothing that {each.backend} did could be judged"
        for each in verdicts
        if each.stopped or not each.scenarios
    ]
    if cuts:
        so = "is left as it is" if gate.file.exists() else "is not written"
        say(f"{name} {so}: {'; '.join(cuts)}. {_DO}", err=True)
        return
    ours = gate.settings.backends if gate.settings and not gate.is_given else ()
    unseen = {each: "not verified here" for each in ours if each not in gate.names}
    try:
        text = file_bytes(gate.file).decode() if gate.file.exists() else ""
        update = updated(text, name, played, gate.day, {**left_out, **unseen})
        if update.text != text:
            gate.file.write_bytes(update.text.encode())
    except OSError as error:
        raise InvalidConfig(f"expected failures: {gate.file}: {error.strerror}") from error
    for line in update.lines or ("nothing to change",):
        say(f"{name}: {line}", err=True)


T = TypeVar("T")

_REPORT = "--report"
NO_BACKEND = (
    "name a backend, here or in [tool.asyncwait] of pyproject.toml, or give --all; "
    "see: asyncwait backends"
)

MOST_GENERATED = 1_000_000
"""Most scenarios of one run; for more, the user takes another seed."""


@asyncwait.command("verify")
@click.argument("backends", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Verify every backend that is shipped.")
@click.option(
    "--exec", "program", metavar="COMMAND", help="Verify a program that speaks JSON lines."
)
@click.option(
    "--mailbox",
    metavar="NAME",
    help="Verify a task mailbox, module:callable, by the rules of MBX. It is called with a loop "
    "and a default action and opens a mailbox and its processor, like "
    "asyncwait.reference:MailboxProcessor. Of the options, --count, --seed, --loop and "
    "--patience apply.",
)
@click.option(
    "--loop",
    "stages",
    multiple=True,
    type=click.Choice(STAGES),
    help="With --mailbox: play on asyncio or trio, with senders in tasks, or on threads, with "
    "senders in threads beside asyncio. May be given more than once; all of them by default.",
)
@click.option("--full", is_flag=True, help=f"{FULL} generated scenarios instead of {QUICK}.")
@click.option(
    "--count", type=click.IntRange(1, MOST_GENERATED), help="Number of generated scenarios."
)
@click.option(
    "--exhaustive",
    is_flag=True,
    help="Play every scenario of a small scope instead: up to three elements, one or two slots, "
    "one or two keys, batches of two or none, calls of up to two ticks, which may fail once or "
    "twice, and a deadline of one tick or none.",
)
@click.option(
    "--rule",
    "only",
    multiple=True,
    type=any_case,
    metavar="ID",
    help="Judge by this rule only, and play what can show it.",
)
@click.option(
    "--area",
    "parts",
    multiple=True,
    type=any_case,
    metavar="ID",
    help="Like --rule, for all rules of an area.",
)
@click.option("--fail-fast", is_flag=True, help="Stop at the first broken MUST.")
@click.option(
    "--keep-going",
    is_flag=True,
    help="Play on after three runs that block, die or are in error: for a program that cannot play "
    "all scenarios yet.",
)
@click.option("--seed", type=int, help="Seed of the generated scenarios; 0 by default.")
@click.option(
    "--expected-failures",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Rules that are known to be broken, in TOML: tables [[expected-failure]] with rule, "
    "reason, and perhaps scenarios, strict, until.",
)
@click.option(
    "--update-expected-failures",
    "updates",
    is_flag=True,
    help="Write that file anew from this run: what is broken now, and nothing that holds; entries "
    "of rules that were not judged stay. A run that does not come to its end writes nothing.",
)
@click.option(
    "--no-shrink",
    is_flag=True,
    help="Show failures of generated scenarios as they are. The command otherwise looks "
    f"for smaller ones, for {SHRINK_SECONDS:g} seconds at most.",
)
@patience_option
@jobs_option
@click.option(
    "--report",
    "folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write the verdict with all evidence into this folder: as JSON lines (see `asyncwait "
    "report`), a page for a browser, JUnit XML, a badge, a row and a page of Markdown.",
)
def verify_command(
    backends: tuple[str, ...],
    every: bool,
    program: str | None,
    mailbox: str | None,
    stages: tuple[Stage, ...],
    full: bool,
    count: int | None,
    exhaustive: bool,
    only: tuple[str, ...],
    parts: tuple[str, ...],
    fail_fast: bool,
    keep_going: bool,
    seed: int | None,
    expected_failures: Path | None,
    updates: bool,
    no_shrink: bool,
    patience: float,
    jobs: int | None,
    folder: Path | None,
) -> None:
    """Play the suite on BACKENDS, or on a mailbox, and judge every run by every rule.

    A backend is a name (see `asyncwait backends`) or module:callable. Rules and areas are listed by
    `asyncwait rules`. Without any, those are verified that the project's file names, pyproject.toml
    in the present folder or above it, in [tool.asyncwait]: backend, spec, expected-failures, seed,
    count.

    A shipped backend that needs what is not installed is left out by --all, which says so at the
    end and is inconclusive for it.

    Where GITHUB_STEP_SUMMARY is set, the page of Markdown is added to that file.

    Exit code: 0 conformant (expected failures included), 1 not conformant, 2 wrong usage, 3
    inconclusive.
    """
    if mailbox is not None:
        _refuse_beside_a_mailbox(click.get_current_context())
        verify_a_mailbox(mailbox, count or GENERATED, seed or 0, stages, patience)
    if stages:
        raise click.UsageError("--loop says where a mailbox is played: give --mailbox, too")
    refuse_contradictions(
        **{"--full": full, "--count": count is not None, "--exhaustive": exhaustive}
    )
    if updates:
        refuse_contradictions(
            **{"--update-expected-failures": True, "--rule": bool(only), "--area": bool(parts)}
        )
        refuse_contradictions(**{"--update-expected-failures": True, "--fail-fast": fail_fast})
    named = (*backends, *([] if program is None else [exec_name(program)]))
    others = shipped_backends() if every else ()
    with usage_errors(), ExitStack() as stack:
        gate = gate_of((*named, *others), Path.cwd(), expected_failures, creates=updates)
        lineup = _Lineup(named or (() if every else gate.names), others)
        if not lineup.names:
            raise click.UsageError(NO_BACKEND)
        if updates and gate.file is None:
            raise click.UsageError(
                "--update-expected-failures: name the file with --expected-failures"
            )
        counted = full or exhaustive or count is not None
        if line := gate.taken(*["seed"] * (seed is not None), *["count"] * counted):
            say(line, err=True)
        rules = (*(chosen("rule", only) if only else ()), *rules_of(parts))
        count = count or (FULL if full else (not exhaustive and gate.count) or QUICK)
        seed = (gate.seed or 0) if seed is None else seed
        plan = Coverage(
            count, seed, rules, not no_shrink, patience, jobs, exhaustive, fail_fast, keep_going
        )
        opening = partial(open_backend, patience=patience, jobs=jobs)
        backends_by_name = lineup.gather(
            lambda name: stack.enter_context(opening(name, folder=gate.folder(name)))
        )
        for name, backend in backends_by_name.items():  # before anything is played
            settle(gate.terms(name), backend, {})
        if folder is not None:
            clear_folder(_REPORT, folder)
        with Board() as board:
            played = lineup.play(
                backends_by_name,
                lambda backend: board.verify(backend, plan, gate.terms(backend.name)),
                1 if jobs == 1 else _AT_A_TIME,
            )
        if updates:
            update_expected_failures(gate, list(played.values()), lineup.left_out)
    _report([one.verdict for one in played.values()], lineup.left_out, folder)


def _refuse_beside_a_mailbox(context: click.Context) -> None:
    alike = {"mailbox", "stages", "count", "seed", "patience"}
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if source is ParameterSource.COMMANDLINE and name not in alike:
            what = parameter.opts[0] if isinstance(parameter, click.Option) else "BACKENDS"
            raise click.UsageError(f"--mailbox and {what} contradict each other: give one of them")


_AT_A_TIME = 2
"""Backends that play side by side; one process judges them all."""


class _Lineup:
    """The backends of one command.

    Args:
        others: names that are left out if they need a package that is not installed.
    """

    def __init__(self, named: Sequence[str], others: Sequence[str]) -> None:
        self.names = tuple(dict.fromkeys((*named, *others)))
        self.left_out: dict[str, str] = {}
        self._named = named

    def gather(self, ask: Callable[[str], T]) -> dict[str, T]:
        gathered: dict[str, T] = {}
        for name in self.names:
            try:
                if name not in self.left_out:
                    gathered[name] = ask(name)
            except MissingExtra as error:
                if name in self._named:
                    raise
                self.left_out[name] = str(error)
        return gathered

    def play(
        self, backends: Mapping[str, Served], verify: Callable[[Served], Played], at_a_time: int
    ) -> dict[str, Played]:
        """Return the results of all backends that are not left out.

        Backends that play in one process come first: it leaves room for the processes of others.
        """

        def to_its_end(name: str) -> Played:
            try:
                return verify(backends[name])
            finally:
                backends[name].dismiss()  # A Java machine takes half a gigabyte.

        with ThreadPoolExecutor(at_a_time) as threads:
            first = sorted(backends, key=lambda name: not backends[name].batch)
            asked = {name: threads.submit(to_its_end, name) for name in first}
            try:
                return self.gather(lambda name: asked[name].result())
            except BaseException:
                threads.shutdown(wait=False, cancel_futures=True)
                for backend in backends.values():
                    backend.abandon()
                raise


def _report(
    verdicts: Sequence[Verdict], left_out: Mapping[str, str], folder: Path | None
) -> NoReturn:
    out = console()
    told = [case.planned for verdict in verdicts for case in verdict.told if case.generated]
    kept = keep(told)
    # A log may be read on another machine, without the folder of saved scenarios.
    print_report(verdicts, out, kept if out.is_terminal else frozenset())
    for name, why in left_out.items():
        say(f"{name_of(name)}: not verified: {why}", out, style="bold magenta")
    with usage_errors():
        _write(verdicts, left_out, folder)
    words: list[Word] = [verdict.word for verdict in verdicts]
    if left_out:
        words.append("inconclusive")
    sys.exit(EXIT_CODES[worst(words)])


def _write(verdicts: Sequence[Verdict], left_out: Mapping[str, str], folder: Path | None) -> None:
    step = os.environ.get("GITHUB_STEP_SUMMARY", "")
    if folder is None and not step:
        return
    report = report_of(verdicts, now(), left_out)
    if folder is not None:
        say_written(write_report(report, _REPORT, folder))
    if wrong := add_step_summary(report, step):
        say(f"warning: {wrong}", err=True)
