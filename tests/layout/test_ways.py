"""The two lists in CONTRIBUTING.md that lead through the suite."""

import re
from pathlib import Path

import pytest
from package_modules import Module


@pytest.mark.parametrize("title", ["The way of a scenario", "The way of a record"])
def test_the_ways_lead_through_modules_that_exist(
    title: str, checkout: Path, modules: dict[str, Module]
) -> None:
    """A list that names a module of yesterday leads nowhere."""
    guide = (checkout / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = re.split(r"\n##", guide.partition(f"### {title}\n")[2])[0]
    named = re.findall(r"^\| `([\w.]+)` \|", section, re.MULTILINE)

    assert len(named) > 10
    assert len(set(named)) == len(named)
    assert [name for name in named if name not in modules] == []
