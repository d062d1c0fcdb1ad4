"""Verdicts as a verification gives them, and reports on them, without one being run."""

from collections.abc import Mapping

from asyncwait.conformance.evidence import scenario_of
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import Violation
from asyncwait.conformance.report import Report, report_of
from asyncwait.conformance.verdict import Case, Failure, RuleResult, Status, Verdict
from asyncwait.reference import open_operator
from asyncwait.spec.rules import rules

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
