"""What reports come to: of each partition one attempt counts, and of calls all."""

import pytest
from msgspec.structs import asdict, replace

from asyncwait.backends.spark.progress import TaskFigures, TaskName
from asyncwait.backends.spark.progress._tally import Tally
from asyncwait.backends.spark.progress._wire import Report, State


def said(
    run: str, number: int = 0, state: State = "running", attempt: int = 0, **figures: int
) -> Report:
    told = TaskFigures(**{"calls": 1, **figures})
    return Report(run.encode(), number, state, TaskName(1, 0, attempt), told)


def of(report: Report, stage: int, action: str, operator: bytes = b"it") -> Report:
    return replace(report, name=replace(report.name, stage=stage, action=action), operator=operator)


NINE = "rows_in=9 rows_done=9"

CASES: dict[str, list[tuple[int, Report | None, str]]] = {
    "an attempt that fails and is repeated": [
        (
            1,
            said("a", state="failed", rows_in=30, rows_out=20, calls=30, found=7),
            "calls=30 calls_in_vain=30 tasks_failed=1 attempts_failed=1",
        ),
        (
            2,
            said("b", 0, "ended", 1, rows_in=50, rows_out=50, calls=51, retries=1, found=20),
            (
                "calls=81 retries=1 rows_in=50 rows_out=50 rows_done=50 found=20 calls_in_vain=30 "
                "tasks_done=1 attempts_failed=1"
            ),
        ),
    ],
    "one that is silent is given up when a later one reports": [
        (
            1,
            said("a", calls=5, rows_in=5, in_flight=5),
            "calls=5 rows_in=5 in_flight=5 tasks_running=1",
        ),
        (2, said("b", 0, "ended", 1), "calls=6 calls_in_vain=5 tasks_done=1 attempts_failed=1"),
    ],
    "of two side by side the one that ends counts": [
        (1, said("a", rows_in=9, calls=9), "calls=9 rows_in=9 rows_done=9 tasks_running=1"),
        (2, said("b", attempt=1), "calls=10 calls_in_vain=9 tasks_running=1 attempts_failed=1"),
        (
            1,
            said("a", 1, "ended", rows_in=20, calls=20),
            "calls=21 calls_in_vain=20 tasks_running=1 attempts_failed=1",
        ),
        (
            2,
            None,
            "calls=21 rows_in=20 rows_done=20 calls_in_vain=1 tasks_done=1 attempts_failed=1",
        ),
    ],
    "one whose connection breaks is given up until it is heard of again": [
        (1, said("a"), "calls=1 tasks_running=1"),
        (1, None, "calls=1 calls_in_vain=1 tasks_failed=1 attempts_failed=1"),
        (2, said("a", 1), "calls=1 tasks_running=1"),
    ],
    "what comes late by an old connection changes nothing": [
        (1, said("a"), "calls=1 tasks_running=1"),
        (2, said("a", 2, calls=3), "calls=3 tasks_running=1"),
        (1, said("a", 1, calls=2), "calls=3 tasks_running=1"),
        (1, None, "calls=3 tasks_running=1"),
    ],
    "rows that were looked up are those of the attempt that counts": [
        (
            1,
            said("a", state="failed", rows_in=5, loads=5),
            "calls=1 calls_in_vain=1 tasks_failed=1 attempts_failed=1",
        ),
        (
            2,
            said("b", 0, "ended", 1, rows_in=9, hits=5, shared=1, loads=0, stale=1, null_keys=2),
            (
                "calls=2 rows_in=9 rows_done=9 hits=5 shared=1 stale=1 null_keys=2 "
                "calls_in_vain=1 tasks_done=1 attempts_failed=1"
            ),
        ),
    ],
    "rows that two stages of one action evaluate count once": [
        (1, of(said("a", 0, "ended", rows_in=9, calls=9), 1, "x"), f"calls=9 {NINE} tasks_done=1"),
        (
            2,
            of(said("b", rows_in=4, found=4, calls=0), 2, "x"),
            f"calls=9 {NINE} tasks_running=1 tasks_done=1 tasks_again=1",
        ),
        (
            3,
            of(said("c", 0, "failed", rows_in=4, found=4, calls=2), 2, "x"),
            (
                f"calls=11 {NINE} calls_in_vain=2 tasks_running=1 tasks_done=1 attempts_failed=1 "
                "tasks_again=1"
            ),
        ),
    ],
    "the evaluation that has read most counts, as the first may have read a part only": [
        (
            1,
            of(said("a", 0, "ended", rows_in=2), 1, "x"),
            "calls=1 rows_in=2 rows_done=2 tasks_done=1",
        ),
        (
            2,
            of(said("b", 0, "ended", rows_in=9), 2, "x"),
            f"calls=2 {NINE} tasks_done=2 tasks_again=1",
        ),
    ],
    "rows of two actions, or operators, are two": [
        (
            1,
            of(said("a", 0, "ended", rows_in=2), 1, "x"),
            "calls=1 rows_in=2 rows_done=2 tasks_done=1",
        ),
        (
            2,
            of(said("b", 0, "ended", rows_in=3), 2, "y"),
            "calls=2 rows_in=5 rows_done=5 tasks_done=2",
        ),
        (
            3,
            of(said("c", 0, "ended", rows_in=4), 3, "y", b"another"),
            f"calls=3 {NINE} tasks_done=3",
        ),
    ],
    "two operators of one task stand side by side": [
        (1, said("a", calls=2), "calls=2 tasks_running=1"),
        (2, said("b", calls=3), "calls=5 tasks_running=2"),
    ],
}


def test_causes_of_all_tasks_are_added_up() -> None:
    def counted(run: str, number: int, **causes: int) -> Report:
        report = said(run, number)
        return replace(report, figures=replace(report.figures, causes=causes))

    tally = Tally()
    for report in (
        counted("a", 0, A=1, B=1),
        counted("b", 0, B=2, other=3),
        counted("a", 1, A=4, B=2),
        counted("a", 0, A=90),
        counted("c", 0, **{f"C{number}": 10 - number for number in range(9)}),
    ):
        tally.heard(1, report)
    assert tally.figures().causes == {
        "C0": 10,
        "C1": 9,
        "C2": 8,
        "C3": 7,
        "C4": 6,
        "C5": 5,
        "A": 4,
        "B": 4,
        "other": 3 + 4 + 3 + 2,
    }


def test_causes_of_rows_that_are_evaluated_again_count_once() -> None:
    def failed(run: str, stage: int, state: State, **causes: int) -> Report:
        report = of(said(run, 0, state, rows_in=9, errors=sum(causes.values())), stage, "x")
        return replace(report, figures=replace(report.figures, causes=causes))

    tally = Tally()
    tally.heard(1, failed("a", 1, "ended", A=2, B=1))
    tally.heard(2, failed("b", 2, "failed", A=1))
    tally.heard(3, failed("c", 2, "ended", A=2, B=1))
    assert (tally.figures().errors, tally.figures().causes) == (4, {"A": 3, "B": 1})


@pytest.mark.parametrize("case", CASES)
def test_what_is_known_after_each_report(case: str) -> None:
    tally = Tally()
    for link, report, counts in CASES[case]:
        if report is None:
            tally.broken(link)
        else:
            tally.heard(link, report)
        told = asdict(tally.figures()).items()
        counted = {name: str(count) for name, count in told if type(count) is int and count}
        assert counted == dict(pair.split("=") for pair in counts.split())
