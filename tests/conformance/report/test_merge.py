"""Several reports as one."""

from pathlib import Path

import msgspec
from reports import LATER, THEN, report, verdict

from asyncwait.conformance.report import (
    FORMS,
    NOT_THERE,
    Report,
    change_lines,
    changes,
    header_of,
    merged,
    read_lines,
    repeated,
    report_to_lines,
    titles,
    write_lines,
)
from asyncwait.conformance.verdict import Verdict
from asyncwait.spec.rules import rules


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


def test_a_rule_that_is_new_was_not_there() -> None:
    whole = verdict("mine")
    fewer = Verdict("mine", whole.results[1:], 2, 2)
    old = report(fewer)
    older_suite = msgspec.structs.replace(
        old,
        runs=tuple(
            msgspec.structs.replace(run, header=msgspec.structs.replace(run.header, only=()))
            for run in old.runs
        ),
    )

    (partial,) = changes(together(old, report(whole, created=LATER)))
    (newer,) = changes(together(older_suite, report(whole, created=LATER)))

    assert partial.rules == ()
    assert newer.rules == ((next(iter(rules())), NOT_THERE, "pass"),)


def test_what_was_cut_stays_in_doubt_and_changes_nothing(tmp_path: Path) -> None:
    data = report_to_lines(report(verdict("mine"), created=LATER))
    tmp_path.joinpath("cut").write_bytes(data[:-40])

    told = together(report(verdict("mine", {"ORD-1": "fail"})), read_lines(tmp_path / "cut"))
    write_lines(told, tmp_path / "both")

    assert read_lines(tmp_path / "both") == told
    assert told.word == told.newest[0].word == "inconclusive"
    assert list(changes(told)) == []


def test_what_is_left_of_a_report_is_written_in_every_form(tmp_path: Path) -> None:
    data = report_to_lines(report(verdict("mine", {"ORD-1": "fail"}), verdict("other")))
    lines = data.splitlines(keepends=True)
    ends = [sum(map(len, lines[:n])) for n in (0, 1, 9, 162, 163, 164, 170, 324, 325, 326, 400)]

    for place in ends:
        tmp_path.joinpath("cut").write_bytes(data[:place])
        told = together(read_lines(tmp_path / "cut"))
        assert all(form(told) for form in FORMS.values())
