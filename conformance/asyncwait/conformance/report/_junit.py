"""A report as JUnit XML, which build servers read: a suite for each backend, a case for each rule.

A status that decides nothing is an error there, not a skipped success: a build server counts
errors, and a rule that was never seen to hold does not hold.
"""

from collections.abc import Mapping
from typing import Literal, TypeAlias
from xml.etree import ElementTree as ET

from asyncwait.conformance.report._model import Report, Result, Run, titles
from asyncwait.conformance.report._text import result_lines
from asyncwait.conformance.verdict import Status
from asyncwait.spec.texts import joined, one_line

Outcome: TypeAlias = Literal["", "failure", "error", "skipped"]

OUTCOMES: Mapping[Status, Outcome] = {
    "pass": "",
    "fail": "failure",
    "unexpected-pass": "failure",
    "expected-fail": "skipped",
    "not-applicable": "skipped",
    "held": "error",
    "blocked": "error",
    "untested": "error",
    "error": "error",
}

WHOLE = "everything was played and judged"
"""The case of a suite that is no rule."""

LONGEST = 2_000
"""Longest attribute, in characters."""


def to_junit(report: Report) -> bytes:
    """Return a report as JUnit XML."""
    suites = ET.Element("testsuites", name="asyncwait")
    for run, title in zip(report.runs, titles(report), strict=True):
        suites.append(_suite(report, run, title))
    if report.doubt:
        suite = ET.SubElement(suites, "testsuite", name="report", time="0.000")
        case = ET.SubElement(suite, "testcase", classname="report", name="is whole", time="0.000")
        ET.SubElement(case, "error", type="inconclusive", message=_clean(report.doubt))
        _count(suite)
    for key in ("tests", "failures", "errors"):  # Jenkins does not know "skipped" there.
        suites.set(key, str(sum(int(suite.get(key, "0")) for suite in suites)))
    suites.set("time", f"{sum(float(suite.get('time', '0')) for suite in suites):.3f}")
    ET.indent(suites)
    text: bytes = ET.tostring(suites, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _suite(report: Report, run: Run, title: str) -> ET.Element:
    seconds = f"{run.footer.seconds if run.footer else 0:.3f}"
    suite = ET.Element("testsuite", name=_clean(title), time=seconds)
    if run.header.created[:1].isdigit():
        suite.set("timestamp", _clean(run.header.created.partition("+")[0].rstrip("Z")))
    properties = ET.SubElement(suite, "properties")
    about = {
        "verdict": run.claim,
        "asyncwait": run.header.asyncwait,
        "profiles": ", ".join(run.header.profiles),
        "seed": str(run.header.seed),
        "planned": str(run.header.planned),
    }
    for name, value in about.items():
        ET.SubElement(properties, "property", name=name, value=_clean(value))
    for result in run.results:
        _add_case(suite, report, run, result)
    _add_whole(suite, run)
    ET.SubElement(suite, "system-out").text = _clean(run.line)
    _count(suite)
    return suite


def _add_case(suite: ET.Element, report: Report, run: Run, result: Result) -> None:
    rule = report.by_rule[result.rule]
    case = _case(suite, run, f"{rule.area} {rule.chapter}", f"{rule.id} {rule.title}")
    outcome = OUTCOMES[result.status]
    if not outcome:
        return
    outcome = "skipped" if result.forgiven else outcome
    level = "does not decide: " if result.forgiven else ""
    text = result.note or (result.evidence[0].text if result.evidence else run.doubt)
    message = f"{level}{result.status}: {text}".removesuffix(": ")
    said = ET.SubElement(case, outcome, type=result.status, message=_clean(message))
    if result.evidence:
        said.text = joined(result_lines(report, run, result))


def _add_whole(suite: ET.Element, run: Run) -> None:
    """Add the case that fails where the verdict fails for another reason than a rule."""
    case = _case(suite, run, "verdict", WHOLE)
    case.set("time", suite.get("time", ""))  # All rules are judged by the same runs.
    errors: tuple[str, ...] = run.footer.errors if run.footer else ()
    if run.word == "inconclusive" or errors:
        message = _clean(run.line if run.word == "inconclusive" else next(iter(errors)))
        said = ET.SubElement(case, "error", type="inconclusive", message=message)
        said.text = joined(f"error: {each}" for each in (run.doubt, *errors) if each)
    elif run.word == "not conformant" and not suite.findall("testcase/failure"):
        ET.SubElement(case, "failure", type=run.word, message=_clean(run.line))


def _case(suite: ET.Element, run: Run, group: str, name: str) -> ET.Element:
    """Add a case; build servers take the text before the last dot of a class for a package."""
    group = f"{run.name.replace('.', '_')}.{group.replace('.', '_')}"
    return ET.SubElement(
        suite, "testcase", classname=_clean(group), name=_clean(name), time="0.000"
    )


def _count(suite: ET.Element) -> None:
    """Add a suite's figures, which build servers do not add up themselves."""
    suite.set("tests", str(len(suite.findall("testcase"))))
    for key, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(key, str(len(suite.findall(f"testcase/{tag}"))))


def _clean(text: str) -> str:
    return one_line(text, LONGEST)
