"""From counts to statuses, from statuses to one word and an exit code."""

from typing import Any

import pytest

from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.expected_failures import ExpectedFailure
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import Check, History, Judgement, Violation
from asyncwait.conformance.verdict import (
    EXIT_CODES,
    Case,
    Failure,
    RuleResult,
    Status,
    Tally,
    Verdict,
    conclude,
)
from asyncwait.reference import open_operator
from asyncwait.spec.rules import Rule, rules
from asyncwait.spec.scenario import (
    ALL_CAPABILITIES,
    Capability,
    Ending,
    Leg,
    Scenario,
    Trace,
    declared,
)

MUST, SHOULD, ANY = (rules()[rule] for rule in ("ORD-1", "CAP-5", "ELEM-1"))
ON_DEMAND = rules()["SNAP-8"]
SCENARIO = Scenario()
CASE = Case("one", SCENARIO, SCENARIO)
FAILURE = Failure(CASE, Trace((Leg(Ending("finished")),)), Violation("wrong", 0))
ISSUE = "see our issue 7"
DIED = "3 runs died"


def tally_of(
    rule: Rule, applied: int = 0, failure: Failure | None = None, *, is_known: bool = False
) -> Tally:
    tally = Tally(CHECKS, [rule.id])
    count = tally.counts[rule.id]
    count.add(Judgement(applied))
    if failure is not None:
        (count.known if is_known else count.found).add(failure)
    return tally


def status_of(
    tally: Tally,
    rule: Rule = MUST,
    *,
    capabilities: frozenset[Capability] = ALL_CAPABILITIES,
    expected: str = "",
    missing: str = "",
) -> tuple[Status, str]:
    expected_failures = {rule.id: (ExpectedFailure(expected),)} if expected else {}
    (result,) = conclude(tally, {rule.id: rule}, capabilities, expected_failures, missing=missing)
    return result.status, result.note


def broken_behind_what_is_expected() -> Tally:
    tally = tally_of(MUST)
    tally.counts[MUST.id].add(Judgement(1, (Violation("wrong", 5),)))
    return tally


@pytest.mark.parametrize(
    ("tally", "options", "status", "note"),
    [
        (tally_of(MUST, 1), {}, "pass", ""),
        # However often it held besides.
        (tally_of(MUST, 9, FAILURE), {}, "fail", ""),
        (tally_of(MUST, 1, FAILURE, is_known=True), {"expected": ISSUE}, "expected-fail", ISSUE),
        # An expected failure says where: elsewhere a failure is one.
        (tally_of(MUST, 1, FAILURE), {"expected": ISSUE}, "fail", ISSUE),
        # An expected failure that is no longer one has to go.
        (tally_of(MUST, 1), {"expected": ISSUE}, "unexpected-pass", ISSUE),
        # A check that had nothing to look at is no pass, nor a failure that nobody saw.
        (tally_of(MUST), {}, "untested", "it never applied"),
        (tally_of(MUST), {"expected": ISSUE}, "untested", "it never applied"),
        (broken_behind_what_is_expected(), {}, "untested", None),
        (tally_of(MUST), {"missing": DIED}, "blocked", DIED),
        # What breaks it, or is expected to, may be in what was not played.
        (tally_of(MUST, 9), {"missing": DIED}, "held", DIED),
        (tally_of(MUST, 9), {"expected": ISSUE, "missing": DIED}, "held", DIED),
        (tally_of(MUST, 9, FAILURE), {"missing": DIED}, "fail", ""),
        # Whatever was counted; and what does not apply need not be counted.
        (
            tally_of(ON_DEMAND, 1, FAILURE),
            {"rule": ON_DEMAND, "capabilities": ALL_CAPABILITIES - {Capability.ON_DEMAND_SNAPSHOT}},
            "not-applicable",
            "needs on-demand-snapshot",
        ),
        (
            Tally(CHECKS, []),
            {"rule": rules()["CAP-6"], "capabilities": declared(["ordered"])},
            "not-applicable",
            "needs event-time or snapshots",
        ),
    ],
)
def test_the_status_of_a_rule_follows_from_what_was_counted(
    tally: Tally, options: dict[str, Any], status: Status, note: str | None
) -> None:
    found = status_of(tally, **options)

    assert found[0] == status
    assert note is None or found[1] == note


def test_a_rule_whose_check_breaks_is_an_error() -> None:
    def broken(_history: History) -> Judgement:
        raise KeyError("call 7")

    tally = Tally({**CHECKS, MUST.id: Check(MUST.id, broken)}, [MUST.id, "END-8"])
    tally.add(CASE, play(open_operator, SCENARIO))

    assert status_of(tally) == ("error", f"one ({CASE.id}): its check failed: KeyError: 'call 7'")
    assert tally.counts["END-8"].applied == 1
    assert tally.errors == []


GREEN, KNOWN, RED, GREY = (
    "conformant",
    "conformant with expected failures",
    "not conformant",
    "inconclusive",
)
PASSES = RuleResult(MUST, "pass")


@pytest.mark.parametrize(
    ("results", "played", "errors", "word"),
    [
        *(
            ((PASSES, RuleResult(ON_DEMAND, status)), 2, (), word)
            for status, word in (
                ("pass", GREEN),
                ("not-applicable", GREEN),
                ("expected-fail", KNOWN),
                ("fail", RED),
                ("unexpected-pass", RED),
                ("untested", GREY),
                ("blocked", GREY),
                ("held", GREY),
                ("error", GREY),
            )
        ),
        # Only a MUST makes an operator wrong; that nothing was seen is never forgiven.
        ((PASSES, RuleResult(SHOULD, "fail")), 2, (), GREEN),
        *(
            ((PASSES, RuleResult(SHOULD, status)), 2, (), GREY)
            for status in ("held", "untested", "blocked", "error")
        ),
        # Although each rule passes in the scenarios that were played.
        ((PASSES,), 1, (), GREY),
        ((PASSES,), 2, ("one: no trace",), GREY),
        # A rule that is broken stays broken, whatever else went wrong.
        (
            (RuleResult(MUST, "fail"), RuleResult(ON_DEMAND, "untested")),
            2,
            ("one: no trace",),
            RED,
        ),
    ],
)
def test_the_worst_decides_the_word(
    results: tuple[RuleResult, ...], played: int, errors: tuple[str, ...], word: str
) -> None:
    verdict = Verdict("mine", results, played, 2, errors)

    assert verdict.word == word
    assert EXIT_CODES == {GREEN: 0, KNOWN: 0, RED: 1, GREY: 3}
