"""The pages on peers: each failure on them is played again, and no rule is missing."""

import re
from pathlib import Path
from typing import Any

import pytest
from flink_runs import run_of
from smallest_failures import EVIDENCE, drawn

from asyncwait.conformance._verify import Coverage, verify
from asyncwait.conformance.running import StreamBackend, load_backend
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import scenarios_from_json

ROOT = Path(__file__).resolve().parents[2]
PEERS = ROOT / "examples" / "peers"
PAGES = sorted((ROOT / "docs" / "peers").glob("*.md"))
OVERVIEW = (ROOT / "docs" / "peers.md").read_text(encoding="utf-8")

SECTION = re.compile(
    r"^## (?P<rule>[A-Z]+-\d+): (?P<title>.*?)$.*?" + EVIDENCE, re.MULTILINE | re.DOTALL
)

TRIES = 20
"""Of a scenario, until it shows what it shows now and then."""

pytestmark = pytest.mark.timeout(300)


def sections(page: Path) -> list[dict[str, str]]:
    """What a page says of each rule."""
    return [found.groupdict() for found in SECTION.finditer(page.read_text(encoding="utf-8"))]


def broken_on(page: Path) -> dict[str, bool]:
    """The rules that are broken by the table of the overview, and whether that was promised."""
    _, table = OVERVIEW.split("## Rules")
    heading, _, *rows = [line for line in table.splitlines() if line.startswith("|")]
    place = next(n for n, cell in enumerate(heading.split("|")) if f"peers/{page.name}" in cell)
    cells = [row.split("|") for row in rows]
    return {c[1].split()[0]: "**" in c[place] for c in cells if "broken" in c[place]}


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The adapters, and this process tells its children where they are."""
    monkeypatch.syspath_prepend(PEERS)


@pytest.fixture
def listed() -> Any:
    """The list of peers, which stands beside the adapters."""
    import peers  # pyright: ignore[reportMissingImports]

    return {f"{peer.name}.md": peer for peer in peers.PEERS}


def test_every_peer_has_a_page(listed: Any) -> None:
    """And each page a peer, which the overview leads to."""
    assert {page.name for page in PAGES} == set(listed)
    assert set(re.findall(r"\(peers/(.*?)\)", OVERVIEW)) == set(listed)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_is_drawn_is_what_happens(page: Path, listed: Any) -> None:
    """Each scenario of the page breaks its rule as it stands there, or now and then at least."""
    shown = sections(page)
    backend = load_backend(shown[0]["name"])
    assert isinstance(backend, StreamBackend)

    for section in shown:
        (scenario,) = scenarios_from_json(section["json"].encode())
        runs = (run_of(backend, scenario).broken for _ in range(TRIES))
        failure = next(broken[section["rule"]] for broken in runs if section["rule"] in broken)
        exact = drawn(failure) == section["drawn"].splitlines()
        assert exact or listed[page.name].varies
        assert rules()[section["rule"]].title == section["title"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_rule_is_missing(page: Path, listed: Any) -> None:
    """What the examples show broken has its section, and each section its cell in the table."""
    shown = {section["rule"] for section in sections(page)}

    verdict = verify(listed[page.name].backend, Coverage(1, shrinks=False))

    assert {result.rule.id for result in verdict.failed} <= shown
    assert {rule: rule in listed[page.name].promised for rule in shown} == broken_on(page)
    assert not verdict.errors


def test_what_is_promised_are_rules(listed: Any) -> None:
    """By their ids."""
    assert all(peer.promised <= set(rules()) for peer in listed.values())
