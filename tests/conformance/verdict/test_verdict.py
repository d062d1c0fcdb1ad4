"""From counts to statuses, to one word and an exit code; and which rules explain others."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.expected_failures import ExpectedFailure
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import Check, History, Judgement, Violation
from asyncwait.conformance.verdict import (
    EXIT_CODES,
    SYMPTOMS,
    Case,
    Cause,
    Failed,
    Failing,
    Failure,
    RuleResult,
    Status,
    Tally,
    Verdict,
    conclude,
    find_causes,
)
from asyncwait.conformance.verdict._tally import GRAVE
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


MUSTS = ("ELEM-1", "ELEM-2", "ORD-4", "RES-1", "TIME-1", "END-8")


def causes(
    together: Sequence[str],
    seen: Mapping[str, int] | None = None,
    shoulds: tuple[str, ...] = (),
    about: str = "",
) -> tuple[Cause, ...]:
    """The causes where those rules are broken together; each applied 100 times, or as `seen` says.

    Behind a ">" stand those that are broken later.
    """
    applied = dict.fromkeys((*MUSTS, *shoulds), 100) | dict(seen or {})
    failed = [failed_in(rules, about) for rules in together]
    return find_causes(Failing(failed, applied), MUSTS, shoulds)


def failed_in(rules: str, about: str) -> Failed:
    first, _, later = (frozenset(part.split()) for part in rules.partition(">"))
    return Failed(first | later, first, first | later, frozenset(about.split()))


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        # Where nothing is broken nothing is to be explained.
        (causes([]), ""),
        # The rule that is broken wherever others are explains them.
        (
            causes(["ORD-4 ELEM-1", "ORD-4 ELEM-1 ELEM-2", "ORD-4"]),
            "ORD-4 explains ELEM-1 ELEM-2",
        ),
        # Of rules broken alike the one that applies less often explains the others,
        (causes(["END-8 ELEM-2"] * 2, seen={"ELEM-2": 3}), "ELEM-2 explains END-8"),
        # or the one that is broken first,
        (causes(["ELEM-2 > ELEM-1"]), "ELEM-2 explains ELEM-1"),
        # or the one that examples are about: whoever wrote them knew what they show.
        (causes(["ELEM-1 ELEM-2"], about="ELEM-2"), "ELEM-2 explains ELEM-1"),
        # Where nothing else decides the chapters do, so a verdict is the same each time.
        (causes(["ELEM-2 ELEM-1"]), "ELEM-1 explains ELEM-2"),
        # That something does not come is explained by what else is wrong.
        (
            causes(["END-8 ELEM-2", "END-8 ELEM-2", "END-8 ELEM-2 ORD-4"], seen={"END-8": 50}),
            "ELEM-2 explains ORD-4 END-8",
        ),
        # What is broken elsewhere, too, needs a cause of its own.
        (causes([*["ORD-4 ELEM-1"] * 5, "ELEM-1", "ELEM-2"]), "ELEM-1 explains ORD-4, ELEM-2"),
        # Two causes together can explain a third rule; it is told with the later of them.
        (
            causes(
                [*["ORD-4 ELEM-1"] * 4, *["ELEM-2 ELEM-1"] * 3],
                seen={"ORD-4": 4, "ELEM-2": 3, "ELEM-1": 1_000},
            ),
            "ORD-4, ELEM-2 explains ELEM-1",
        ),
        # A SHOULD explains no MUST, even if it fits better: it does not decide the verdict.
        (
            causes([*["CAP-5"] * 9, "CAP-5 END-8"], seen={"CAP-5": 10}, shoulds=("CAP-5",)),
            "END-8, CAP-5",
        ),
        # A MUST explains a SHOULD that is broken nowhere else.
        (causes(["CAP-5 END-8"], shoulds=("CAP-5",)), "END-8 explains CAP-5"),
        # Rules that the backend is known to break, or lacks the capability for, explain nothing,
        (causes(["SNAP-5 ORD-4", "SNAP-5"]), "ORD-4"),
        # nor does what is broken wherever the other rule applies,
        (causes([*["END-8"] * 95, *["END-8 ORD-4"] * 5], seen={"ORD-4": 5}), "END-8, ORD-4"),
        # nor what may be chance: the first rule is broken in half of where the second applies.
        (causes(["ORD-4 ELEM-1", "ORD-4"], seen={"ELEM-1": 4}), "ORD-4, ELEM-1"),
        (causes(["ORD-4 ELEM-1"] * 5, seen={"ORD-4": 5, "ELEM-1": 10}), "ORD-4 explains ELEM-1"),
        # Nothing explains a loss, or a swallowed error.
        (causes(["ORD-4 RES-1 ELEM-1"] * 5, seen={"ORD-4": 5}), "ORD-4 explains ELEM-1, RES-1"),
    ],
)
def test_the_causes_are_told_with_what_they_explain(
    found: tuple[Cause, ...], expected: str
) -> None:
    told = [
        " ".join([each.rule, *["explains"] * bool(each.explains), *each.explains]) for each in found
    ]

    assert ", ".join(told) == expected
    assert rules().keys() >= SYMPTOMS | GRAVE
