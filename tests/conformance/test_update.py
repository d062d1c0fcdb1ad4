"""A file of expected failures is written from a run; what stands in it stays as far as it holds."""

from collections.abc import Mapping
from datetime import date
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.judging import Violation
from asyncwait.conformance.verdict import Case, Failure, RuleResult, Tally, Verdict
from asyncwait.conformance.verifying import (
    Played,
    Terms,
    Update,
    entries_of,
    settle,
    settled_results,
    updated,
)
from asyncwait.spec import InvalidConfig
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import ALL_CAPABILITIES, Capability, Ending, Leg, Scenario, Trace

TODAY = date(2026, 5, 1)
CASE = Case("late", Scenario(), Scenario(), about=("END-4",))
TRACE = Trace((Leg(Ending("finished")),))
WRONG = 'said "no"\tat \\ all'


def played(
    text: str,
    *broken: str,
    backend: str = "mine",
    generated: bool = False,
    can: frozenset[Capability] = ALL_CAPABILITIES,
    untested: tuple[str, ...] = (),
) -> Played:
    said: Any = SimpleNamespace(name=backend, capabilities=can, expected_failures={}, spec="")
    terms = Terms(entries_of(text, "file.toml"), "file.toml", TODAY)
    settled = settle(terms, said, rules())
    tally = Tally(CHECKS, rules())
    case = replace(CASE, generated=generated, about=() if generated else CASE.about)
    tally.broken += [(case, {rule: Violation(WRONG, 0)}) for rule in broken]
    failure = Failure(case, TRACE, Violation(WRONG, 0))
    failing = tuple(RuleResult(rules()[rule], "fail", 1, 1, (failure,)) for rule in broken)
    others = tuple(RuleResult(rules()[rule], "untested", note="never") for rule in untested)
    verdict = Verdict(backend, settled_results(failing + others, settled), 1, 1)
    return Played(verdict, tally, settled, {})


def told(found: Update) -> list[str]:
    return [" ".join(line.replace(":", "").split()[:2]) for line in found.lines]


def update(text: str, *broken: str) -> Update:
    return updated(text, "file.toml", [played(text, *broken)], TODAY)


FIRST = """\
# Rules that are known to be broken. `asyncwait verify` says so when one of them holds again.

[[expected-failure]]
rule = "ORD-1"
reason = "seen in 1 scenario: said \\"no\\"\\tat \\\\ all, in late (ID)"
until = 2026-07-30
scenarios = [
    "late",
]
"""


def test_a_file_that_is_not_there_is_begun() -> None:
    first = update("", "ORD-1")

    assert first.text.replace(CASE.id, "ID") == FIRST
    assert told(first) == ["ORD-1 added"]


OLD = """\
# Our expected failures.

[[expected-failure]]   # first
rule = 'ORD-1'
reason = "by design"
scenarios = ["late"]

# To be mended next week.
[[expected-failure]]
rule = "CAP-1"
reason = "with 2.0"

[[expected-failure]]
rule = "END-4"
reason = "with 3.0"
"""

ALL = ("ORD-1", "CAP-1", "END-4")


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        (OLD, ALL),
        # A rule that does not bind needs no entry: it does not decide without one either.
        (OLD, (*ALL, "CAP-5")),
    ],
)
def test_what_is_right_stays_as_it_is(text: str, broken: tuple[str, ...]) -> None:
    assert rules()["CAP-5"].level == "SHOULD"
    assert update(text, *broken) == Update(text, ())


def test_an_entry_that_is_not_needed_goes_and_the_others_keep_their_reasons() -> None:
    fewer, more = update(OLD, "ORD-1", "END-4"), update(OLD, *ALL, "SNAP-4")

    assert told(fewer) == ["CAP-1 dropped"]
    assert fewer.text.startswith("# Our expected failures.\n\n[[expected-failure]]\n")
    assert reasons_of(fewer) == {"ORD-1": "by design", "END-4": "with 3.0"}
    assert [*reasons_of(more)] == [*ALL, "SNAP-4"]


def reasons_of(update: Update) -> Mapping[str, str]:
    return {entry.rule: entry.reason for entry in entries_of(update.text, "file.toml")}


def test_the_scenarios_that_break_a_rule_are_added() -> None:
    first, *others = entries_of(update(OLD.replace('"late"', '"early"'), *ALL).text, "file.toml")
    many = [f"example-{number}" for number in range(50)]
    (any_, *_) = entries_of(update(OLD.replace('"late"', repr(many)[1:-1]), *ALL).text, "file.toml")

    assert first.scenarios == ("early", "late")
    assert [entry.scenarios for entry in others] == [(), ()]
    assert any_.scenarios == ()


def test_what_only_generated_scenarios_show_is_not_strict() -> None:
    text = updated("", "file.toml", [played("", "ORD-1", generated=True)], TODAY).text

    (entry,) = entries_of(text, "file.toml")
    assert (entry.strict, entry.scenarios) == (False, (CASE.id,))
    assert updated(text, "file.toml", [played(text)], TODAY) == Update(text, ())


def test_an_entry_that_has_expired_is_left_to_its_author() -> None:
    text = update("", "ORD-1").text.replace("2026-07-30", "2026-04-30")

    left = update(text, "ORD-1")
    assert (left.text, told(left)) == (text, ["ORD-1 left"])


@given(
    st.integers(0, len(OLD)), st.integers(0, 30), st.sampled_from(["\n", "#", "'", '"""', "\r\n"])
)
def test_whatever_can_be_read_can_be_updated(at: int, lost: int, put: str) -> None:
    text = OLD[:at] + put + OLD[at + lost :]
    try:
        first = update(text, "CAP-1", "SNAP-4")
    except InvalidConfig:
        return

    assert update(first.text, "CAP-1", "SNAP-4") == Update(first.text, ())
    assert {"CAP-1", "SNAP-4"} == {entry.rule for entry in entries_of(first.text, "file.toml")}
