"""Verdicts and reports without a verification, and reports with much in them, one of them real."""

import functools
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import get_args

from click.testing import CliRunner

from asyncwait.conformance._commands import asyncwait
from asyncwait.conformance.areas import CHECKS, all_witnesses
from asyncwait.conformance.evidence import scenario_of
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import Violation, judge
from asyncwait.conformance.report import Report, read_lines, report_of
from asyncwait.conformance.verdict import Case, Failure, RuleResult, Status, Verdict
from asyncwait.reference import open_operator
from asyncwait.spec import Record
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import Scenario, Timed

THEN, LATER = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"

SCENARIO = scenario_of("0: a; 40: b; a: 80 gives x")
CASE = Case("two-records", SCENARIO, SCENARIO)
FAILURE = Failure(CASE, play(open_operator, SCENARIO), Violation("it is wrong", 40))


def result(rule: str, status: Status, note: str = "", failure: Failure = FAILURE) -> RuleResult:
    failures = (failure,) if status in {"fail", "expected-fail"} else ()
    return RuleResult(rules()[rule], status, 7, len(failures), failures, note)


def verdict(
    name: str = "mine", statuses: Mapping[str, Status] | None = None, note: str = ""
) -> Verdict:
    named = statuses or {}
    found = tuple(result(rule, named.get(rule, "pass"), note * (rule in named)) for rule in rules())
    return Verdict(name, found, 2, 2, seconds=1.5)


def report(*verdicts: Verdict, created: str = THEN) -> Report:
    return report_of(verdicts, created)


HOSTILE = (
    "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'`&lt;{{ 7 * 7 }}"
    "\x00\x1b[31m\u202egnp\u2028\x7f"
)


def _broken(rule: str) -> Failure:
    run = next(witness.violating for witness in all_witnesses() if witness.rule == rule)
    found = dict(judge(run.scenario, run.trace, CHECKS).violations())[rule]
    return Failure(Case(f"witness of {rule}", run.scenario, run.scenario), run.trace, found)


@functools.cache
def _failures() -> Mapping[str, Failure]:
    return {rule: _broken(rule) for rule in rules()}


def everything_broken(*names: str, most: int = 1_000) -> Report:
    chosen = list(rules().values())[:most]
    results = tuple(RuleResult(rule, "fail", 7, 1, (_failures()[rule.id],)) for rule in chosen)
    return report_of([Verdict(name, results, 1_000, 1_000) for name in names], THEN)


ELEVEN = tuple(f"backend-number-{number}" for number in range(11))
"""As many as the shipped backends."""


def hostile() -> Report:
    """Return a report with hostile texts in each field, and every status twice."""
    scenario = Scenario(inputs=(Timed(0, Record(HOSTILE, key=HOSTILE)),), name=HOSTILE)
    trace = play(open_operator, scenario)
    failure = Failure(Case(HOSTILE, scenario, scenario), trace, Violation(HOSTILE, 0))
    statuses: tuple[Status, ...] = get_args(Status)
    results = []
    for number, rule in enumerate(list(rules().values())[: 2 * len(statuses)]):
        status = statuses[number % len(statuses)]
        failures = (failure,) if status in {"fail", "expected-fail"} else ()
        results.append(RuleResult(rule, status, 1, len(failures), failures, HOSTILE))
    verdict = Verdict(HOSTILE, tuple(results), 1, 2, (HOSTILE,), stopped=HOSTILE)
    return report_of([verdict], HOSTILE, {HOSTILE: HOSTILE})


@functools.cache
def real() -> Report:
    names = ("reference-asyncio", "faulty-forgets-what-waits-for-room")
    with tempfile.TemporaryDirectory() as folder:
        done = CliRunner().invoke(
            asyncwait, ["verify", *names, "--count", "20", "--report", folder]
        )
        assert done.exit_code == 1, done.output
        return read_lines(Path(folder, "report.jsonl"))


REPORTS: Mapping[str, Callable[[], Report]] = {
    "real": real,
    "broken": functools.partial(everything_broken, "breaks-everything"),
    "eleven": functools.partial(everything_broken, *ELEVEN),
    "wide": functools.partial(everything_broken, *ELEVEN, most=3),
    "hostile": hostile,
}
"""Reports by their contents."""
