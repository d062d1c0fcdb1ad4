"""Each form of a report: the page, the summary of Markdown, JUnit, a badge and a row."""

import json
from typing import get_args
from xml.etree import ElementTree as ET

import msgspec
import pytest
from reports import FAILURE, LATER, THEN, report, result, verdict

from asyncwait.conformance.judging import Violation
from asyncwait.conformance.report import FORMS, Report, header_of, merged, report_of
from asyncwait.conformance.report._page import html_of
from asyncwait.conformance.verdict import Status, Verdict
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import PROFILES, declared


def test_nothing_but_the_page_itself_may_be_loaded() -> None:
    page = html_of(report(verdict()))

    policy = page.partition('Content-Security-Policy" content="')[2].partition('"')[0]
    assert policy.startswith("default-src &#39;none&#39;; style-src &#39;sha256-")
    assert "unsafe" not in policy
    assert "http" not in page.replace("http-equiv", "")


def test_texts_of_others_are_no_markup() -> None:
    odd = "</summary>|*x*\n# head\n```` <b>"
    failure = msgspec.structs.replace(FAILURE, violation=Violation(odd, 0))
    broken = Verdict("my*<b>", (result("ORD-1", "fail", "", failure),), 2, 2, (odd,))

    lines = FORMS["summary.md"](report(broken)).decode().splitlines()

    assert any(line.startswith(r"| my\*\<b\> | ❌ not conformant") for line in lines)
    assert r"  - error: \</summary\>\|\*x\* \# head \`\`\`\` \<b\>" in lines
    assert not any(line.startswith("# head") for line in lines[: lines.index("`````text")])
    summary = next(line for line in lines if line.startswith("<details>"))
    assert summary.startswith("<details><summary>&lt;/summary&gt;|*x*")


# What Jenkins' schema of such files has: the attributes of each element, and what stands in it.
PARTS = {
    "testsuites": ({"name", "time", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors", "skipped", "time", "timestamp"},
        {"properties", "testcase", "system-out"},
    ),
    "properties": (set[str](), {"property"}),
    "property": ({"name", "value"}, set[str]()),
    "testcase": ({"name", "time", "classname"}, {"skipped", "error", "failure"}),
    "skipped": ({"type", "message"}, set[str]()),
    "error": ({"type", "message"}, set[str]()),
    "failure": ({"type", "message"}, set[str]()),
    "system-out": (set[str](), set[str]()),
}


def junit(told: Report) -> ET.Element:
    return ET.fromstring(FORMS["junit.xml"](told))  # noqa: S314 - our own


def test_nothing_is_in_it_that_a_build_server_does_not_know() -> None:
    statuses = dict(zip(rules(), get_args(Status), strict=False))
    root = junit(report_of((verdict("mine", statuses),), THEN, {"spark": "no pyspark"}))

    for element in root.iter():
        attributes, parts = PARTS[element.tag]
        assert set(element.keys()) <= attributes
        assert {part.tag for part in element} <= parts
        assert len(element.findall("failure") + element.findall("error")) <= 1
    assert {element.tag for element in root.iter()} == set(PARTS)


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
