"""A report in a file, several reports as one, and what of a verdict stands in a report."""

import random
from codecs import BOM_UTF8
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from reports import FAILURE, LATER, report, result, verdict

from asyncwait.conformance.report import (
    Evidence,
    Report,
    changes,
    header_of,
    merged,
    read_lines,
    repeated,
    report_to_lines,
    timeline_lines,
)
from asyncwait.conformance.verdict import Case, Failure, Verdict
from asyncwait.spec import InvalidConfig, Record
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import Scenario, Timed

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


def together(*reports: Report) -> Report:
    return merged(reports, header_of(LATER))


def test_a_run_in_two_files_is_told() -> None:
    both, one = report(verdict("mine"), verdict("other")), report(verdict("other"))
    later = report(verdict("other"), created=LATER)

    assert list(repeated((both, one, later, both), ("a", "b", "c", "a"))) == [
        "b: the same run as a (other): counted once",
        "a: the same 2 runs as a (mine, other): counted once",
    ]


def test_what_was_cut_stays_in_doubt_and_changes_nothing(tmp_path: Path) -> None:
    data = report_to_lines(report(verdict("mine"), created=LATER))
    tmp_path.joinpath("cut").write_bytes(data[:-40])

    told = together(report(verdict("mine", {"ORD-1": "fail"})), read_lines(tmp_path / "cut"))
    (tmp_path / "both").write_bytes(report_to_lines(told))

    assert read_lines(tmp_path / "both") == told
    assert told.word == told.newest[0].word == "inconclusive"
    assert list(changes(told)) == []


def failure_of(inputs: int) -> Failure:
    """A failure in a scenario of so many inputs; that it fits the trace is of no matter here."""
    long = Scenario(inputs=tuple(Timed(0, Record(n)) for n in range(inputs)))
    return Failure(Case(f"with-{inputs}", long, long), FAILURE.trace, FAILURE.violation)


def test_a_scenario_that_would_fill_the_report_is_drawn_in_words() -> None:
    long = result("ORD-1", "fail", failure=failure_of(2_000))

    (run,) = report(Verdict("mine", (long,), 2, 2)).runs

    (played,) = run.played
    assert (played.planned, played.scenario, played.trace) == (None, None, None)
    assert played.left_out.startswith("scenario and trace: ")
    assert "40  >>> it is wrong" in [line.strip() for line in played.drawn]
    assert played.replay == f"asyncwait play mine {played.id}"
    assert list(timeline_lines(played, Evidence(0, "", 0))) == [
        f"| {line}" for line in played.drawn
    ]


def test_evidence_has_a_bound_and_every_rule_comes_before_a_second_piece() -> None:
    count = 40
    broken = [
        msgspec.structs.replace(
            result(rule, "fail"),
            failures=tuple(failure_of(400 + count * piece + n) for piece in range(3)),
        )
        for n, rule in enumerate(list(rules())[:count])
    ]

    told = report(Verdict("mine", tuple(broken), 2, 2))

    (run,) = told.runs
    assert len(report_to_lines(told)) < 1_200_000
    assert all(len(r.evidence) >= 1 for r in run.results)
    assert {len(r.evidence) + r.left_out for r in run.results} == {3}
    assert any(r.left_out for r in run.results)
