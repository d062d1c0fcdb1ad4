"""The page `docs/your-loop.md` runs, and prints what stands there."""

import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pages import Block, blocks_of, run, shows

from asyncwait.conformance._commands import asyncwait

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "your-loop.md"
SHAPES = ROOT / "examples" / "your_loop"
SECTIONS = blocks_of(PAGE)
COMMON = "The same experiment for all"
COMMANDS = [
    pytest.param(block, id=block.code.split()[-2])
    for blocks in SECTIONS.values()
    for block in blocks
    if block.language == "console"
]


def code_of(title: str) -> list[Block]:
    return [block for block in SECTIONS[title] if block.language == "python"]


def test_the_table_leads_to_every_shape() -> None:
    table = re.findall(r"^\| \[(.+?)\]\(#(.+?)\)", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    anchors = [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title, _ in table]

    assert [title for title, _ in table] == [title for title in SECTIONS if title[:1].isdigit()]
    assert [anchor for _, anchor in table] == anchors
    assert len(table) == 10


@pytest.mark.parametrize("title", [title for title in SECTIONS if code_of(title)])
def test_a_section_prints_what_it_says(title: str) -> None:
    names: dict[str, Any] = {"__name__": "page"}
    shared = [] if title == COMMON else code_of(COMMON)

    printed = [run(block, PAGE, names) for block in shared + code_of(title)]

    assert printed == [block.printed for block in shared + code_of(title)]


@pytest.mark.parametrize("block", COMMANDS)
def test_a_timeline_is_what_the_suite_draws(
    block: Block, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(SHAPES)
    monkeypatch.chdir(tmp_path)

    done = CliRunner().invoke(asyncwait, block.code.removeprefix("$ asyncwait ").split())

    assert done.exit_code == 1, done.stderr
    assert shows(block.printed, done.stdout), done.stdout


def test_every_shape_that_is_an_operator_has_a_timeline() -> None:
    module = (SHAPES / "shapes.py").read_text(encoding="utf-8")

    shapes = re.findall(r"^(\w+) = partial\(peer_backend", module, re.MULTILINE)
    assert shapes == [param.id.removeprefix("shapes:") for param in COMMANDS]
