"""Several reports as one."""

from pathlib import Path

import msgspec
from reports import LATER, THEN, report, verdict

from asyncwait.conformance.report import (
    Report,
    change_lines,
    changes,
    header_of,
    merged,
    read_lines,
    repeated,
    report_to_lines,
    titles,
)


def together(*reports: Report) -> Report:
    return merged(reports, header_of(LATER))


def test_runs_of_a_backend_stand_together_the_newest_last() -> None:
    first, second = verdict("first"), verdict("second")

    told = together(report(first, second, created=LATER), report(first))

    assert titles(told) == (f"first {THEN}", f"first {LATER}", "second")
    assert [run.header.created for run in told.newest] == [LATER, LATER]


def test_a_run_in_two_files_counts_once() -> None:
    told = report(verdict())

    assert together(told, told, together(told)).runs == told.runs


def test_a_run_in_two_files_is_told() -> None:
    both, one = report(verdict("mine"), verdict("other")), report(verdict("other"))
    later = report(verdict("other"), created=LATER)

    assert list(repeated((both, one, later, both), ("a", "b", "c", "a"))) == [
        "b: the same run as a (other): counted once",
        "a: the same 2 runs as a (mine, other): counted once",
    ]


def test_the_newest_run_of_each_backend_decides() -> None:
    red = report(verdict("mine", {"ORD-1": "fail"}))
    green = report(verdict("mine"), created=LATER)

    assert together(red, green).word == "conformant"
    assert together(green, report(verdict("other", {"ORD-1": "fail"}))).word == "not conformant"


def test_what_changed_is_told_rule_by_rule() -> None:
    old = report(verdict("mine", {"ORD-1": "fail", "ORD-2": "untested"}))
    new = report(msgspec.structs.replace(verdict("mine"), scenarios=9, planned=9), created=LATER)

    (changed,) = changes(together(old, new))

    assert list(change_lines(changed)) == [
        f"from {THEN} to {LATER}",
        "verdict: not conformant -> conformant",
        "ORD-1: fail -> pass",
        "ORD-2: untested -> pass",
        "scenarios: 2 -> 9",
    ]


def test_what_was_cut_stays_in_doubt_and_changes_nothing(tmp_path: Path) -> None:
    data = report_to_lines(report(verdict("mine"), created=LATER))
    tmp_path.joinpath("cut").write_bytes(data[:-40])

    told = together(report(verdict("mine", {"ORD-1": "fail"})), read_lines(tmp_path / "cut"))
    (tmp_path / "both").write_bytes(report_to_lines(told))

    assert read_lines(tmp_path / "both") == told
    assert told.word == told.newest[0].word == "inconclusive"
    assert list(changes(told)) == []
