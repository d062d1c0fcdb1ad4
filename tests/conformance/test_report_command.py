"""`asyncwait report`, and the reports that `asyncwait verify` and the plug-in write."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from outside import SOUND, Folder, run
from reports import LATER, report, verdict

from asyncwait.conformance.report import FORMS, read_lines, report_to_lines


@pytest.fixture
def red(tmp_path: Path) -> Path:
    (tmp_path / "red").write_bytes(
        report_to_lines(report(verdict("mine", {"ORD-1": "fail"}), verdict("other")))
    )
    return tmp_path / "red"


@pytest.fixture
def green(tmp_path: Path) -> Path:
    (tmp_path / "green").write_bytes(report_to_lines(report(verdict("mine"), created=LATER)))
    return tmp_path / "green"


def test_runs_of_several_files_stand_in_one_table(red: Path, green: Path) -> None:
    done = run("report", green, red)

    lines = done.stdout.splitlines()
    assert done.exit_code == 0
    assert "  ORD-1: fail -> pass" in lines
    assert [line.split()[:2] for line in lines[-2:]] == [
        ["mine:", "conformant"],
        ["other:", "conformant"],
    ]
    (row,) = [line for line in lines if "ORD-1  Ordered results" in line]
    assert [cell.strip() for cell in row.split("│")[2:5]] == ["fail", "pass", "pass"]
    assert not any("ORD-2" in line for line in lines)
    assert "ORD-2  A decided head" in run("report", green, "--all").stdout


def test_a_report_of_which_nothing_is_left_is_inconclusive(red: Path, green: Path) -> None:
    red.write_bytes(b"")

    done = run("report", red)

    assert (done.exit_code, done.stdout.split()[:2]) == (3, ["inconclusive:", str(red)])
    assert run("report", green, red).exit_code == 3


@pytest.mark.usefixtures("few_examples")
def test_a_verification_writes_what_it_found(
    outside: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside.write("gate.py", SOUND)
    arguments = ("verify", "gate:backend", "--count", "1", "--rule", "ORD-1", "--report", "told")

    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(outside.path / "step"))
    done = outside.here(*arguments)

    folder = outside.path / "told"
    assert done.code == 0
    assert done.out.endswith(f"written into told: {', '.join(FORMS)}\n")
    assert [run.claim for run in read_lines(folder / "report.jsonl").runs] == [
        "conformant as to 1 rule"
    ]
    root = ET.parse(folder / "junit.xml").getroot()  # noqa: S314 - our own
    assert root.get("tests") == "2"
    assert json.loads(folder.joinpath("badge.json").read_text())["color"] == "lightgrey"
    assert outside.path.joinpath("step").read_text(encoding="utf-8").startswith("# Conformance")


def test_wrong_usage_leaves_the_report_of_the_last_run(tmp_path: Path) -> None:
    (tmp_path / "report.jsonl").write_text("the last one", encoding="utf-8")

    done = run("verify", "reference-asyncio", "--rule", "ORD-99", "--report", tmp_path)

    assert done.exit_code == 2
    assert (tmp_path / "report.jsonl").read_text(encoding="utf-8") == "the last one"
