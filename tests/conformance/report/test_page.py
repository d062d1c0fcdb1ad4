"""The page of a report, as text; what a browser makes of it is asked in `tests/report`."""

import json
import re

import msgspec
from reports import caused, report, verdict

from asyncwait.conformance.report import Report
from asyncwait.conformance.report.page import MOST, html_of
from asyncwait.spec.rules import rules


def test_what_is_broken_is_told_with_its_reason_and_how_it_is_played_again() -> None:
    """In the rule's section; whatever passes says how often it applied."""
    page = html_of(report(verdict("mine", {"ORD-1": "fail"})))

    assert '<strong>mine</strong>: <span class="word">' in page
    section = page.partition('id="r-ORD-1"')[2].partition("</details>\n<details")[0]
    assert "<strong>If this fails:</strong>" in section
    assert "it is wrong (at 40 ms)" in section
    assert ">asyncwait play mine " in section
    assert page.count('<svg class="aw" role="img"') == 1
    assert "it applied 7 times" in page.partition('id="e-0-ORD-2"')[2]


def test_the_page_leads_with_the_cause_and_links_what_follows_from_it() -> None:
    """In the verdict, and where the rules are told one by one."""
    page = html_of(report(caused()))

    listed = page.partition("<p>Broken, causes first: ")[2].partition("</p>")[0]
    assert re.findall('href="#e-0-([A-Z0-9-]+)"', listed) == ["ORD-4", "ELEM-1", "CAP-1"]
    assert "</a> (from which most likely follow: <a" in listed
    told = re.findall('<details class="rule" id="r-([A-Z0-9-]+)"', page)
    assert told[:3] == ["ORD-4", "CAP-1", next(iter(rules()))]
    section = page.partition('id="e-0-ELEM-1"')[2]
    assert section.partition("<p>Most likely follows from ")[2].startswith("ORD-4: broken only ")


def test_nothing_but_the_page_itself_may_be_loaded() -> None:
    """Its policy names its own style and its own script, by what they hold."""
    page = html_of(report(verdict()))

    policy = page.partition('Content-Security-Policy" content="')[2].partition('"')[0]
    assert policy.startswith("default-src &#39;none&#39;; style-src &#39;sha256-")
    assert "unsafe" not in policy
    assert "http" not in page.replace("http-equiv", "")


def test_where_there_is_no_room_the_evidence_is_left_out_and_told() -> None:
    """The page stays whole: the matrix, the texts and the commands."""
    page = html_of(_with_long_text(report(verdict("mine", {"ORD-1": "fail"}))))

    assert len(page.encode()) > MOST
    assert page.count('<svg class="aw" role="img"') == 0
    assert "left out" in page


def _with_long_text(told: Report) -> Report:
    """The same, in which the texts of the rules alone fill a page."""
    texts = tuple(
        msgspec.structs.replace(rule, why=("why " * 300 + "\n\n") * 20) for rule in told.rules
    )
    return msgspec.structs.replace(told, rules=texts)


def test_scenario_and_trace_stand_in_the_page_as_json() -> None:
    """Escaped for the page, and nothing but that."""
    page = html_of(report(verdict("mine", {"ORD-1": "fail"})))

    text = page.partition('<pre id="s-0-0"')[2].partition(">")[2].partition("</pre>")[0]

    assert json.loads(text)[0]["inputs"][0]["element"]["value"] == "a"
