"""What a build server reads."""

from typing import get_args
from xml.etree import ElementTree as ET

from reports import THEN, verdict

from asyncwait.conformance.report import FORMS, Report, report_of
from asyncwait.conformance.verdict import Status
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
