"""From counts to statuses, from statuses to one word and an exit code."""

from collections.abc import Iterable

import pytest

from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.expected_failures import ExpectedFailure
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import Check, History, Judgement, Violation
from asyncwait.conformance.verdict import (
    EXIT_CODES,
    Case,
    Failure,
    Failures,
    RuleResult,
    Status,
    Tally,
    Verdict,
    Word,
    conclude,
)
from asyncwait.reference import open_operator
from asyncwait.spec.rules import Rule, rules
from asyncwait.spec.scenario import (
    ALL_CAPABILITIES,
    Capability,
    Ending,
    Leg,
    Plan,
    Scenario,
    Step,
    Trace,
    declared,
)

MUST = rules()["ORD-1"]
SHOULD = rules()["CAP-5"]
ANY = rules()["ELEM-1"]
ON_DEMAND = rules()["SNAP-8"]
SCENARIO = Scenario()
CASE = Case("one", SCENARIO, SCENARIO)
FAILURE = Failure(CASE, Trace((Leg(Ending("finished")),)), Violation("wrong", 0))


def tally_of(
    rule: Rule, applied: int = 0, failure: Failure | None = None, *, is_known: bool = False
) -> Tally:
    """A tally that counts one rule, with one trace judged."""
    tally = Tally(CHECKS, [rule.id])
    count = tally.counts[rule.id]
    count.add(Judgement(applied))
    if failure is not None:
        (count.known if is_known else count.found).add(failure)
    return tally


def status_of(
    tally: Tally,
    rule: Rule,
    *,
    capabilities: frozenset[Capability] = ALL_CAPABILITIES,
    expected: str = "",
    missing: str = "",
) -> tuple[Status, str]:
    """The status that one rule gets, and its note."""
    expected_failures = {rule.id: (ExpectedFailure(expected),)} if expected else {}
    (result,) = conclude(tally, {rule.id: rule}, capabilities, expected_failures, missing=missing)
    return result.status, result.note


def verdict_of(*results: tuple[Rule, Status], errors: Iterable[str] = ()) -> Verdict:
    """A verdict with these results."""
    found = tuple(RuleResult(rule, status) for rule, status in results)
    return Verdict("mine", found, 2, 2, tuple(errors))


def test_a_rule_that_applied_and_held_passes() -> None:
    """Nothing else is needed."""
    assert status_of(tally_of(MUST, 1), MUST) == ("pass", "")


def test_a_rule_that_was_broken_fails() -> None:
    """However often it held besides."""
    assert status_of(tally_of(MUST, 9, FAILURE), MUST) == ("fail", "")


def test_a_rule_that_is_known_to_be_broken_fails_as_expected() -> None:
    """The reason that the backend gives stands beside it."""
    found = status_of(tally_of(MUST, 1, FAILURE, is_known=True), MUST, expected="see our issue 7")

    assert found == ("expected-fail", "see our issue 7")


def test_a_rule_that_is_broken_elsewhere_too_fails() -> None:
    """An expected failure says where: elsewhere a failure is one."""
    found = status_of(tally_of(MUST, 1, FAILURE), MUST, expected="see our issue 7")

    assert found == ("fail", "see our issue 7")


def test_a_rule_that_is_wrongly_expected_passes_unexpectedly() -> None:
    """An expected failure that is no longer one has to go."""
    found = status_of(tally_of(MUST, 1), MUST, expected="see our issue 7")

    assert found == ("unexpected-pass", "see our issue 7")


def test_a_rule_that_never_applied_is_untested() -> None:
    """A check that had nothing to look at is no pass."""
    assert status_of(tally_of(MUST), MUST) == ("untested", "it never applied")


def test_a_rule_that_is_broken_only_behind_what_is_expected_is_untested() -> None:
    """It was not seen to hold, and what was seen does not count."""
    tally = tally_of(MUST)
    tally.counts[MUST.id].add(Judgement(1, (Violation("wrong", 5),)))

    assert status_of(tally, MUST)[0] == "untested"


def test_a_rule_that_never_applied_is_untested_even_if_it_is_expected() -> None:
    """An expected failure does not stand for a failure that nobody saw."""
    found = status_of(tally_of(MUST), MUST, expected="see our issue 7")

    assert found == ("untested", "it never applied")


def test_a_rule_that_something_stood_before_is_blocked() -> None:
    """What stood in the way is told."""
    found = status_of(tally_of(MUST), MUST, missing="3 runs died")

    assert found == ("blocked", "3 runs died")


def test_a_rule_that_held_in_a_part_of_the_scenarios_has_not_passed() -> None:
    """The scenario that breaks it may be among those that were not played."""
    assert status_of(tally_of(MUST, 9), MUST, missing="3 runs died") == ("held", "3 runs died")


def test_an_expected_failure_that_held_in_a_part_of_the_scenarios_is_not_unexpected() -> None:
    """It may be broken in the others."""
    found = status_of(tally_of(MUST, 9), MUST, expected="see our issue 7", missing="3 runs died")

    assert found == ("held", "3 runs died")


def test_a_rule_that_is_broken_in_a_part_of_the_scenarios_is_broken() -> None:
    """Whatever the others would show."""
    assert status_of(tally_of(MUST, 9, FAILURE), MUST, missing="3 runs died") == ("fail", "")


def test_a_rule_whose_ability_is_missing_does_not_apply() -> None:
    """The note names the capability, whatever was counted."""
    some = ALL_CAPABILITIES - {Capability.ON_DEMAND_SNAPSHOT}

    found = status_of(tally_of(ON_DEMAND, 1, FAILURE), ON_DEMAND, capabilities=some)

    assert found == ("not-applicable", "needs on-demand-snapshot")


def test_a_rule_of_another_profile_does_not_apply_and_need_not_be_counted() -> None:
    """The note says what would make it apply."""
    core, rule = declared(["ordered"]), rules()["CAP-6"]

    found = status_of(Tally(CHECKS, []), rule, capabilities=core)

    assert found == ("not-applicable", "needs event-time or snapshots")


def test_a_rule_whose_check_breaks_is_an_error() -> None:
    """A bug of the suite is neither a pass nor the operator's fault."""

    def broken(_history: History) -> Judgement:
        raise KeyError("call 7")

    tally = Tally({**CHECKS, MUST.id: Check(MUST.id, broken)}, [MUST.id, "END-8"])
    tally.add(CASE, play(open_operator, SCENARIO))

    assert status_of(tally, MUST) == (
        "error",
        f"one ({CASE.id}): its check failed: KeyError: 'call 7'",
    )
    assert tally.counts["END-8"].applied == 1
    assert tally.errors == []


@pytest.mark.parametrize(
    ("status", "word"),
    [
        ("pass", "conformant"),
        ("not-applicable", "conformant"),
        ("expected-fail", "conformant with expected failures"),
        ("fail", "not conformant"),
        ("unexpected-pass", "not conformant"),
        ("untested", "inconclusive"),
        ("blocked", "inconclusive"),
        ("held", "inconclusive"),
        ("error", "inconclusive"),
    ],
)
def test_one_status_beside_a_pass_decides_the_word(status: Status, word: Word) -> None:
    """The worst wins, and untested or an error is never green."""
    assert verdict_of((MUST, "pass"), (ON_DEMAND, status)).word == word


def test_a_should_that_fails_leaves_the_word_as_it_is() -> None:
    """Only a MUST makes an operator wrong."""
    assert verdict_of((MUST, "pass"), (SHOULD, "fail")).word == "conformant"


@pytest.mark.parametrize("status", ["held", "untested", "blocked", "error"])
def test_that_nothing_was_seen_is_never_forgiven(status: Status) -> None:
    """Whatever the level of the rule."""
    assert verdict_of((MUST, "pass"), (SHOULD, status)).word == "inconclusive"


def test_what_was_not_played_is_never_green() -> None:
    """Although each rule passes in the scenarios that were."""
    assert Verdict("mine", (RuleResult(MUST, "pass"),), 1, 2).word == "inconclusive"


def test_an_error_beside_the_operator_is_inconclusive() -> None:
    """Although each rule passes."""
    assert verdict_of((MUST, "pass"), errors=["one: no trace"]).word == "inconclusive"


def test_not_conformant_is_worse_than_inconclusive() -> None:
    """A rule that is broken stays broken, whatever else went wrong."""
    verdict = verdict_of((MUST, "fail"), (ON_DEMAND, "untested"), errors=["one: no trace"])

    assert verdict.word == "not conformant"


@pytest.mark.parametrize(
    ("status", "code"), [("pass", 0), ("expected-fail", 0), ("fail", 1), ("error", 3)]
)
def test_the_exit_code_follows_the_word(status: Status, code: int) -> None:
    """Conformant with expected failures is conformant to a gate."""
    assert EXIT_CODES[verdict_of((MUST, status)).word] == code
    assert set(EXIT_CODES.values()) == {0, 1, 3}


def test_the_line_names_the_profiles_unless_they_are_all() -> None:
    """What an operator conforms to is part of the claim, whatever the word."""
    core = declared(["unordered", "timeouts"])
    passes, fails = RuleResult(ANY, "pass"), RuleResult(MUST, "fail")

    sound = Verdict("mine", (passes,), 1, 1, capabilities=core)
    wrong = Verdict("mine", (passes, fails), 1, 1, capabilities=core)
    finer = Verdict("mine", (passes,), 1, 1, capabilities=declared(lacks=["virtual-time"]))

    assert (sound.word, sound.claim) == ("conformant", "conformant: core, unordered, timeouts")
    assert wrong.claim == "not conformant: core, unordered, timeouts"
    assert finer.claim == "conformant"


def test_examples_come_before_generated_failures_and_short_ones_before_long() -> None:
    """The failures that are kept are the three that are easiest to read."""
    failures = Failures()
    for size, generated in ((5, True), (1, True), (9, False), (3, True), (7, False)):
        scenario = Scenario(plans=tuple(Plan(str(n), (Step(),)) for n in range(size)))
        name = f"{size}{'g' if generated else ''}"
        case = Case(name, scenario, scenario, generated)
        failures.add(Failure(case, FAILURE.trace, FAILURE.violation))

    assert [failure.case.name for failure in failures.kept] == ["7", "9", "1g"]
    assert failures.count == 5
