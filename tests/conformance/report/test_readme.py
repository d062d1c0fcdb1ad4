"""What is told of the file is what stands in it."""

import re
from importlib import resources

import msgspec
import pytest

from asyncwait.conformance.report import (
    Footer,
    Header,
    Played,
    Result,
    RuleText,
    RunFooter,
    RunHeader,
    _of_verdicts,
)

TEXT = (resources.files("asyncwait.conformance.report") / "README.md").read_text("utf-8")


@pytest.mark.parametrize("line", [Header, RuleText, RunHeader, Played, Result, RunFooter, Footer])
def test_each_line_is_told_with_its_fields(line: type[msgspec.Struct]) -> None:
    tag = line.__struct_config__.tag
    (row,) = [row for row in TEXT.splitlines() if row.startswith(f"| `{tag}` |")]

    assert re.findall(r"`([a-z0-9_]+)`", row.split("|")[3]) == list(line.__struct_fields__)


def test_the_bounds_are_those_that_hold() -> None:
    told = [int(number) * 1_000 for number in re.findall(r"(\d+) kB", TEXT)]

    assert told == [_of_verdicts.MOST_OF_ONE, _of_verdicts.MOST_OF_ALL]
