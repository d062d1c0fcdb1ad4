"""Where reports are written to, what the page about them says, and bounds of what is told."""

import errno
import os
import re
from importlib import resources
from pathlib import Path

import msgspec
import pytest
from reports import report, verdict

from asyncwait.conformance.report import (
    Footer,
    Header,
    Played,
    Result,
    RuleText,
    RunFooter,
    RunHeader,
    _of_verdicts,
    clear_folder,
    excerpt,
    write_report,
)
from asyncwait.spec import InvalidConfig


def test_an_old_report_does_not_outlive_the_start_of_a_run(tmp_path: Path) -> None:
    write_report(report(verdict()), "--report", tmp_path)
    tmp_path.joinpath("notes.txt").touch()

    clear_folder("--report", tmp_path)

    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


def test_a_folder_that_can_not_be_written_is_refused(tmp_path: Path) -> None:
    tmp_path.joinpath("file").touch()

    for act in (clear_folder, lambda *to: write_report(report(verdict()), *to)):
        with pytest.raises(InvalidConfig) as refused:
            act("--report", tmp_path / "file" / "in")
        assert str(refused.value) == (
            f"--report {tmp_path}/file/in: expected a folder to write reports into: "
            f"{os.strerror(errno.ENOTDIR)}"
        )


MARK = "     7  >>> it is wrong"


def numbered(first: int, last: int) -> list[str]:
    return [f"line {number}" for number in range(first, last + 1)]


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        # What fits is shown whole, and so is a gap of one line: to count it would take the room.
        ([*numbered(1, 38), MARK], [*numbered(1, 38), MARK]),
        ([*numbered(1, 39), MARK], [*numbered(1, 39), MARK]),
        # Of more, the beginning, what led to the violation, and the end.
        (
            [*numbered(1, 2_000), MARK, *numbered(2_001, 3_000)],
            [
                *numbered(1, 8),
                "   ...  (1,962 more)",
                *numbered(1_971, 2_000),
                MARK,
                *numbered(2_001, 2_006),
                "   ...  (992 more)",
                *numbered(2_999, 3_000),
            ],
        ),
        # A plan has no violation in it.
        (numbered(1, 100), [*numbered(1, 8), "   ...  (62 more)", *numbered(71, 100)]),
    ],
    ids=["fits", "one more", "long", "plan"],
)
def test_of_a_timeline_as_much_is_shown_as_a_person_reads(
    lines: list[str], shown: list[str]
) -> None:
    assert list(excerpt(lines)) == shown


TEXT = (resources.files("asyncwait.conformance.report") / "README.md").read_text("utf-8")


@pytest.mark.parametrize("line", [Header, RuleText, RunHeader, Played, Result, RunFooter, Footer])
def test_each_line_is_told_with_its_fields(line: type[msgspec.Struct]) -> None:
    tag = line.__struct_config__.tag
    (row,) = [row for row in TEXT.splitlines() if row.startswith(f"| `{tag}` |")]

    assert re.findall(r"`([a-z0-9_]+)`", row.split("|")[3]) == list(line.__struct_fields__)


def test_the_bounds_are_those_that_hold() -> None:
    told = [int(number) * 1_000 for number in re.findall(r"(\d+) kB", TEXT)]

    assert told == [_of_verdicts.MOST_OF_ONE, _of_verdicts.MOST_OF_ALL]
