"""Cost of a record in the pool, beside floors and peers that are measured in the same process.

    python benchmarks/in_process.py [--runs 5] [--json FILE] [--plot FILE]
    python benchmarks/in_process.py --beside FILE FILE [--page FILE]

Each round runs every flow once, so that other work of the machine hits all flows; a figure is the
median over the rounds. Where calls take no time of their own, processor time counts. Needs the
dependency group `benchmarks`.
"""

import asyncio
import gc
import json
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import trio
import uvloop
from _flows import BLOCKED, CAPACITY, FLOWS, SLOW, Flow, in_order, tail
from _page import finish, machine, measured, medians, parser, shown, spread, write
from rich.console import Console

PAGE = """# What a record costs

Medians of {rounds} rounds of `python benchmarks/in_process.py`, which measures the pool beside
floors and peers in one process; {machine}.

W0: the call returns at once. W1: it lets the loop turn once. W2: it takes a millisecond. W3: the
same, and one in a hundred fifty times as long. There are 100 calls at a time, or as many as the
name says. For W0 and W1 it is processor time; a timeout is one of 10 s, which never passes.
`must` and `aim` are goals that we have set ourselves.

![What records cost]({picture})
"""

BESIDE = """# What a record costs, by Python

Medians of the figures of [what a record costs](figures.md), each measured on one quiet machine
one after the other; that page says what they mean. {machines}.
"""

Costs = Mapping[str, float]
"""Microseconds a record, by flow, in one round."""


class Row(NamedTuple):
    """A figure, computed from the costs of a round; at least `must`, or at most."""

    name: str
    figure: Callable[[Costs], float]
    must: float
    aim: float
    unit: str = "x"
    at_most: bool = False


def over(one: str, other: str) -> Callable[[Costs], float]:
    return lambda costs: costs[one] / costs[other]


def beyond(one: str, other: str) -> Callable[[Costs], float]:
    return lambda costs: costs[one] - costs[other]


def cost_of(one: str) -> Callable[[Costs], float]:
    return lambda costs: costs[one]


def share_of_bound(costs: Costs) -> float:
    """Return the share of the bound that order sets with long tails."""
    return in_order(tail(SLOW), capacity=100, held=5_000) / SLOW * 1e6 / costs["pool W3, held"]


def share_of_threads(costs: Costs) -> float:
    """Return the share of the bound that so many blocking threads set."""
    return BLOCKED / CAPACITY * 1e6 / costs["threads, 5 ms"]


ALL_ON = "pool W0, timeout"
SOURCE = "pool W0, async source"
AT_MOST, MICROSECONDS = ("x", True), ("us", True)

ROWS = (
    Row("W0, async source, timeout; generators", over(ALL_ON, "generator W0"), 5, 3.5, *AT_MOST),
    Row("W0, nothing optional; generators", over("pool W0, nothing", "generator W0"), 2.2, 1.6,
        *AT_MOST),
    Row("W0, elements", cost_of("pool W0, elements"), 1.5, 1.0, *MICROSECONDS),
    Row("W1, timeout; bare workers", over("pool W1", "workers W1"), 1.7, 1.5, *AT_MOST),
    Row("W2, throughput of bare workers", over("workers W2", "pool W2"), 0.85, 0.90),
    Row("the same, max_held", over("workers W2", "pool W2, held"), 0.93, 0.97),
    Row("a timeout that never fires", beyond(ALL_ON, SOURCE), 0.15, 0.07, *MICROSECONDS),
    Row("a retry policy that never fires", beyond("pool W0, retry", SOURCE), 0.15, 0.07,
        *MICROSECONDS),
    Row("a value that is kept", cost_of("pool, kept"), 0.7, 0.5, *MICROSECONDS),
    Row("the same, by a key function", cost_of("pool, kept by key"), 0.9, 0.7, *MICROSECONDS),
    Row("Zipf over 1e4 keys, all kept", cost_of("pool, Zipf"), 3, 2, *MICROSECONDS),
    Row("aiostream, W0", over("aiostream W0", ALL_ON), 40, 60),
    Row("aiostream, W1", over("aiostream W1", "pool W1"), 18, 25),
    Row("aiostream, W2, 1000", over("aiostream W2, 1000", "pool W2, 1000"), 10, 19),
    Row("window of tasks, W0", over("window W0, timeout", ALL_ON), 5, 8),
    Row("window of tasks, W1", over("window W1, timeout", "pool W1"), 3, 3.7),
    Row("trio's limiter, W0", over("limiter W0", "pool W0 on trio"), 15, 35),
    Row("trio's limiter, W1", over("limiter W1", "pool W1 on trio"), 5, 8),
    Row("W3 in order, max_held, of its bound", share_of_bound, 0.95, 0.98),
    Row("threads, a function that returns at once", cost_of("threads W0"), 10, 8, *MICROSECONDS),
    Row("threads, 5 ms, of the bound", share_of_threads, 0.95, 0.97),
)  # fmt: skip


def main() -> None:
    asked = parser(__doc__, runs=5)
    asked.add_argument("--beside", type=Path, nargs="+", help="measure nothing: compare files")
    arguments = asked.parse_args()
    if arguments.beside:
        return _beside(arguments.beside, arguments.page)
    rounds = [measured(FLOWS, cost, f"round {n + 1}") for n in range(arguments.runs)]
    figures = ("figure", "is", "must", "aim", "reached"), [_figure(row, rounds) for row in ROWS]
    flows = ("flow", "us a record", "from", "to"), [*spread(rounds)]
    lines = [{"machine": machine()}, *rounds]
    return finish(arguments, lines, medians(rounds), PAGE, (figures, flows))


def cost(flow: Flow) -> float:
    """Return microseconds a record; a short run goes before, for what is done once."""
    run(flow, flow.count // 20)
    gc.collect()
    clock = time.process_time if flow.clock == "processor" else time.perf_counter
    began = clock()
    run(flow, flow.count)
    return (clock() - began) / flow.count * 1e6


def run(flow: Flow, count: int) -> None:
    if flow.loop == "trio":
        trio.run(flow.run, count)
    else:
        run = uvloop.run if flow.loop == "uvloop" else asyncio.run
        run(flow.run(count))


def _figure(row: Row, rounds: Sequence[Costs]) -> Sequence[str]:
    figure = statistics.median(row.figure(costs) for costs in rounds)
    sign = "<=" if row.at_most else ">="
    goals = (f"{sign} {each:g} {row.unit}" for each in (row.must, row.aim))
    limits = (("aim", row.aim), ("must", row.must))
    reached = (word for word, at in limits if (figure <= at if row.at_most else figure >= at))
    return row.name, f"{figure:.2f} {row.unit}", *goals, next(reached, "missed")


def _beside(files: Sequence[Path], page: Path | None) -> None:
    """Show the medians of several files of `--json` beside each other."""
    read = [[json.loads(line) for line in file.read_text().splitlines()] for file in files]
    machines = [str(first["machine"]) for first, *_ in read]
    head = [machine.partition(",")[0] for machine in machines]
    figures = [
        (row.name, *(_figure(row, rounds)[1] for _, *rounds in read), f"{row.must:g}")
        for row in ROWS
    ]
    costs = [medians(rounds) for _, *rounds in read]
    flows = [(name, *(f"{each[name]:.2f} us" for each in costs)) for name in FLOWS]
    tables = (("figure", *head, "must"), figures), (("flow", *head), flows)
    Console().print(*(shown(*table) for table in tables), sep="\n")
    if page is not None:
        on = "; ".join(dict.fromkeys(machine.partition(", ")[2] for machine in machines))
        write(page, BESIDE.format(machines=on), *tables)


if __name__ == "__main__":
    main()
