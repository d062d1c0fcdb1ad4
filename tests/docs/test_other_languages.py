"""What the page for authors in other languages says of profiles."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from asyncwait.conformance.areas import EXAMPLES
from asyncwait.spec.scenario import PROFILES, Capability, Scenario

PAGE = Path(__file__).resolve().parents[2] / "docs" / "other-languages.md"


def rows() -> dict[str, set[str]]:
    lines = re.findall(r"^\| (`[^|]*) \| ([^|]*) \|", PAGE.read_text("utf-8"), re.MULTILINE)
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
