"""Pages name commands, pictures, versions and profiles that exist today."""

import re
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
import msgspec
import pytest
from pictures import FOLDER, PICTURES, picture
from where import ROOT

from asyncwait.backends.journal._format import ENTRIES, IDENTITY
from asyncwait.conformance._commands import asyncwait
from asyncwait.conformance.areas import EXAMPLES
from asyncwait.conformance.report._model import FORMAT as REPORT
from asyncwait.spec import carry, snapshots, vectors
from asyncwait.spec.rules import spec_version
from asyncwait.spec.scenario import PROFILES, PROTOCOL, Capability, Scenario
from asyncwait.spec.scenario._wire import OLDEST_PROTOCOL

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


PICTURED = (ROOT / "docs" / "pictures.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_what_is_drawn_now(name: str) -> None:
    assert (FOLDER / f"{name}.svg").read_text(encoding="utf-8") == picture(name)


def test_every_picture_stands_in_the_page() -> None:
    assert re.findall(r"\(pictures/(.*?)\.svg\)", PICTURED) == list(PICTURES)
    assert sorted(file.stem for file in FOLDER.iterdir()) == sorted(PICTURES)


STABILITY = (ROOT / "docs/stability.md").read_text(encoding="utf-8")


def test_the_page_names_the_versions_of_today() -> None:
    lines = [
        line.split("|")[1:4] for line in STABILITY.partition("\n## ")[0].splitlines() if "|" in line
    ]
    rows = [[cell.partition("(")[0].strip() for cell in line] for line in lines[2:]]

    assert {name: (written, read) for name, written, read in rows} == {
        "specification": (spec_version(), "every earlier one can be claimed"),
        "package": (version("asyncwait"), ""),
        "wire protocol": (str(PROTOCOL), f"{OLDEST_PROTOCOL} to {PROTOCOL}"),
        "snapshot": (str(snapshots._VERSION), "1"),
        "journal": (str(IDENTITY[-1]), str(IDENTITY[-1])),
        "report": (str(REPORT), "1"),
        "vectors": (str(vectors.FORMAT), "1"),
        "state of a stream on Spark": (str(carry._VERSION[0]), "1"),
    }
    assert f"a version of their own, {ENTRIES[-1]} |" in STABILITY


def test_workflows_name_each_action_by_its_commit() -> None:
    lines = [
        line.strip()
        for file in (ROOT / ".github/workflows").glob("*.yml")
        for line in file.read_text(encoding="utf-8").splitlines()
        if "uses:" in line
    ]
    named = re.compile(r"(- )?uses: [\w-]+/[\w-]+@[0-9a-f]{40} # v[0-9.]+")

    assert lines
    assert not [line for line in lines if not named.fullmatch(line)]


def rows() -> dict[str, set[str]]:
    lines = re.findall(
        r"^\| (`[^|]*) \| ([^|]*) \|",
        (ROOT / "docs" / "other-languages.md").read_text("utf-8"),
        re.MULTILINE,
    )
    words = re.compile(r"`([\w-]+)`")
    return {name: {*words.findall(adds)} for named, adds in lines for name in words.findall(named)}


def changed(before: Any, after: Any, name: str = "") -> Iterator[str]:
    if before == after:
        return
    yield name
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before.keys() | after.keys():
            yield from changed(before.get(key), after.get(key), key)
    elif isinstance(before, list | tuple) and isinstance(after, list | tuple):
        for one, other in zip(before, after, strict=False):
            yield from changed(one, other)


def plain(scenario: Scenario) -> Any:
    return msgspec.to_builtins(scenario)


def test_every_profile_that_a_program_may_have_has_a_row() -> None:
    assert rows().keys() == {*map(str, PROFILES)} - {"copies", "contexts", "cache"}


@pytest.mark.parametrize("name", rows())
def test_what_a_profile_adds_goes_without_it(name: str) -> None:
    without = Capability(name).without
    pairs = ((each.scenario, without(each.scenario)) for each in EXAMPLES)
    gone = {
        field
        for scenario, less in pairs
        if less is not scenario
        for field in changed(plain(scenario), plain(less))
    }

    assert rows()[name] - gone == set()
