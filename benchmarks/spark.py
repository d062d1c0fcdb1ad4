"""Cost of a row on Spark: `ordered_wait` on a DataFrame beside code that people write by hand.

    python benchmarks/spark.py [--runs 3] [--json FILE] [--plot FILE --page FILE]

All in one session of an embedded Spark with two partitions, 100 calls at a time in each; a short
run of each flow comes before the measured run.
"""

import gc
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import _spark_flows
from _page import finish, machine, measured, medians, parser
from _spark_flows import CAPACITY, FLOWS, PARTITIONS, Flow, Weighed, rows
from pyspark import cloudpickle
from pyspark.sql import SparkSession

from asyncwait.backends.spark import embedded_spark, ordered_wait

PAGE = """# What a row costs on Spark

Medians of `python benchmarks/spark.py`, which enriches DataFrames by `ordered_wait` with its
defaults, and as people do it by hand, in one session with two partitions and 100 calls at a time in
each; {machine}.

0 ms: the call returns at once; 5 ms: it takes that long; tail: 20 ms, and one in a hundred twenty
times as long. Each row has a payload of 100 B beside it, or 1 kB. By hand it is a window of tasks
over the partition, narrow or wide (400 rows, or 4,000).

![What rows cost]({picture})
"""

Seconds = Mapping[str, float]

TAILED = 0.02 * (0.99 + 0.01 * 20)
"""Seconds that a call with a long tail takes on average."""


def share(flow: str, seconds: float) -> Callable[[Seconds], float]:
    """Return the share of the bound that so many calls at a time set."""
    bound = FLOWS[flow].count * seconds / (CAPACITY * PARTITIONS)
    return lambda took: bound / took[flow]


def over(flow: str, *others: str) -> Callable[[Seconds], float]:
    """Return the speed of a flow over the best of others."""
    return lambda took: min(took[each] for each in others) / took[flow]


ROWS: tuple[tuple[str, Callable[[Seconds], float], str], ...] = (
    ("5 ms: share of the bound", share("ordered, 5 ms", 0.005), ">= 0.80 (0.83)"),
    (
        "5 ms, over the best by hand",
        over("ordered, 5 ms", "window, 5 ms"),
        ">= 1.0 (1.03)",
    ),
    ("20 ms with a tail: share of the bound", share("ordered, tail", TAILED), ">= 0.82 (0.86)"),
    (
        "tail, over the best by hand",
        over("ordered, tail", "window, tail", "wide window, tail"),
        ">= 0.98 (1.02)",
    ),
    ("no latency, over no function", over("ordered, 0 ms", "no function"), ">= 0.60 (0.75)"),
    (
        "1 kB carried along, cost over 100 B",
        lambda took: took["ordered, 5 ms, 1 kB"] / took["ordered, 5 ms"],
        "<= 1.15 (1.05)",
    ),
    ("a journal at 5 ms", over("ordered, 5 ms, journal", "ordered, 5 ms"), ">= 0.95 (0.98)"),
    (
        "5 ms: first row, seconds over the first by hand",
        lambda took: took["ordered, 5 ms: first row"] - took["window, 5 ms: first row"],
        "<= 0",
    ),
    (
        "memory of a worker, 1e6 rows over 1e5",
        lambda took: took["MB at most, 1,000,000 rows"] / took["MB at most, 100,000 rows"],
        "< 1.05 (1.00)",
    ),
)
"""Figures, their functions, and their goals."""


FIRST = ("window, 5 ms", "ordered, 5 ms")
"""Flows whose first row is timed."""


def main() -> None:
    arguments = parser(__doc__, runs=3).parse_args()
    cloudpickle.register_pickle_by_value(_spark_flows)
    session = embedded_spark(f"local[{PARTITIONS}]").session
    session.range(1).count()
    rounds = [_round(session, f"round {n + 1}") for n in range(arguments.runs)]
    took = medians(rounds)
    costs = {name: took[name] / flow.count * 1e6 for name, flow in FLOWS.items()}
    figures = [
        (name, f"{statistics.median(figure(each) for each in rounds):.2f}", goal)
        for name, figure, goal in ROWS
    ]
    speeds = [(name, f"{cost:.1f}", f"{1e6 / cost:,.0f}") for name, cost in costs.items()]
    tables = (
        (("figure", "is", "must (aim)"), figures),
        (("flow", "us a row", "rows/s"), speeds),
    )
    lines = ({"machine": machine(), "seconds": each} for each in rounds)
    finish(arguments, lines, costs, PAGE, tables, ours=("ordered", "unordered"))


def _round(session: SparkSession, title: str) -> dict[str, float]:
    sizes = (10**5, 10**6)
    found = {f"MB at most, {count:,} rows": _most_memory(session, count) for count in sizes}
    found |= measured(FLOWS, partial(_seconds, session), title)
    return found | {f"{name}: first row": _first(session, FLOWS[name]) for name in FIRST}


def _seconds(session: SparkSession, flow: Flow) -> float:
    """Return the seconds of a flow; a short run goes before, for what is done once."""
    for count in (flow.count // 50, flow.count):
        df = flow.enrich(rows(session, count, flow.payload))
        gc.collect()
        began = time.perf_counter()
        df.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - began


def _first(session: SparkSession, flow: Flow) -> float:
    """Return the seconds until Spark has the first row of an action."""
    df = flow.enrich(rows(session, flow.count, flow.payload))
    began = time.time()  # the workers' clock, too
    seen = df.mapInArrow(_spark_flows.first_seen, "at double").collect()
    return min(row.at for row in seen) - began


def _most_memory(session: SparkSession, count: int) -> float:
    """Return the peak memory of a worker in MB, for so many rows in all."""
    with tempfile.TemporaryDirectory() as folder:
        df = ordered_wait(rows(session, count), Weighed(folder), "answer long")
        df.write.format("noop").mode("overwrite").save()
        return max(int(file.read_text()) for file in Path(folder).iterdir()) / 1024


if __name__ == "__main__":
    main()
