"""A report in a file: it comes back as it was, or it proves nothing."""

import random
from codecs import BOM_UTF8
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from reports import report, verdict

from asyncwait.conformance.report import Report, read_lines, report_to_lines
from asyncwait.spec import InvalidConfig

TOLD = report(verdict("good"), verdict("bad", {"ORD-1": "fail", "ORD-2": "fail"}))
DATA = report_to_lines(TOLD)
LINES = DATA.splitlines(keepends=True)
TWO = ": expected one report, got two or more: another one begins in line "
PLAYED = 1 + next(n for n, line in enumerate(LINES) if line.startswith(b'{"type":"played"'))


@pytest.fixture
def read(tmp_path: Path) -> Callable[[bytes], Report]:
    def reading(data: bytes) -> Report:
        tmp_path.joinpath("r.jsonl").write_bytes(data)
        return read_lines(tmp_path / "r.jsonl")

    return reading


def doubt(told: Report) -> str:
    assert told.word == "inconclusive"
    assert told.exit_code == 3
    assert {(run.word, run.exit_code) for run in told.runs} <= {("inconclusive", 3)}
    return told.doubt.partition(" is not whole: ")[2]


def test_a_report_that_was_cut_anywhere_proves_nothing(
    read: Callable[[bytes], Report],
) -> None:
    random_places = random.Random(7).sample(range(len(DATA)), 20)
    ends = [sum(map(len, LINES[:n])) for n in range(0, len(LINES), 9)]

    for place in (0, 30, len(DATA) - 1, *random_places, *ends):
        assert doubt(read(DATA[:place])) != ""


@pytest.mark.parametrize(
    "data",
    [
        DATA.replace(b"\n", b"\r\n"),
        BOM_UTF8 + DATA,
        BOM_UTF8 + DATA.replace(b"\n", b"\r\n"),
    ],
)
def test_what_other_programs_do_to_files_of_text_changes_no_report(
    read: Callable[[bytes], Report], data: bytes
) -> None:
    assert read(data) == TOLD


def test_a_report_that_was_cut_before_any_verdict_names_its_backends(
    read: Callable[[bytes], Report],
) -> None:
    told = read(b"".join(LINES[:9]) + LINES[9][:20])

    assert doubt(told) == "it was cut in line 10"
    assert [(run.name, run.word) for run in told.runs] == [
        ("good", "inconclusive"),
        ("bad", "inconclusive"),
    ]
    assert told.runs[0].line.startswith("good: inconclusive (")


@pytest.mark.parametrize(
    ("damaged", "said"),
    [
        (b"", "it is empty"),
        (LINES[0][:100], "it was cut after line 1"),
        (b"".join(LINES[:-1]), f"it was cut after line {len(LINES) - 1}"),
        (
            b"".join(LINES[: PLAYED + 5] + LINES[PLAYED + 6 :]),
            f"{len(LINES) - 2} lines are left of {len(LINES) - 1}",
        ),
        (DATA.replace(b"it is wrong", b"it is right"), "it was changed after it was written"),
        (DATA.replace(b'"fail"', b'"pass"'), "it was changed after it was written"),
        (LINES[0] + LINES[-2], "line 2 is out of place"),
        (
            DATA.replace(b'"call":0,"value":"a"', b'"call":7,"value":"a"'),
            f"line {PLAYED} can't be read: the trace is impossible: ",
        ),
        (b"".join(LINES[: PLAYED - 1] + LINES[PLAYED:]), "line "),
        (LINES[0] + b'{"type":"poem"}\n', "line 2 can't be read: "),
        (LINES[0] + b"[" * 100_000 + b"\n", "line 2 can't be read: "),
        (LINES[0] + b'{"type":"rule","id":"\xff"}\n', "line 2 can't be read: "),
    ],
)
def test_a_report_that_was_damaged_says_how(
    read: Callable[[bytes], Report], damaged: bytes, said: str
) -> None:
    assert doubt(read(damaged)).startswith(said)


def test_a_run_without_its_verdict_is_inconclusive(read: Callable[[bytes], Report]) -> None:
    told = read(report_to_lines(replace(TOLD, runs=(replace(TOLD.runs[0], footer=None),))))

    assert (told.word, told.runs[0].doubt) == ("inconclusive", "there is no verdict in the report")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            b"%PDF-1.7\n",
            "line 1: expected a line of a report, got '%PDF-1.7\\n'; name a file that ",
        ),
        (b'{"type":"asyncwait-report","format":2,"who":7}\n', "line 1: expected a report of "),
        (LINES[0].replace(b'"format":1', b'"format":9'), "line 1: expected a report of format 1, "),
        (DATA + BOM_UTF8 + DATA, f"{TWO}{len(LINES) + 1}; give each as a file of its own"),
        (b"".join(LINES[:9]) + DATA, f"{TWO}10; give each as a file of its own"),
    ],
)
def test_what_is_no_report_is_refused(
    read: Callable[[bytes], Report], data: bytes, said: str
) -> None:
    with pytest.raises(InvalidConfig) as refused:
        read(data)

    assert str(refused.value).partition("r.jsonl")[2].lstrip(", ").startswith(said)


def test_a_folder_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfig, match=r"is a folder: name the report\.jsonl in it$"):
        read_lines(tmp_path)
    with pytest.raises(InvalidConfig, match=r"nowhere can't be read: "):
        read_lines(tmp_path / "nowhere")
