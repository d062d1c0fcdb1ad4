"""The page on bugs: each has an operator that has it, and the rule beside it convicts that."""

import re
from pathlib import Path

import pytest

from asyncwait.backends.faulty import FAULTY

PAGE = Path(__file__).resolve().parents[2] / "docs" / "bugs.md"
ROWS = re.findall(
    r"^\|.*\| ([A-Z]+-\d+) \| `(.+)` \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
)
RULES = {faulty.name: faulty.rule for faulty in FAULTY}


@pytest.mark.parametrize(("rule", "name"), ROWS)
def test_the_operator_beside_a_bug_is_convicted_by_that_rule(rule: str, name: str) -> None:
    assert RULES[name] == rule


def test_every_row_was_read() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if "`" in line]

    assert len(ROWS) == len([line for line in rows if line.startswith("|")]) >= 35
