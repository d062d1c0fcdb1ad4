"""The page that tells what was measured, generated from the rounds."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

HEAD = """# What a record costs

Medians of {rounds} rounds of `python benchmarks/in_process.py`, which measures the pool beside
floors and peers in one process; {machine}.

W0: the call returns at once. W1: it lets the loop turn once. W2: it takes a millisecond. W3: the
same, and one in a hundred fifty times as long. There are 100 calls at a time, or as many as the
name says. For W0 and W1 it is processor time; a timeout is one of 10 s, which never passes.

![What records cost]({picture})
"""


def write(
    path: Path,
    picture: str,
    machine: str,
    costs: Mapping[str, Sequence[float]],
    figures: Iterable[Sequence[str]],
) -> None:
    """Write the page.

    Args:
        path: of the page.
        picture: its address, as seen from the page.
        machine: on which it was measured.
        costs: microseconds a record in each round, by flow.
        figures: what was computed: name, figure, must, aim, and which of these is reached.
    """
    rounds = max(map(len, costs.values()))
    rows = (
        (name, *(f"{x:.2f}" for x in (statistics.median(each), min(each), max(each))))
        for name, each in costs.items()
    )
    parts = (
        HEAD.format(rounds=rounds, machine=machine, picture=picture),
        _table(("figure", "is", "must", "aim", "reached"), figures),
        _table(("flow", "us a record", "from", "to"), rows),
    )
    path.write_text("\n".join(parts))


SPARK = """# What a row costs on Spark

Medians of `python benchmarks/spark.py`, which enriches DataFrames by `ordered_wait` with its
defaults, and as people do it by hand, in one session with two partitions and 100 calls at a time in
each; {machine}.

0 ms: the call returns at once; 5 ms: it takes that long; tail: 20 ms, and one in a hundred twenty
times as long. Each row has a payload of 100 B beside it, or 1 kB. By hand it is a window of tasks
over the partition, narrow or wide (400 rows, or 4,000), gathered batches, or a pool of threads.

![What rows cost]({picture})
"""


def write_spark(
    path: Path,
    picture: str,
    machine: str,
    speeds: Iterable[Sequence[str]],
    figures: Iterable[Sequence[str]],
) -> None:
    """Write the page of Spark.

    Args:
        path: of the page.
        picture: its address, as seen from the page.
        machine: on which it was measured.
        speeds: name of a flow, microseconds a row, rows a second.
        figures: name, figure, must and aim.
    """
    parts = (
        SPARK.format(machine=machine, picture=picture),
        _table(("figure", "is", "must (aim)"), figures),
        _table(("flow", "us a row", "rows/s"), speeds),
    )
    path.write_text("\n".join(parts))


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
