"""Commands that pages name are there, with the options that they name."""

import re
from pathlib import Path

import click
import pytest
from where import ROOT

from asyncwait.conformance._commands import asyncwait

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMED = re.compile(r"(?:`|^\$ |^|&& )asyncwait ([a-z-]+)([^`\n]*)", re.MULTILINE)


def wrong(text: str) -> list[str]:
    found = []
    for name, rest in NAMED.findall(text):
        command = asyncwait.get_command(click.Context(asyncwait), name)
        known = {option for each in getattr(command, "params", ()) for option in each.opts}
        options = [] if command is None else re.findall(r"(?<= )--[a-z-]+", rest)
        found += [f"asyncwait {name}"] if command is None else []
        found += [f"asyncwait {name} {option}" for option in options if option not in known]
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_command_that_a_page_names_is_there(page: Path) -> None:
    assert wrong(page.read_text(encoding="utf-8")) == []
