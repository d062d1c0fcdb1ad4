"""What a file, and a version, make of what was seen of a backend."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import pytest
from msgspec.structs import replace

from asyncwait.conformance.expected_failures import ExpectedFailure, ExpectedFailures
from asyncwait.conformance.expected_failures.file import (
    Entry,
    Settled,
    Terms,
    settle,
    settled_results,
)
from asyncwait.conformance.verdict import RuleResult, Status, Verdict
from asyncwait.spec import InvalidConfig
from asyncwait.spec.rules import Rule, rules
from asyncwait.spec.scenario import ALL_CAPABILITIES, Capability, declared

TODAY = date(2026, 5, 1)
KNOWN = {
    rule: replace(rules()[rule], since="0.2" if rule == "CAP-1" else "0.1")
    for rule in ("ORD-1", "ORD-3", "CAP-1", "SNAP-8")
}
"""The second version brings one more rule."""


@dataclass
class Backend:
    """What is known of a backend before anything is played."""

    name: str = "mine"
    capabilities: frozenset[Capability] = ALL_CAPABILITIES
    expected_failures: ExpectedFailures = field(default_factory=dict)
    spec: str = ""


def settled(
    *entries: Entry,
    backend: Any = None,
    chosen: Mapping[str, Rule] = KNOWN,
    **terms: Any,
) -> Settled:
    """What a backend is held to."""
    said = Terms(entries, "file.toml", terms.pop("today", TODAY), **terms)
    return settle(said, backend or Backend(), KNOWN, chosen)


def entry(rule: str = "ORD-1", **changes: Any) -> Entry:
    """An entry of one kind."""
    return replace(Entry(rule=rule, kind="unsupported", reason="by design"), **changes)


def verdict(terms: Settled, **statuses: Status) -> Verdict:
    """A verdict with a status for each rule, whose id has "_" for "-"."""
    ids = {name.replace("_", "-"): status for name, status in statuses.items()}
    kinds = {
        id_: tuple(e.kind for e in said if e.kind) for id_, said in terms.expected_failures.items()
    }
    found = (RuleResult(KNOWN[id_], each, kinds=kinds.get(id_, ())) for id_, each in ids.items())
    results = settled_results(found, terms)
    said = {"stale": terms.stale, "expired": terms.expired, "spec": terms.spec}
    return Verdict("mine", results, 1, 1, **said)  # type: ignore[arg-type]


def line(terms: Settled, **statuses: Status) -> str:
    """The verdict's line, without what it says of being about few rules."""
    said = verdict(terms, **statuses).line
    before, _, rest = said.partition(" as to ")
    return f"{before} {rest[rest.index('(') :]}"


def test_an_entry_counts_as_the_backend_itself_does() -> None:
    """Its link stands behind its reason."""
    found = settled(entry(link="https://example.org/7", seldom=True))

    assert found.expected_failures == {
        "ORD-1": (
            ExpectedFailure("by design (https://example.org/7)", seldom=True, kind="unsupported"),
        )
    }


def test_what_the_backend_says_itself_stays() -> None:
    """A file may add to it."""
    own = {"ORD-3": (ExpectedFailure("known"),)}

    found = settled(entry(), backend=Backend(expected_failures=own))

    assert list(found.expected_failures) == ["ORD-3", "ORD-1"]


def test_a_rule_that_is_expected_at_both_places_is_refused() -> None:
    """Nobody could tell which reason holds."""
    own = {"ORD-1": (ExpectedFailure("known"),)}

    with pytest.raises(InvalidConfig, match=r"^file\.toml: ORD-1 .* 'mine' .*\('known'\)"):
        settled(entry(), backend=Backend(expected_failures=own))


def test_an_entry_of_another_backend_is_passed_over() -> None:
    """One file may serve several."""
    assert settled(entry(backend="yours")) == settled()
    assert list(settled(entry(backend="mine")).expected_failures) == ["ORD-1"]


def test_the_verdict_counts_expected_failures_by_their_kind() -> None:
    """One that does not say its kind is counted with all."""
    terms = settled(entry(), entry("ORD-3", kind="future"))

    told = line(terms, ORD_1="expected-fail", ORD_3="expected-fail")
    assert "2 expected-fail [1 future, 1 unsupported]" in told


def test_an_entry_whose_rule_holds_speaks_against_the_backend() -> None:
    """It says what to do."""
    found = verdict(settled(entry()), ORD_1="unexpected-pass")

    assert found.word == "not conformant"
    assert found.results[0].note.startswith("by design: ")


def test_entries_that_match_nothing_speak_against_the_backend() -> None:
    """Each is named, and why nothing can match it."""
    few = Backend(capabilities=declared(lacks=["on-demand-snapshot"]))

    terms = settled(entry("SNAP-8"), backend=few)

    assert list(terms.stale) == ["SNAP-8"]
    assert verdict(terms, ORD_1="pass").word == "not conformant"


@pytest.mark.parametrize("rule", ["ORD-11", "snap-8", "MBX-1"])
def test_an_entry_for_a_rule_that_there_is_not_is_refused(rule: str) -> None:
    """It is a slip, whatever the backend does, and whichever backend it is about."""
    with pytest.raises(InvalidConfig, match=rf"^file\.toml: entry 2: rule\b.*\b{rule}\b"):
        settled(entry(), entry(rule, backend="yours"))


def test_an_entry_for_a_rule_that_nobody_asks_for_is_not_judged() -> None:
    """With some rules only, nothing is known of the others."""
    few = Backend(capabilities=declared(lacks=["on-demand-snapshot"]))
    chosen = {"ORD-1": KNOWN["ORD-1"]}

    terms = settled(entry("ORD-3"), entry("SNAP-8"), backend=few, chosen=chosen)

    assert (terms.expected_failures, terms.stale) == ({}, {})


@pytest.mark.parametrize(
    ("day", "counts"), [(date(2026, 4, 30), False), (TODAY, True), (None, True)]
)
def test_an_entry_counts_up_to_its_last_day(day: date | None, *, counts: bool) -> None:
    """That day included."""
    assert bool(settled(entry(expires=day)).expected_failures) is counts


def test_a_failure_whose_expected_failure_has_expired_is_one() -> None:
    """The verdict says when that was."""
    terms = settled(entry(expires=date(2026, 4, 30)))

    found = verdict(terms, ORD_1="fail")

    assert "2026-04-30" in found.results[0].note
    assert found.word == "not conformant"
    assert "ORD-1 on 2026-04-30" in found.line


def test_an_expired_expected_failure_of_a_rule_that_holds_has_to_go_too() -> None:
    """It is an entry that nothing shows, and the last day is told."""
    found = verdict(settled(entry(expires=date(2026, 4, 30))), ORD_1="pass")

    assert "2026-04-30" in found.results[0].note
    assert (found.word, found.results[0].status) == ("not conformant", "unexpected-pass")
    assert "expired" not in found.line


def test_a_rule_that_is_newer_than_what_is_claimed_does_not_decide() -> None:
    """It is told, and counted apart."""
    terms = settled(spec="0.1")

    found = verdict(terms, ORD_1="pass", CAP_1="fail")
    assert found.word == "conformant"
    assert found.line.endswith(" it fails 1: CAP-1")


def test_nothing_that_a_newer_rule_says_decides() -> None:
    """Not even that it was never seen."""
    found = verdict(settled(spec="0.1"), ORD_1="pass", CAP_1="untested")

    assert found.word == "conformant"
    assert [result.is_forgiven for result in found.results] == [False, True]
    assert found.line.endswith(" 1: CAP-1")


def test_whoever_keeps_all_newer_rules_may_claim_the_newest() -> None:
    """The line says so."""
    found = verdict(settled(spec="0.1"), ORD_1="pass", CAP_1="pass")

    assert found.line.endswith(": claim 0.2")
    assert not any(result.is_forgiven for result in found.results)


def test_an_expected_failure_for_a_newer_rule_that_holds_decides() -> None:
    """The entry is wrong, whatever the rule is."""
    terms = settled(entry("CAP-1"), spec="0.1")

    assert verdict(terms, ORD_1="pass", CAP_1="unexpected-pass").word == "not conformant"


def test_a_rule_of_the_claimed_version_decides() -> None:
    """To claim a version is to be held to it."""
    assert verdict(settled(spec="0.2"), CAP_1="fail").word == "not conformant"


def test_a_backend_may_say_itself_what_it_claims() -> None:
    """Or the project; both may say the same."""
    assert settled(backend=Backend(spec="0.1")).newer == {"CAP-1"}
    assert settled(backend=Backend(spec="0.1"), spec="0.1").spec == "0.1"


@pytest.mark.parametrize(
    ("own", "said", "wrong"),
    [
        ("", "0.3", "^spec must .* got '0.3'.*newer"),
        ("", "0.0", "^spec must .* got '0.0'"),
        ("one", "", "^spec must .* got 'one'"),
        ("0.1", "0.2", "^spec: .* 'mine' .* 0.1, .* 0.2"),
    ],
)
def test_a_version_that_cant_be_claimed_is_refused(own: str, said: str, wrong: str) -> None:
    """Before anything is played."""
    with pytest.raises(InvalidConfig, match=wrong):
        settled(backend=Backend(spec=own), spec=said)
