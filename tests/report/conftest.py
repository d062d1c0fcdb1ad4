"""A browser without a window, and pages of reports that it can open."""

import os
import shutil
from collections.abc import Generator
from pathlib import Path

import pytest
import reports
from playwright.sync_api import Browser, sync_playwright

from asyncwait.conformance.report._page import html_of

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


@pytest.fixture(scope="session")
def browser() -> Generator[Browser]:
    """The browser that the machine has; without one the tests fail."""
    found = os.environ.get("CHROME") or next(filter(None, map(shutil.which, NAMES)), None)
    assert found, "no browser on PATH, and CHROME names none: see .ci/browser"
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    pages = {}
    for name, report in reports.REPORTS.items():
        pages[name] = folder / f"{name}.html"
        pages[name].write_text(html_of(report()), encoding="utf-8")
    return pages
