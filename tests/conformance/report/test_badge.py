"""One word for a README."""

import json

import msgspec
import pytest
from reports import LATER, report, result, verdict

from asyncwait.conformance.report import FORMS, Report, header_of, merged
from asyncwait.conformance.verdict import Verdict
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import PROFILES, declared

SOME = msgspec.structs.replace(verdict("mine"), capabilities=declared(("ordered",), ()))
MANY = msgspec.structs.replace(verdict("mine"), capabilities=declared(list(PROFILES)[:7], ()))
CUT = msgspec.structs.replace(verdict("mine"), planned=3)
KNOWN = verdict("mine", {"ORD-1": "expected-fail"}, "see issue 7")


@pytest.mark.parametrize(
    ("told", "message", "color"),
    [
        (report(verdict("mine")), "conformant", "brightgreen"),
        (report(SOME), "conformant: core, ordered", "brightgreen"),
        (report(MANY), "conformant: 8 profiles", "brightgreen"),
        (report(KNOWN), "conformant with expected failures", "yellow"),
        (report(verdict("mine", {"ORD-1": "fail"})), "not conformant", "red"),
        (report(CUT), "inconclusive", "lightgrey"),
        (report(), "inconclusive", "lightgrey"),
        (report(verdict("one"), verdict("two")), "2 of 2 conformant", "brightgreen"),
        (report(verdict("one"), KNOWN), "1 of 2 conformant with expected failures", "yellow"),
        (
            report(Verdict("mine", (result("ORD-1", "pass"),), 2, 2)),
            "conformant as to 1 rule",
            "lightgrey",
        ),
    ],
)
def test_the_badge_says_the_worst_and_what_it_is_about(
    told: Report, message: str, color: str
) -> None:
    assert json.loads(FORMS["badge.json"](told)) == {
        "schemaVersion": 1,
        "label": "asyncwait",
        "message": message,
        "color": color,
    }


def test_the_row_is_that_of_the_newest_run() -> None:
    old = report(verdict("a|b_*", {"ORD-1": "fail"}))
    new = report(verdict("a|b_*", {"ORD-2": "not-applicable"}), created=LATER)

    comment, row = FORMS["row.md"](merged((new, old), header_of(LATER))).decode().splitlines()

    count = len(rules()) - 1
    assert comment == (
        "<!-- | operator | verdict | rules passed / applicable | scenarios | asyncwait | when | -->"
    )
    version = new.header.asyncwait
    head = rf"| a\|b\_\* | conformant | {count}/{count} | 2 | {version} | "
    assert row == f"{head}2026-02-01T00:00:00Z, the newest of 2 runs |"
