"""The sum of reports: of each partition one attempt counts, and of calls all."""

import re
from typing import Any

import pytest
from msgspec.structs import asdict

from asyncwait.backends.spark.progress import TaskFigures, TaskName
from asyncwait.backends.spark.progress._tally import Tally
from asyncwait.backends.spark.progress._wire import Report, State

CASES = {
    "an attempt that fails and is repeated": """
        1 a state=failed calls=30 rows_in=30 rows_out=20 found=7
            -> calls=30 calls_in_vain=30 tasks_failed=1 attempts_failed=1
        2 b state=ended attempt=1 calls=51 rows_in=50 rows_out=50 retries=1 found=20
            -> calls=81 retries=1 rows_in=50 rows_out=50 rows_done=50 found=20 calls_in_vain=30
            tasks_done=1 attempts_failed=1
    """,
    "one that is silent is given up when a later one reports": """
        1 a calls=5 rows_in=5 in_flight=5 -> calls=5 rows_in=5 in_flight=5 tasks_running=1
        2 b state=ended attempt=1 -> calls=6 calls_in_vain=5 tasks_done=1 attempts_failed=1
    """,
    "of two side by side the one that ends counts": """
        1 a calls=9 rows_in=9 -> calls=9 rows_in=9 rows_done=9 tasks_running=1
        2 b attempt=1 -> calls=10 calls_in_vain=9 tasks_running=1 attempts_failed=1
        1 a number=1 state=ended calls=20 rows_in=20
            -> calls=21 calls_in_vain=20 tasks_running=1 attempts_failed=1
        2 broken -> calls=21 rows_in=20 rows_done=20 calls_in_vain=1 tasks_done=1 attempts_failed=1
    """,
    "one whose connection breaks is given up until it is heard of again": """
        1 a -> calls=1 tasks_running=1
        1 broken -> calls=1 calls_in_vain=1 tasks_failed=1 attempts_failed=1
        2 a number=1 -> calls=1 tasks_running=1
    """,
    "what comes late by an old connection changes nothing": """
        1 a -> calls=1 tasks_running=1
        2 a number=2 calls=3 -> calls=3 tasks_running=1
        1 a number=1 calls=2 -> calls=3 tasks_running=1
        1 broken -> calls=3 tasks_running=1
    """,
    "rows that were looked up are those of the attempt that counts": """
        1 a state=failed rows_in=5 loads=5
            -> calls=1 calls_in_vain=1 tasks_failed=1 attempts_failed=1
        2 b state=ended attempt=1 rows_in=9 hits=5 shared=1 stale=1 null_keys=2
            -> calls=2 rows_in=9 rows_done=9 hits=5 shared=1 stale=1 null_keys=2 calls_in_vain=1
            tasks_done=1 attempts_failed=1
    """,
    "rows that two stages of one action evaluate count once": """
        1 a state=ended action=x calls=9 rows_in=9 -> calls=9 rows_in=9 rows_done=9 tasks_done=1
        2 b stage=2 action=x calls=0 rows_in=4 found=4
            -> calls=9 rows_in=9 rows_done=9 tasks_running=1 tasks_done=1 tasks_again=1
        3 c state=failed stage=2 action=x calls=2 rows_in=4 found=4
            -> calls=11 rows_in=9 rows_done=9 calls_in_vain=2 tasks_running=1 tasks_done=1
            attempts_failed=1 tasks_again=1
    """,
    "the evaluation that has read most counts, as the first may have read a part only": """
        1 a state=ended action=x rows_in=2 -> calls=1 rows_in=2 rows_done=2 tasks_done=1
        2 b state=ended stage=2 action=x rows_in=9
            -> calls=2 rows_in=9 rows_done=9 tasks_done=2 tasks_again=1
    """,
    "rows of two actions, or operators, are two": """
        1 a state=ended action=x rows_in=2 -> calls=1 rows_in=2 rows_done=2 tasks_done=1
        2 b state=ended stage=2 action=y rows_in=3 -> calls=2 rows_in=5 rows_done=5 tasks_done=2
        3 c state=ended stage=3 action=y operator=another rows_in=4
            -> calls=3 rows_in=9 rows_done=9 tasks_done=3
    """,
    "two operators of one task stand side by side": """
        1 a calls=2 -> calls=2 tasks_running=1
        2 b calls=3 -> calls=5 tasks_running=2
    """,
}
"""By event: the connection, the run and what its report says; the counts that follow."""


def said(
    run: str,
    *,
    number: int = 0,
    state: State = "running",
    attempt: int = 0,
    stage: int = 1,
    action: str = "",
    operator: str = "it",
    **figures: Any,
) -> Report:
    told = TaskFigures(**{"calls": 1, **figures})
    name = TaskName(stage, 0, attempt, action)
    return Report(run.encode(), number, state, name, told, operator.encode())


def pairs(words: list[str]) -> dict[str, Any]:
    named = (word.split("=") for word in words)
    return {name: int(value) if value.isdecimal() else value for name, value in named}


@pytest.mark.parametrize("case", CASES)
def test_the_counts_after_each_report(case: str) -> None:
    tally = Tally()
    for event in re.split(r"\n +(?=\d )", CASES[case].strip()):
        told, _, counts = event.partition("->")
        link, run, *changes = told.split()
        if run == "broken":
            tally.broken(link)
        else:
            tally.heard(link, said(run, **pairs(changes)))
        figures = asdict(tally.figures()).items()
        counted = {name: count for name, count in figures if type(count) is int and count}
        assert counted == pairs(counts.split())


def test_causes_of_all_tasks_are_added_up() -> None:
    tally = Tally()
    for report in (
        said("a", causes={"A": 1, "B": 1}),
        said("b", causes={"B": 2, "other": 3}),
        said("a", number=1, causes={"A": 4, "B": 2}),
        said("a", causes={"A": 90}),
        said("c", causes={f"C{number}": 10 - number for number in range(9)}),
    ):
        tally.heard(1, report)
    named = {f"C{number}": 10 - number for number in range(6)}
    assert tally.figures().causes == {**named, "A": 4, "B": 4, "other": 3 + 4 + 3 + 2}


def test_causes_of_rows_that_are_evaluated_again_count_once() -> None:
    both = {"rows_in": 9, "errors": 3, "causes": {"A": 2, "B": 1}}
    tally = Tally()
    tally.heard(1, said("a", state="ended", action="x", **both))
    tally.heard(2, said("b", state="failed", action="x", stage=2, errors=1, causes={"A": 1}))
    tally.heard(3, said("c", state="ended", action="x", stage=2, **both))
    assert (tally.figures().errors, tally.figures().causes) == (4, {"A": 3, "B": 1})
