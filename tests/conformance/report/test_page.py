"""The page of a report, as text; what a browser makes of it is asked in `tests/report`."""

import msgspec
from reports import report, verdict

from asyncwait.conformance.report import Report
from asyncwait.conformance.report.page import MOST, html_of


def test_nothing_but_the_page_itself_may_be_loaded() -> None:
    page = html_of(report(verdict()))

    policy = page.partition('Content-Security-Policy" content="')[2].partition('"')[0]
    assert policy.startswith("default-src &#39;none&#39;; style-src &#39;sha256-")
    assert "unsafe" not in policy
    assert "http" not in page.replace("http-equiv", "")


def test_where_there_is_no_room_the_evidence_is_left_out_and_told() -> None:
    page = html_of(_with_long_text(report(verdict("mine", {"ORD-1": "fail"}))))

    assert len(page.encode()) > MOST
    assert page.count('<svg class="aw" role="img"') == 0
    assert "left out" in page


def _with_long_text(told: Report) -> Report:
    texts = tuple(
        msgspec.structs.replace(rule, why=("why " * 300 + "\n\n") * 20) for rule in told.rules
    )
    return msgspec.structs.replace(told, rules=texts)
