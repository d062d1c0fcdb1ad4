"""Subcommand `shrink`."""

import shlex
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import click
from rich.console import Console

from asyncwait.conformance._commands._group import asyncwait
from asyncwait.conformance._commands._ids import any_case
from asyncwait.conformance._commands._run import show_run
from asyncwait.conformance._commands._shared import usage_errors
from asyncwait.conformance._counted import counted
from asyncwait.conformance._say import say
from asyncwait.conformance._shrink import trials
from asyncwait.conformance._verify import chosen
from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.judging import judge
from asyncwait.conformance.replay import find_scenarios, keep
from asyncwait.conformance.running import Broken, Served, adapted, open_backend
from asyncwait.conformance.shrinking import Search
from asyncwait.conformance.verdict import EXIT_CODES, Case, Failure, failures_of, moment_of
from asyncwait.spec import InvalidConfig
from asyncwait.spec.rules import Rule, rules
from asyncwait.spec.scenario import Scenario, Trace, scenarios_to_json, size_of
from asyncwait.spec.texts import json_text

SECONDS = 60.0
"""How long a smaller scenario is looked for, unless it is said."""


@asyncwait.command("shrink")
@click.argument("backend")
@click.argument("scenario")
@click.option(
    "--rule",
    "wanted",
    type=any_case,
    metavar="ID",
    help="That stays broken; else the first that is broken.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(0, min_open=True),
    default=SECONDS,
    show_default=True,
    help="How long to look; Ctrl-C ends it earlier. What was found until then is shown.",
)
def shrink_command(backend: str, scenario: str, wanted: str | None, seconds: float) -> None:
    """Make SCENARIO, which breaks a rule on BACKEND, smaller, until nothing can be left out.

    SCENARIO is as for `asyncwait play`. What is found is drawn and judged, and kept under its id.

    Exit code: 1 it still breaks the rule, 2 it breaks none, 3 it can't be judged.
    """
    with usage_errors():
        planned = _only(find_scenarios(scenario))
        if wanted is not None:
            chosen("rule", (wanted,))
        with open_backend(backend, folder=str(Path.cwd())) as served:
            shrinking = _Shrinking(served, seconds)
            first = shrinking.failures(planned)
            if isinstance(first, Broken):
                say(f"error: {first.text}", err=True)
                sys.exit(EXIT_CODES["inconclusive"])
            rule = _rule_of(first, wanted, backend)
            smallest = shrinking.smallest(rule, first[rule])
    _print(shrinking, first[rule], smallest, backend)


def _only(planned: tuple[Scenario, ...]) -> Scenario:
    if len(planned) != 1:
        raise InvalidConfig.of("scenario", len(planned), "one, not a list of several")
    return planned[0]


def _rule_of(failures: Mapping[str, Failure], wanted: str | None, backend: str) -> str:
    """Return the rule that is to stay broken: the first that is, a MUST if there is one.

    Raises:
        InvalidConfig: there is none, or not the one that is wanted.
    """
    if wanted is not None and wanted not in failures:
        broken = f"it breaks {', '.join(failures)}" if failures else "it breaks no rule"
        raise InvalidConfig(f"{wanted} is not broken by this scenario on {backend}: {broken}")
    if not failures:
        raise InvalidConfig(f"this scenario breaks no rule on {backend}: it can't be shrunk")
    known = rules()
    first = min(
        failures, key=lambda r: (known[r].level != "MUST", moment_of(failures[r].violation))
    )
    return wanted or first


class _Shrinking:
    """Plays smaller and smaller scenarios, for so long.

    Args:
        backend: that plays them.
        seconds: how long.

    Attributes:
        by: the rules that the backend is held to, by id.
        exceptions: those that it is known to break.
        tried: how many scenarios were played.
        cut: why nothing more was tried; empty if nothing more was to be tried.
    """

    def __init__(self, backend: Served, seconds: float) -> None:
        can = backend.capabilities
        self.by: dict[str, Rule] = {
            name: rule for name, rule in rules().items() if rule.applies_to(can)
        }
        self.exceptions = backend.exceptions
        self.tried = 0
        self.cut = ""
        self._backend = backend
        self._checks = {name: CHECKS[name] for name in self.by}
        self._seconds = seconds
        self._ends = 0.0
        self._status = Console(stderr=True).status("")

    def failures(self, planned: Scenario) -> Mapping[str, Failure] | Broken:
        """Play a scenario; return what it breaks, by the id of the rule, or why that is unknown."""
        case = Case("", planned, self._fitting(planned), generated=True)
        (run,) = self._backend.play([case.scenario])
        return run if isinstance(run, Broken) else self._broken(case, run)

    def smallest(self, rule: str, failure: Failure) -> Failure:
        """Return the smallest failure of `rule` that is found."""
        self._ends = time.monotonic() + self._seconds
        search = Search(trials(self._backend.play, self._fitting, self._broken), self._is_over)
        try:
            with self._status:
                return search.smallest(rule, failure)
        except KeyboardInterrupt:
            self.cut = "interrupted"
            return search.best(rule)

    def _fitting(self, planned: Scenario) -> Scenario:
        return adapted(planned, self._backend.capabilities)

    def _broken(self, case: Case, run: Trace) -> Mapping[str, Failure]:
        self.tried += self._ends > 0
        return failures_of(case, run, judge(case.scenario, run, self._checks))

    def _is_over(self) -> bool:
        """Whether the time is over; asked after each run."""
        self._status.update(f"{counted(self.tried, 'smaller scenario')} tried")
        if time.monotonic() > self._ends:
            self.cut = f"the time is over: --seconds {2 * self._seconds:g} may find more"
        return bool(self.cut)


def _print(shrinking: _Shrinking, first: Failure, smallest: Failure, backend: str) -> None:
    """Print what was found, and how it is had again; leave with the exit code."""
    case = smallest.case
    word = show_run(case, smallest.trace, shrinking.by, shrinking.exceptions)
    for line in _said(shrinking, first, smallest):
        say(line)
    click.echo(json_text(scenarios_to_json((case.planned,))))
    if case.id in keep([case.planned]):
        say(f"again: asyncwait replay {shlex.quote(backend)} {case.id} --trace")
    sys.exit(EXIT_CODES[word])


def _said(shrinking: _Shrinking, first: Failure, smallest: Failure) -> Iterator[str]:
    before, after = (size_of(failure.case.planned)[0] for failure in (first, smallest))
    how = shrinking.cut or "nothing more can be left out"
    yield f"{before:,} characters of JSON before, {after:,} now; {shrinking.tried:,} tried; {how}"
