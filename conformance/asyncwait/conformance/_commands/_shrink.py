"""What `play --shrink` does."""

import shlex
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import click
from rich.console import Console

from asyncwait.conformance._commands._run import show_run
from asyncwait.conformance._find_scenarios import keep
from asyncwait.conformance._guard import say
from asyncwait.conformance._shrink import Search, trials
from asyncwait.conformance._verify import chosen
from asyncwait.conformance._words import counted
from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.expected_failures import moment_of
from asyncwait.conformance.judging import judge
from asyncwait.conformance.running import Broken, Served, adapted, open_backend
from asyncwait.conformance.verdict import Case, Failure, Word, failures_of
from asyncwait.spec import InvalidConfig
from asyncwait.spec.rules import Rule, rules
from asyncwait.spec.scenario import Scenario, Trace, scenarios_to_json, size_of
from asyncwait.spec.texts import json_text

SECONDS = 60.0
"""How long a smaller scenario is looked for, unless it is said."""


def shrink_one(backend: str, planned: Scenario, wanted: str | None, seconds: float) -> Word:
    """Make a scenario smaller; draw and judge the smallest, keep it, and return its verdict.

    Args:
        backend: its name.
        planned: a scenario that breaks a rule on it.
        wanted: the id of the rule that stays broken; None for the first that is broken.
        seconds: how long to look.

    Raises:
        InvalidConfig: the scenario breaks no rule there, or not the one that is wanted.
    """
    if wanted is not None:
        chosen("rule", (wanted,))
    with open_backend(backend, folder=str(Path.cwd())) as served:
        shrinking = _Shrinking(served, seconds)
        first = shrinking.failures(planned)
        if isinstance(first, Broken):
            say(f"error: {first.text}", err=True)
            return "inconclusive"
        rule = _rule_of(first, wanted, backend)
        smallest = shrinking.smallest(rule, first[rule])
    return _told(shrinking, first[rule], smallest, backend)


def _rule_of(failures: Mapping[str, Failure], wanted: str | None, backend: str) -> str:
    """Return the rule that is to stay broken: the first that is, a MUST if there is one."""
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
        seconds: how long.

    Attributes:
        cut: why nothing more was tried; empty if nothing more was to be tried.
    """

    def __init__(self, backend: Served, seconds: float) -> None:
        can = backend.capabilities
        self.by: dict[str, Rule] = {
            name: rule for name, rule in rules().items() if rule.applies_to(can)
        }
        self.expected_failures = backend.expected_failures
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


def _told(shrinking: _Shrinking, first: Failure, smallest: Failure, backend: str) -> Word:
    """Print what was found, and the command that plays it again; return the verdict."""
    case = smallest.case
    word = show_run(case, smallest.trace, shrinking.by, shrinking.expected_failures)
    for line in _said(shrinking, first, smallest):
        say(line)
    click.echo(json_text(scenarios_to_json((case.planned,))))
    if case.id in keep([case.planned]):
        say(f"again: asyncwait play {shlex.quote(backend)} {case.id} --trace")
    return word


def _said(shrinking: _Shrinking, first: Failure, smallest: Failure) -> Iterator[str]:
    before, after = (size_of(failure.case.planned)[0] for failure in (first, smallest))
    how = shrinking.cut or "nothing more can be left out"
    yield f"{before:,} characters of JSON before, {after:,} now; {shrinking.tried:,} tried; {how}"
