"""One item for each rule, with the same findings as `asyncwait verify`."""

import pytest

from asyncwait.conformance.report import rule_lines
from asyncwait.conformance.verdict import Verdict
from asyncwait.spec.texts import joined, one_line


def test_rule(asyncwait_rule: str, asyncwait_verdict: Verdict) -> None:
    """The backend keeps the rule wherever it applies."""
    (result,) = [r for r in asyncwait_verdict.results if r.rule.id == asyncwait_rule]
    if result.status == "expected-fail":
        pytest.xfail(one_line(result.note))
    if result.is_forgiven and result.status != "pass":
        why = result.failures[0].violation.text if result.failures else result.note
        only = f"since {result.rule.since}" if result.is_advisory else f"{result.rule.level} only"
        # It is reported, and leaves the verdict as it is: the command and pytest agree.
        pytest.xfail(f"{only}: {result.status}: {one_line(why)}")
    if result.status != "pass":
        pytest.fail(joined(rule_lines(asyncwait_verdict.backend, result)), pytrace=False)


def test_harness_and_backend_worked(asyncwait_verdict: Verdict) -> None:
    """Nothing went wrong beside the operator."""
    if asyncwait_verdict.errors:
        pytest.fail(joined(f"error: {each}" for each in asyncwait_verdict.errors), pytrace=False)


def test_every_expected_failure_matches(asyncwait_verdict: Verdict) -> None:
    """The file of expected failures has no entry that matches nothing."""
    if asyncwait_verdict.stale:
        lines = (f"{rule}: {why}" for rule, why in asyncwait_verdict.stale.items())
        pytest.fail(joined(lines), pytrace=False)
