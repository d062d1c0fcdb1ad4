"""The page of a report, as somebody opens it in a browser."""

import re
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

import pytest
import reports
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from asyncwait.conformance.report._page import MOST
from asyncwait.spec.scenario import scenarios_from_json, trace_from_json

NAMES = list(reports.REPORTS)
OPEN_ALL = "document.querySelectorAll('details').forEach((each) => { each.open = true; })"


class Seen:
    def __init__(self, page: Page) -> None:
        self.said: list[str] = []
        self.asked: list[str] = []
        page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.said.append(f"raised: {error}"))
        page.on("dialog", lambda dialog: self.said.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: self.asked.append(request.url))


class Open(Protocol):
    def __call__(self, name: str = "real", **options: Any) -> Page: ...


@pytest.fixture
def opened(browser: Browser, files: dict[str, Path]) -> Generator[Open]:
    with ExitStack() as contexts:

        def opening(name: str = "real", **options: Any) -> Page:
            context = browser.new_context(**options)
            contexts.callback(context.close)
            page = context.new_page()
            page.goto(files[name].as_uri())
            return page

        yield opening


@pytest.fixture
def page(browser: Browser) -> Generator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("name", NAMES)
def test_a_page_opens_without_an_error_and_asks_for_nothing(
    name: str, files: dict[str, Path], page: Page
) -> None:
    seen = Seen(page)

    page.goto(files[name].as_uri())

    assert page.locator("#matrix").is_visible()
    assert seen.said == []
    assert [url for url in seen.asked if not url.startswith("data:")] == [files[name].as_uri()]


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_of_bounded_size(name: str, files: dict[str, Path]) -> None:
    text = files[name].read_text(encoding="utf-8")

    assert len(text.encode()) <= MOST == 2_000_000
    assert text.count('<svg class="aw" role="img"') >= 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["wide", "hostile", "real"])
def test_axe_finds_nothing_with_all_evidence_open(name: str, scheme: str, opened: Open) -> None:
    page = opened(name, color_scheme=scheme)
    page.evaluate(OPEN_ALL)

    results = Axe().run(page)

    assert results.violations_count == 0, results.generate_report()


@pytest.mark.parametrize("name", NAMES)
def test_every_cell_leads_to_its_evidence(name: str, files: dict[str, Path], page: Page) -> None:
    page.goto(files[name].as_uri())

    links = page.eval_on_selector_all("a", "all => all.map((each) => each.getAttribute('href'))")
    ids = page.eval_on_selector_all("[id]", "all => all.map((each) => each.id)")
    cells = page.eval_on_selector_all("#matrix .rule-row td", "all => all.length")
    led = page.eval_on_selector_all("#matrix td > a[href^='#e-']", "all => all.length")

    assert len(ids) == len(set(ids))
    assert {link[1:] for link in links} <= set(ids)
    assert cells == led > 10


def test_a_cell_that_fails_shows_sentence_reason_timeline_and_command(
    files: dict[str, Path], page: Page
) -> None:
    page.goto(files["real"].as_uri())

    page.locator("td > a.s-fail").first.focus()
    page.keyboard.press("Enter")

    place = page.locator(page.evaluate("location.hash"))
    assert page.evaluate("document.activeElement.id") == place.get_attribute("id")
    assert place.locator("svg").first.is_visible()
    assert "asyncwait play faulty-forgets-what-waits-for-room" in place.inner_text()
    rule = page.locator("details.rule", has=place)
    assert rule.locator("p").nth(0).inner_text().startswith("MUST: ")
    box = place.bounding_box()
    assert box is not None
    assert -1 <= box["y"] < 900


def test_the_filters_work_by_keyboard(files: dict[str, Path], page: Page) -> None:
    page.goto(files["real"].as_uri())
    rows = page.locator(".rule-row:visible")
    count = page.locator("#f-count")
    assert page.locator(".rule-row a.s-not-applicable:visible").count() == 0
    page.locator("#f-status").select_option("")
    everything = rows.count()
    assert everything == page.locator(".rule-row").count()

    page.locator("#f-text").focus()
    page.keyboard.type("Watermark")
    assert 0 < rows.count() < everything
    assert count.inner_text() == f"{rows.count()} of {everything} rules"
    assert all("watermark" in text.lower() for text in _whole(page))

    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.press("Tab")
    page.keyboard.type("fail")
    assert 0 < rows.count() < 20
    assert rows.count() == page.locator("tr:has(a.s-fail)").count()
    assert page.locator("details.rule:visible").count() == rows.count()

    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Show all"
    page.keyboard.press("Enter")
    expect(page.locator(".rule-row[hidden]")).to_have_count(0)
    assert rows.count() == everything

    page.locator("#f-area").select_option("SNAP")
    assert {row[:4] for row in rows.all_inner_texts()} == {"SNAP"}
    page.locator("#f-area").select_option("")
    page.locator("#f-level").select_option("SHOULD")
    assert 0 < rows.count() < 20


def _whole(page: Page) -> list[str]:
    ids = page.locator(".rule-row:visible").evaluate_all("all => all.map((r) => r.dataset.rule)")
    return [page.locator(f"#r-{rule}").text_content() or "" for rule in ids]


def test_scenario_and_trace_are_copied_whole(opened: Open) -> None:
    page = opened(permissions=["clipboard-read", "clipboard-write"])
    page.locator(".piece a").first.click()
    played = page.locator("details.played").first
    (planned,) = {each.planned for each in reports.real().runs[1].played[:1]}

    copied = []
    for button in played.locator("button").all():
        button.click()
        expect(button).to_have_text("copied")
        copied.append(page.evaluate("navigator.clipboard.readText()"))

    assert scenarios_from_json(copied[0].encode()) == (planned,)
    assert trace_from_json(copied[1].encode()) == reports.real().runs[1].played[0].trace


@pytest.mark.parametrize("scripts", [True, False])
def test_what_is_printed_has_all_evidence_in_it(
    scripts: bool,  # noqa: FBT001 - a parameter
    opened: Open,
) -> None:
    page = opened(java_script_enabled=scripts)
    closed = page.locator("details.rule:not([open]) .found").first
    played = page.locator("details.played pre").first
    assert not closed.is_visible()

    page.emulate_media(media="print")

    assert closed.is_visible()
    assert played.is_visible()
    assert page.locator(".piece svg").first.is_visible()
    assert page.locator(".piece details pre").first.is_visible()
    assert not page.locator("#filters").is_visible()
    assert page.pdf().startswith(b"%PDF")


def test_whatever_a_backend_writes_is_text(files: dict[str, Path], page: Page) -> None:
    seen = Seen(page)
    page.goto(files["hostile"].as_uri())
    page.evaluate(OPEN_ALL)

    shown = page.locator("body").inner_text()
    assert seen.said == []
    assert page.locator("body img").count() == 0
    assert page.locator("script").count() == 1
    assert "</script><script>alert(1)</script><img src=x onerror=alert(2)>" in shown
    assert "{{ 7 * 7 }}\\x00\\x1b[31m\\u202egnp\\u2028\\x7f" in shown
    assert {c for c in shown if not c.isprintable()} <= {"\n", "\t"}


def test_on_a_phone_every_verdict_is_in_sight(opened: Open) -> None:
    page = opened(viewport={"width": 390, "height": 844})
    cells = page.locator("#matrix td:visible").evaluate_all(
        "all => all.map((each) => each.getBoundingClientRect().right)"
    )
    assert len(cells) > 100
    assert max(cells) <= 390
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    shares = page.locator("#matrix .area td").all_inner_texts()
    assert all(re.fullmatch(r"\d+/\d+|-", share) for share in shares)
