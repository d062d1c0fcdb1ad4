"""What a record costs in the pool, beside floors and peers that are measured in the same process.

    python benchmarks/in_process.py [--runs 5] [--only W0] [--json FILE] [--plot FILE]
    python benchmarks/in_process.py --beside FILE FILE [--page FILE]

Each round runs every flow once, so that whatever else the machine does meanwhile hits all of them;
a figure is the median over the rounds of what is computed within one. Where calls take no time of
their own, it is processor time that counts. Needs the dependency group `benchmarks`.
"""

import argparse
import asyncio
import gc
import json
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import trio
import uvloop
from _flows import BLOCKED, CAPACITY, FLOWS, SLOW, Flow, in_order, tail
from _page import draw, machine, shown, spread, write
from rich.console import Console
from rich.progress import track

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


class Goal(NamedTuple):
    """What a figure must be, and what it ought to be.

    Args:
        must: no more than that, or no less.
        aim: the same.
        unit: of both.
        at_most: whether less is better.
    """

    must: float
    aim: float
    unit: str = "x"
    at_most: bool = False


class Row(NamedTuple):
    """A figure.

    Args:
        name: what is told.
        figure: computes it from the costs of a round.
        goal: what it should be.
    """

    name: str
    figure: Callable[[Costs], float]
    goal: Goal


def at_most(must: float, aim: float, unit: str = "x") -> Goal:
    """Return the goal of something of which less is better."""
    return Goal(must, aim, unit, at_most=True)


def over(one: str, other: str) -> Callable[[Costs], float]:
    """Return what tells how many times as much one flow costs as another."""
    return lambda costs: costs[one] / costs[other]


def beyond(one: str, other: str) -> Callable[[Costs], float]:
    """Return what tells how much more one flow costs than another."""
    return lambda costs: costs[one] - costs[other]


def share_of_bound(costs: Costs) -> float:
    """Return which part of what order itself admits the pool reaches with long tails."""
    return in_order(tail(SLOW), capacity=100, held=5_000) / SLOW * 1e6 / costs["pool W3, held"]


ALL_ON = "pool W0, timeout"
FLOOR = "generator W0"
SOURCE = "pool W0, async source"
NEVER = at_most(0.15, 0.07, "us")


def share_of_threads(costs: Costs) -> float:
    """Return how near calls that block come to what so many threads could do at best."""
    return BLOCKED / CAPACITY * 1e6 / costs["threads, 5 ms"]


ROWS = (
    Row("W0, async source, timeout; generators", over(ALL_ON, FLOOR), at_most(5, 3.5)),
    Row("W0, nothing optional; generators", over("pool W0, nothing", FLOOR), at_most(2.2, 1.6)),
    Row("W0, elements", lambda c: c["pool W0, elements"], at_most(1.5, 1.0, "us")),
    Row("W1, timeout; bare workers", over("pool W1", "workers W1"), at_most(1.7, 1.5)),
    Row("W2, throughput of bare workers", over("workers W2", "pool W2"), Goal(0.85, 0.90)),
    Row("the same, max_held", over("workers W2", "pool W2, held"), Goal(0.93, 0.97)),
    Row("a timeout that never fires", beyond(ALL_ON, SOURCE), NEVER),
    Row("a retry policy that never fires", beyond("pool W0, retry", SOURCE), NEVER),
    Row("a value that is kept", lambda c: c["pool, kept"], at_most(0.7, 0.5, "us")),
    Row("the same, by a key function", lambda c: c["pool, kept by key"], at_most(0.9, 0.7, "us")),
    Row("Zipf over 1e4 keys, all kept", lambda c: c["pool, Zipf"], at_most(3, 2, "us")),
    Row("aiostream, W0", over("aiostream W0", ALL_ON), Goal(40, 60)),
    Row("aiostream, W1", over("aiostream W1", "pool W1"), Goal(18, 25)),
    Row("aiostream, W2, 1000", over("aiostream W2, 1000", "pool W2, 1000"), Goal(10, 19)),
    Row("window of tasks, W0", over("window W0, timeout", ALL_ON), Goal(5, 8)),
    Row("window of tasks, W1", over("window W1, timeout", "pool W1"), Goal(3, 3.7)),
    Row("trio's limiter, W0", over("limiter W0", "pool W0 on trio"), Goal(15, 35)),
    Row("trio's limiter, W1", over("limiter W1", "pool W1 on trio"), Goal(5, 8)),
    Row("W3 in order, max_held, of its bound", share_of_bound, Goal(0.95, 0.98)),
    Row(
        "threads, a function that returns at once", lambda c: c["threads W0"], at_most(10, 8, "us")
    ),
    Row("threads, 5 ms, of the bound", share_of_threads, Goal(0.95, 0.97)),
)


def main() -> None:
    """Measure, print, and write what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="rounds; the median counts")
    parser.add_argument("--only", default="", help="rows whose names hold this")
    parser.add_argument("--json", type=Path, help="a file for one line of JSON a round")
    parser.add_argument("--plot", type=Path, help="a file for a picture, .svg or .png")
    parser.add_argument("--page", type=Path, help="a file for all of that in Markdown; with --plot")
    parser.add_argument("--beside", type=Path, nargs="+", help="measure nothing: such files")
    arguments = parser.parse_args()
    if arguments.beside:
        _beside(arguments.beside, arguments.page)
        return
    rows = [row for row in ROWS if arguments.only in row.name]
    flows = FLOWS if len(rows) == len(ROWS) else _needed(rows)
    console = Console()
    rounds = [_round(flows, f"round {n + 1}") for n in range(arguments.runs)]
    figures = [_figure(row, rounds) for row in rows]
    flows_head, flow_rows = ("flow", "us a record", "from", "to"), [*spread(rounds)]
    figures_head = ("figure", "is", "must", "aim", "reached")
    console.print(shown(flows_head, flow_rows))
    console.print(shown(figures_head, figures))
    if arguments.json:
        _write_json(arguments.json, rounds)
    if arguments.plot:
        medians = {n: statistics.median(each[n] for each in rounds) for n in rounds[0]}
        draw(medians, arguments.plot)
    if arguments.page:
        told = {"rounds": len(rounds), "machine": machine(), "picture": arguments.plot.name}
        tables = (figures_head, figures), (flows_head, flow_rows)
        write(arguments.page, PAGE.format(**told), *tables)


def _needed(rows: Iterable[Row]) -> dict[str, Flow]:
    seen: set[str] = set()

    class Asked(dict[str, float]):
        def __missing__(self, name: str) -> float:
            seen.add(name)
            return 1.0

    for row in rows:
        row.figure(Asked())
    return {name: flow for name, flow in FLOWS.items() if name in seen}


def _round(flows: Mapping[str, Flow], title: str) -> dict[str, float]:
    return {name: cost(flow) for name, flow in track(flows.items(), title, transient=True)}


def cost(flow: Flow) -> float:
    """Return microseconds a record; a short run goes before, for what is done once."""
    run(flow, flow.count // 20)
    gc.collect()
    clock = time.process_time if flow.clock == "processor" else time.perf_counter
    began = clock()
    run(flow, flow.count)
    return (clock() - began) / flow.count * 1e6


def run(flow: Flow, count: int) -> None:
    """Run so many records on the loop that the flow is for."""
    if flow.loop == "trio":
        trio.run(flow.run, count)
    else:
        run = uvloop.run if flow.loop == "uvloop" else asyncio.run
        run(flow.run(count))


def _figure(row: Row, rounds: list[dict[str, float]]) -> Sequence[str]:
    """Return a figure in words: its name, what it is, must and ought to be, and what is reached."""
    figure = statistics.median(row.figure(costs) for costs in rounds)
    sign = "<=" if row.goal.at_most else ">="
    goals = (f"{sign} {each:g} {row.goal.unit}" for each in (row.goal.must, row.goal.aim))
    return row.name, f"{figure:.2f} {row.goal.unit}", *goals, _reached(row.goal, figure)


def _reached(goal: Goal, figure: float) -> str:
    for limit, word in ((goal.aim, "aim"), (goal.must, "must")):
        if figure <= limit if goal.at_most else figure >= limit:
            return word
    return "missed"


def _beside(files: Sequence[Path], page: Path | None) -> None:
    read = [[json.loads(line) for line in file.read_text().splitlines()] for file in files]
    machines = [str(first["machine"]) for first, *_ in read]
    head = ("figure", *(machine.partition(",")[0] for machine in machines))
    rows = [
        (row.name, *(_figure(row, rounds)[1] for _, *rounds in read), f"{row.goal.must:g}")
        for row in ROWS
    ]
    flows = [
        (
            name,
            *(f"{statistics.median(each[name] for each in rounds):.2f} us" for _, *rounds in read),
        )
        for name in FLOWS
    ]
    tables = ((*head, "must"), rows), (("flow", *head[1:]), flows)
    for table in tables:
        Console().print(shown(*table))
    if page is not None:
        on = "; ".join(dict.fromkeys(machine.partition(", ")[2] for machine in machines))
        write(page, BESIDE.format(machines=on), *tables)


def _write_json(path: Path, rounds: list[dict[str, float]]) -> None:
    """Write a line that describes the machine, and one for each round."""
    lines = [{"machine": machine()}, *rounds]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


if __name__ == "__main__":
    main()
