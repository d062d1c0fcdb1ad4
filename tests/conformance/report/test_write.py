"""Where reports are written to."""

import errno
import os
from pathlib import Path

import pytest
from reports import report, verdict

from asyncwait.conformance.report import (
    FORMS,
    add_step_summary,
    clear_folder,
    read_lines,
    write_report,
)
from asyncwait.spec import InvalidConfig


def test_a_report_is_written_in_every_form(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    told = report(verdict("mine", {"ORD-1": "fail"}))

    clear_folder("--report", folder)
    files = write_report(told, "--report", folder)

    assert files == tuple(folder / name for name in FORMS)
    assert {file.name for file in folder.iterdir()} == set(FORMS)
    assert read_lines(folder / "report.jsonl") == told


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


def test_the_page_is_added_to_those_of_other_steps(tmp_path: Path) -> None:
    file = tmp_path / "summary"
    file.write_text("before\n", encoding="utf-8")

    assert add_step_summary(report(verdict()), str(file)) == ""

    text = file.read_text(encoding="utf-8")
    assert text.startswith("before\n# Conformance")
    assert "| mine | ✅ conformant |" in text
