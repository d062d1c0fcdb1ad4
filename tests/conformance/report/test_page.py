"""The page of a report, as text; what a browser makes of it is asked in `tests/report`."""

from reports import report, verdict

from asyncwait.conformance.report.page import html_of


def test_nothing_but_the_page_itself_may_be_loaded() -> None:
    page = html_of(report(verdict()))

    policy = page.partition('Content-Security-Policy" content="')[2].partition('"')[0]
    assert policy.startswith("default-src &#39;none&#39;; style-src &#39;sha256-")
    assert "unsafe" not in policy
    assert "http" not in page.replace("http-equiv", "")
