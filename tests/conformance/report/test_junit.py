"""What a build server reads."""

import string
from typing import get_args
from xml.etree import ElementTree as ET

import msgspec
from reports import FAILURE, THEN, report, result, verdict

from asyncwait.conformance.judging import Violation
from asyncwait.conformance.report import FORMS, Report, report_of
from asyncwait.conformance.report._junit import OUTCOMES
from asyncwait.conformance.verdict import Status, Verdict
from asyncwait.spec.rules import rules

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
    """The XML, read back."""
    return ET.fromstring(FORMS["junit.xml"](told))  # noqa: S314 - our own


def cases(suite: ET.Element) -> dict[str, tuple[str, str]]:
    """What became of each case that did not pass: the outcome and its message."""
    return {
        case.get("name", "").split()[0]: (part.tag, part.get("message", ""))
        for case in suite.findall("testcase")
        for part in case
    }


def test_a_suite_for_each_backend_and_a_case_for_each_rule() -> None:
    """With the figures that a build server does not add up itself."""
    root = junit(report(verdict("first"), verdict("second", {"ORD-1": "fail"})))

    first, second = root.findall("testsuite")
    assert (first.get("name"), second.get("name")) == ("first", "second")
    assert root.attrib == {
        "name": "asyncwait",
        "tests": str(2 * (len(rules()) + 1)),
        "failures": "1",
        "errors": "0",
        "time": "3.000",
    }
    assert second.get("failures") == "1"
    assert first.get("timestamp") == THEN.removesuffix("Z")
    assert first.get("time") == "1.500"
    names = [case.get("name") for case in first.findall("testcase")]
    assert names == [*(f"{r.id} {r.title}" for r in rules().values()), names[-1]]


def test_each_status_has_its_outcome() -> None:
    """What was not seen to hold is in error: it is not passed over."""
    said = verdict(
        "mine",
        {
            "ORD-1": "fail",
            "ORD-2": "expected-fail",
            "ORD-3": "unexpected-pass",
            "ORD-4": "untested",
            "ORD-5": "not-applicable",
            "WM-1": "blocked",
            "WM-2": "held",
            "WM-3": "error",
            "CAP-5": "fail",
        },
        "said",
    )

    (suite,) = junit(report(said)).findall("testsuite")

    assert cases(suite) == {
        "ORD-1": ("failure", "fail: said"),
        "ORD-2": ("skipped", "expected-fail: said"),
        "ORD-3": ("failure", "unexpected-pass: said"),
        "ORD-4": ("error", "untested: said"),
        "ORD-5": ("skipped", "not-applicable: said"),
        "WM-1": ("error", "blocked: said"),
        "WM-2": ("error", "held: said"),
        "WM-3": ("error", "error: said"),
        "CAP-5": ("skipped", "does not decide: fail: said"),
    }


def test_nothing_is_in_it_that_a_build_server_does_not_know() -> None:
    """Some refuse a file for an attribute too many."""
    statuses = dict(zip(rules(), get_args(Status), strict=False))
    root = junit(report_of((verdict("mine", statuses),), THEN, {"spark": "no pyspark"}))

    for element in root.iter():
        attributes, parts = PARTS[element.tag]
        assert set(element.keys()) <= attributes
        assert {part.tag for part in element} <= parts
        assert len(element.findall("failure") + element.findall("error")) <= 1
    assert {element.tag for element in root.iter()} == set(PARTS)


def test_a_verdict_that_no_rule_speaks_for_is_a_failure() -> None:
    """As long as somebody else says that it is not conformant."""
    told = report(verdict("mine"))
    (run,) = told.runs
    assert run.footer is not None
    footer = msgspec.structs.replace(run.footer, word="not conformant", line="mine: not conformant")
    red = msgspec.structs.replace(told, runs=(msgspec.structs.replace(run, footer=footer),))

    (suite,) = junit(red).findall("testsuite")

    assert cases(suite) == {"everything": ("failure", "mine: not conformant")}


def test_no_status_is_without_an_outcome() -> None:
    """A new one would break a report."""
    assert set(OUTCOMES) == set(get_args(Status))


def test_what_is_inconclusive_is_an_error_of_its_own() -> None:
    """Where no rule says so: a run broke, or not everything was played."""
    broke = msgspec.structs.replace(verdict("mine"), errors=("run 7: no trace",))
    unplayed = msgspec.structs.replace(verdict("mine"), planned=3)

    (first,) = junit(report(broke)).findall("testsuite")
    (second,) = junit(report(unplayed)).findall("testsuite")

    assert first.get("errors") == second.get("errors") == "1"
    assert first.findtext(".//error") == "error: run 7: no trace"
    assert cases(second)["everything"] == ("error", unplayed.line)


def test_what_is_not_in_the_report_is_an_error() -> None:
    """A backend that could not be verified has no suite."""
    root = junit(report_of((verdict(),), THEN, {"spark": "no pyspark"}))

    suite = root.findall("testsuite")[-1]
    assert cases(suite) == {"is": ("error", "spark: not verified: no pyspark")}
    assert root.get("errors") == "1"


def test_what_xml_can_not_hold_is_written_out() -> None:
    """Values, names and errors are anybody's."""
    control = "".join(map(chr, range(32))) + "\x7f\ufffe\ud800<&\"']]>" + string.printable
    failure = msgspec.structs.replace(FAILURE, violation=Violation(control, 0))
    said = Verdict(f"mine{control}", (result("ORD-1", "fail", control, failure),), 1, 1, (control,))

    root = junit(report(said))

    message = root.find(".//failure").get("message", "")  # type: ignore[union-attr]
    assert message.startswith(r"fail: \x00\x01\x02\x03")
    assert r"\x1f" in message
    assert r"\ufffe\ud800<&" in message
    assert root.find("testsuite").get("name", "").startswith(r"mine\x00")  # type: ignore[union-attr]
