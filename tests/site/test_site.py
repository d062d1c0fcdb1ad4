"""The site is whole, loads nothing from elsewhere, and every link in it leads somewhere."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
from chapters import RELATED, chapter_of, folder_of
from where import ROOT

from asyncwait.backends.faulty import FAULTY
from asyncwait.backends.faulty.carry import FAULTY_CARRY
from asyncwait.backends.faulty.mailbox import FAULTY_MAILBOXES
from asyncwait.conformance.areas import EXAMPLES
from asyncwait.conformance.upstream import upstream_tests
from asyncwait.spec.rules import carry_rules, mailbox_rules, rules
from asyncwait.spec.scenario import Capability

LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data"}
"""What has a browser load something, and where it says what."""

LOADING_LINKS = {"stylesheet", "preload", "icon", "preconnect", "dns-prefetch", "manifest"}


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.anchors = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag in LOADS and LOADS[tag] in given:
            self.loads.append(given[LOADS[tag]])
        if tag == "link" and LOADING_LINKS & set(given.get("rel", "").split()):
            self.loads.append(given["href"])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])


@cache
def page(file: Path) -> Page:
    return Page(file.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if "SITE" in os.environ:
        return Path(os.environ["SITE"])
    folder = tmp_path_factory.mktemp("site")
    config = ("--config-file", str(ROOT / "mkdocs.yml"), "--site-dir", str(folder))
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", *config]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(name="pages", scope="session")
def read_pages(site: Path) -> dict[Path, Page]:
    return {file: page(file) for file in site.rglob("*.html") if file.name != "404.html"}


def is_foreign(link: str) -> bool:
    parts = urlsplit(link)
    return bool(parts.netloc) or parts.scheme not in {"", "data"}


def test_no_page_loads_anything_from_elsewhere(pages: dict[Path, Page]) -> None:
    loads = [link for each in pages.values() for link in each.loads]

    assert len(loads) > 3 * len(pages)
    assert [link for link in loads if is_foreign(link)] == []


def test_no_style_loads_anything_from_elsewhere(site: Path) -> None:
    texts = [file.read_text(encoding="utf-8") for file in site.rglob("*.css")]
    found = [
        re.findall(r"url\(['\"]?(.*?)['\"]?\)|@import ['\"](.*?)['\"]", each) for each in texts
    ]
    links = ["".join(either) for of_text in found for either in of_text]

    assert texts
    assert [link for link in links if is_foreign(link)] == []


def test_every_link_leads_somewhere(pages: dict[Path, Page]) -> None:
    assert list(broken_links(pages)) == []


def broken_links(pages: dict[Path, Page]) -> Iterator[str]:
    for file, read in pages.items():
        for link in read.links:
            path, anchor = map(unquote, urldefrag(link))
            target = (file.parent / path).resolve() if path else file
            if is_foreign(link) or (target.suffix != ".html" and target.is_file()):
                continue
            if not target.is_file() or anchor not in page(target).anchors:
                yield f"{file.name}: {link}"


@pytest.mark.parametrize("rule", [*rules(), *mailbox_rules(), *carry_rules()])
def test_a_rule_leads_to_what_shows_it_and_what_breaks_it(
    rule: str, site: Path, pages: dict[Path, Page]
) -> None:
    chapter = site / chapter_of(rule).replace(".md", ".html")
    links = {link.rpartition("#")[2] for link in pages[chapter].links}

    assert rule.lower() in pages[chapter].anchors
    assert {name for _, name in RELATED[rule].examples} <= links
    assert set(RELATED[rule].faults) <= links


def test_the_gallery_has_everything(site: Path, pages: dict[Path, Page]) -> None:
    table = {link.partition("#")[2] for link in pages[site / "faults" / "index.html"].links}
    for faulty in (*FAULTY, *FAULTY_MAILBOXES, *FAULTY_CARRY):
        of_area = pages[site / "faults" / f"{folder_of(faulty.rule)}.html"]
        assert faulty.name in of_area.anchors
        assert faulty.rule.lower() in {link.partition("#")[2] for link in of_area.links}
        assert faulty.name in table


def test_every_example_is_drawn(site: Path) -> None:
    texts = "".join(file.read_text() for file in (site / "spec" / "examples").glob("*.html"))

    assert [each.name for each in EXAMPLES if f'<h2 id="{each.name}">' not in texts] == []
    assert texts.count("What happens") == len(EXAMPLES)


def test_tables_hold_all_that_is_defined(site: Path) -> None:
    capabilities = (site / "capabilities.html").read_text(encoding="utf-8")
    upstream = (site / "upstream.html").read_text(encoding="utf-8")

    assert [each for each in Capability if f"<code>{each.value}</code>" not in capabilities] == []
    assert [each.name for each in upstream_tests() if each.name not in upstream] == []
