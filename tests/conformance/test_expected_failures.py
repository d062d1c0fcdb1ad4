"""What a backend is known to break, and what a file and a version make of that."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import pytest
from msgspec.structs import replace

from asyncwait.conformance.expected_failures import (
    ExpectedFailure,
    ExpectedFailures,
    Sorted,
    sort_out,
)
from asyncwait.conformance.judging import Violation
from asyncwait.conformance.verdict import RuleResult, Status, Verdict
from asyncwait.conformance.verifying import Entry, Settled, Terms, _gate, settle, settled_results
from asyncwait.spec import InvalidConfig
from asyncwait.spec.rules import Rule, rules
from asyncwait.spec.scenario import ALL_CAPABILITIES, Capability, declared

PLAIN, REPEATED = ("plain", "0123abcd"), ("repeated", "4567abcd")
"""Names and ids of two scenarios."""

EXPECTED_FAILURES = {
    "WM-5": (ExpectedFailure("statuses overtake"),),
    "ORD-5": (ExpectedFailure("called once more", scenarios=("repeated",)),),
    "ORD-1": (
        ExpectedFailure("out of order", scenarios=("repeated",)),
        ExpectedFailure("anywhere"),
    ),
}


@pytest.mark.parametrize(
    ("called", "broken", "findings", "known"),
    [
        (PLAIN, {}, "", {}),
        # What comes with a known violation or behind it may be its consequence.
        (
            PLAIN,
            {"WM-5": (0, 3), "ELEM-3": (0, 3), "END-1": (0, 7)},
            "",
            {"WM-5": ("statuses overtake",)},
        ),
        # What comes before it counts with all others; the known one stays known.
        (
            PLAIN,
            {"WM-5": (0, 3), "ELEM-3": (0, 2), "END-1": (0, 7)},
            "ELEM-3 END-1",
            {"WM-5": ("statuses overtake",)},
        ),
        # An earlier leg comes before a later one, whatever their clocks show.
        (
            PLAIN,
            {"WM-5": (1, 3), "ELEM-3": (0, 8)},
            "ELEM-3",
            {"WM-5": ("statuses overtake",)},
        ),
        # A record that is called twice without any retry is a finding.
        (PLAIN, {"ORD-5": (0, 3)}, "ORD-5", {}),
        (REPEATED, {"ORD-5": (0, 3)}, "", {"ORD-5": ("called once more",)}),
        # Of several expected failures of a rule the reasons are given that may be.
        (PLAIN, {"ORD-1": (0, 1)}, "", {"ORD-1": ("anywhere",)}),
        (REPEATED, {"ORD-1": (0, 1)}, "", {"ORD-1": ("out of order", "anywhere")}),
    ],
)
def test_a_known_violation_hides_what_may_follow_from_it(
    called: tuple[str, str],
    broken: dict[str, tuple[int, float]],
    findings: str,
    known: dict[str, tuple[str, ...]],
) -> None:
    violations = {rule: Violation("", at, leg) for rule, (leg, at) in broken.items()}

    found = sort_out(violations, EXPECTED_FAILURES, called)

    assert found == Sorted(frozenset(findings.split()), known)


def test_scenarios_in_one_text_are_refused() -> None:
    with pytest.raises(InvalidConfig, match=r"^scenarios must be names and ids, .*, got 'late' "):
        ExpectedFailure("called once more", scenarios="late")  # type: ignore[arg-type]


TODAY = date(2026, 5, 1)
KNOWN = {
    rule: replace(rules()[rule], since="0.2" if rule == "CAP-1" else "0.1")
    for rule in ("ORD-1", "ORD-3", "CAP-1", "SNAP-8")
}
"""The second version brings one more rule."""


@dataclass
class Backend:
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
    said = Terms(entries, "file.toml", terms.pop("today", TODAY), **terms)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_gate, "rules", lambda: KNOWN)
        return settle(said, backend or Backend(), chosen)


def entry(rule: str = "ORD-1", **changes: Any) -> Entry:
    return replace(Entry(rule=rule, reason="by design"), **changes)


def verdict(terms: Settled, **statuses: Status) -> Verdict:
    ids = {name.replace("_", "-"): status for name, status in statuses.items()}
    found = (RuleResult(KNOWN[id_], each) for id_, each in ids.items())
    results = settled_results(found, terms)
    said = {"stale": terms.stale, "expired": terms.expired, "spec": terms.spec}
    return Verdict("mine", results, 1, 1, **said)  # type: ignore[arg-type]


def test_an_entry_counts_as_the_backend_itself_does() -> None:
    own = {rule: (ExpectedFailure("known"),) for rule in ("ORD-1", "ORD-3")}
    said = entry(strict=False, scenarios=("late",))
    found = settled(said, backend=Backend(expected_failures=own))

    assert found.expected_failures == {**own, "ORD-1": (*own["ORD-1"], said)}


FEW = Backend(capabilities=declared(lacks=["on-demand-snapshot"]))
YESTERDAY = date(2026, 4, 30)


@pytest.mark.parametrize(
    ("terms", "expected", "stale"),
    [
        # Nothing can match an entry for what the backend lacks; only a strict one has to.
        (settled(entry("SNAP-8"), backend=FEW), "", "SNAP-8"),
        (settled(entry("SNAP-8", strict=False), backend=FEW), "", ""),
        # With some rules only, nothing is known of the others.
        (
            settled(entry("ORD-3"), entry("SNAP-8"), backend=FEW, chosen={"ORD-1": KNOWN["ORD-1"]}),
            "",
            "",
        ),
        # An entry counts up to its last day, that day included.
        (settled(entry(until=YESTERDAY)), "", ""),
        (settled(entry(until=TODAY)), "ORD-1", ""),
        (settled(entry(until=None)), "ORD-1", ""),
    ],
)
def test_an_entry_counts_where_its_rule_applies_and_for_its_time(
    terms: Settled, expected: str, stale: str
) -> None:
    assert " ".join(terms.expected_failures) == expected
    assert " ".join(terms.stale) == stale


PINNED = settled(backend=Backend(spec="0.1"))
EXPIRED = settled(entry(until=YESTERDAY))


@pytest.mark.parametrize(
    ("terms", "statuses", "word", "told"),
    [
        (
            settled(entry(), entry("ORD-3")),
            {"ORD_1": "expected-fail", "ORD_3": "expected-fail"},
            "conformant with expected failures",
            "2 expected-fail",
        ),
        # A rule that is broken in another scenario than is listed speaks against the backend.
        (settled(entry()), {"ORD_1": "fail"}, "not conformant", "in other scenarios: by design"),
        # An entry whose rule holds, or that nothing matches, speaks against the backend,
        (settled(entry()), {"ORD_1": "unexpected-pass"}, "not conformant", "by design: "),
        (settled(entry("SNAP-8"), backend=FEW), {"ORD_1": "pass"}, "not conformant", "SNAP-8"),
        # and so does one that has expired, whether its rule fails or holds.
        (EXPIRED, {"ORD_1": "fail"}, "not conformant", "ORD-1 on 2026-04-30"),
        (EXPIRED, {"ORD_1": "pass"}, "not conformant", "2026-04-30"),
        # A rule that is newer than what is claimed does not decide: it is told, and counted apart;
        (PINNED, {"ORD_1": "pass", "CAP_1": "fail"}, "conformant", " it fails 1: CAP-1"),
        # not even that it was never seen;
        (PINNED, {"ORD_1": "pass", "CAP_1": "untested"}, "conformant", " 1: CAP-1"),
        # whoever keeps all newer rules may claim the newest;
        (PINNED, {"ORD_1": "pass", "CAP_1": "pass"}, "conformant", ": claim 0.2"),
        # but an entry for a newer rule that holds is wrong, whatever the rule is.
        (
            settled(entry("CAP-1"), spec="0.1"),
            {"ORD_1": "pass", "CAP_1": "unexpected-pass"},
            "not conformant",
            "",
        ),
        # To claim a version is to be held to it.
        (settled(spec="0.2"), {"CAP_1": "fail"}, "not conformant", ""),
    ],
)
def test_terms_decide_the_verdict(
    terms: Settled, statuses: dict[str, Status], word: str, told: str
) -> None:
    found = verdict(terms, **statuses)

    assert found.word == word
    assert told in f"{found.line} {found.results[0].note}"


def test_what_expired_is_an_entry_that_nothing_shows() -> None:
    held = verdict(EXPIRED, ORD_1="pass")
    untested, kept = (verdict(PINNED, ORD_1="pass", CAP_1=each) for each in ("untested", "pass"))

    assert (held.results[0].status, "expired" in held.line) == ("unexpected-pass", False)
    assert [result.is_forgiven for result in untested.results] == [False, True]
    assert not any(result.is_forgiven for result in kept.results)


@pytest.mark.parametrize(
    ("entries", "backend", "said", "wrong"),
    [
        *(
            (
                (entry(), entry(rule)),
                Backend(),
                "",
                rf"^file\.toml: entry 2: rule\b.*\b{rule}\b",
            )
            for rule in ("ORD-11", "snap-8", "MBX-1")
        ),
        ((), Backend(), "0.3", "^spec must .* got '0.3'.*newer"),
        ((), Backend(), "0.0", "^spec must .* got '0.0'"),
        ((), Backend(spec="one"), "", "^spec must .* got 'one'"),
        ((), Backend(spec="0.1"), "0.2", "^spec: .* 'mine' .* 0.1, .* 0.2"),
    ],
)
def test_terms_that_cant_hold_are_refused(
    entries: tuple[Entry, ...], backend: Backend, said: str, wrong: str
) -> None:
    with pytest.raises(InvalidConfig, match=wrong):
        settled(*entries, backend=backend, spec=said)
