"""Pages that lead through the code and the tests: what they name is there."""

import importlib
import re
from pathlib import Path

import pytest
from package_modules import Module


@pytest.mark.parametrize("title", ["the way of a scenario", "the way of a record"])
def test_the_ways_lead_through_what_exists(
    title: str, checkout: Path, modules: dict[str, Module]
) -> None:
    tour = (checkout / "docs/tour.md").read_text(encoding="utf-8")
    section = re.split(r"\n##", tour.partition(f": {title}\n")[2])[0]
    named = re.findall(r"^\| `([\w.]+)` \| \**`(\w+)`\** \|", section, re.MULTILINE)

    assert len(named) > 10
    assert len(set(named)) == len(named) == section.count("| `asyncwait.")
    assert [name for name, _ in named if name not in modules] == []
    assert [
        f"{name}.{stop}" for name, stop in named if not hasattr(importlib.import_module(name), stop)
    ] == []


def test_every_claim_of_safety_names_a_test_that_exists(checkout: Path) -> None:
    page = (checkout / "SECURITY.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| [^|]*\*\*.*$", page, re.MULTILINE)
    named = re.findall(r"\[`(test_\w+)`\]\(([\w/.]+)\)", page)

    assert len(rows) > 10
    assert [row for row in rows if "](tests/" not in row] == []
    assert [
        name
        for name, path in named
        if not re.search(rf"def {name}\b", (checkout / path).read_text(encoding="utf-8"))
    ] == []
