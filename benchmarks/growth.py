"""Cost of a record in the pool with ten and a hundred times as many calls, watermarks or keys.

    python benchmarks/growth.py [--runs 3] [--page FILE]

A cost that grows with one of them shows as a row that rises. Then the peak memory, in processes of
their own, with ten times the records. Processor time on a virtual clock, so that calls of a second
take no time.
"""

import argparse
import asyncio
import gc
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

from _flows import FENCE, at_once, elements, listed, one_turn, plain, stream, workers
from _page import machine, markdown, shown
from rich.console import Console
from rich.progress import track

from asyncwait.backends.pool import key_ordered_wait
from asyncwait.conformance.harness import SpinWatch, run_virtual
from asyncwait.spec import Mode, OperatorConfig

TIMES = (1, 10, 100)
BOTH: tuple[Mode, Mode] = ("ordered", "unordered")


async def a_second(value: Any) -> Any:
    await asyncio.sleep(1)
    return value


async def listed_late(value: Any) -> list[Any]:
    return [await a_second(value)]


def many(capacity: int) -> int:
    """Return the number of records for so many calls at a time."""
    return max(20 * capacity, 20_000)


async def calls(capacity: int) -> None:
    await plain(range(many(capacity)), a_second, capacity=capacity, timeout=60)


async def tasks(capacity: int) -> None:
    await workers(range(many(capacity)), a_second, capacity)


async def fences(count: int) -> None:
    """Run as many watermarks as records."""
    for mode in BOTH:
        await elements(stream(count, FENCE, every=1), listed, OperatorConfig(mode, 100))


async def held_fences(capacity: int) -> None:
    """Keep half as many watermarks in flight as the capacity, behind calls of a second."""
    for mode in BOTH:
        source = stream(many(capacity) // 2, FENCE, every=1)
        await elements(source, listed_late, OperatorConfig(mode, capacity))


async def keys(count: int) -> None:
    source = (number % count for number in range(max(2 * count, 50_000)))
    await plain(source, one_turn, key_ordered_wait, key=lambda value: value, capacity=1000)


class Growth(NamedTuple):
    """A run by its size.

    Args:
        run: takes the size.
        least: size of the first column.
        records: number of records by size.
        collects: whether Python's garbage collector is on; it visits all objects in flight.
    """

    run: Callable[[int], Awaitable[None]]
    least: int
    records: Callable[[int], int]
    collects: bool = False


GROWTHS = {
    "calls of a second in flight": Growth(calls, 100, many),
    "the same in bare tasks, without a pool": Growth(tasks, 100, many),
    "calls in flight, with the collector on": Growth(calls, 100, many, collects=True),
    "bare tasks, with the collector on": Growth(tasks, 100, many, collects=True),
    "watermarks among as many records": Growth(fences, 10_000, lambda n: 2 * n),
    "capacity, half of it watermarks": Growth(held_fences, 100, many),
    "keys": Growth(keys, 1_000, lambda n: max(2 * n, 50_000)),
}

MEMORY_RECORDS = 50_000
HEAD = ("what grows", "x1 is", *(f"x{times}, us a record" for times in TIMES))

PAGE = """# What grows

Measured by `python benchmarks/growth.py`; {machine}.
Processor time of the pool on a virtual clock, with Python's garbage collector off unless a row says
otherwise: the collector visits every object in flight again and again, in any operator. With ten
thousand calls in flight you may want to raise `gc.set_threshold()`.

{table}
{memory}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="the median counts")
    parser.add_argument("--page", type=Path, help="a file for the tables in Markdown")
    parser.add_argument("--peak", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peak:
        asyncio.run(plain(range(arguments.peak), at_once, timeout=60))
        sys.stdout.write(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))
        return
    rows = [
        (name, str(growth.least), *(f"{_cost(growth, n, arguments.runs):.2f}" for n in TIMES))
        for name, growth in track(GROWTHS.items(), "growing", transient=True)
    ]
    less, more = (_peak(MEMORY_RECORDS * times, arguments.runs) for times in (1, 10))
    memory = (
        f"Peak memory with {MEMORY_RECORDS:,} records: {less:.1f} MiB; with ten times as many: "
        f"{more:.1f} MiB, {(more / less - 1) * 100:+.1f} %."
    )
    Console().print(shown(HEAD, rows), memory)
    if arguments.page:
        about = {"machine": machine(), "table": markdown(HEAD, rows), "memory": memory}
        arguments.page.write_text(PAGE.format(**about))


def _cost(growth: Growth, times: int, runs: int) -> float:
    """Return microseconds a record."""
    size = growth.least * times

    async def run(_: SpinWatch) -> None:
        await growth.run(size)

    taken = []
    for _ in range(runs):
        gc.collect()
        if not growth.collects:
            gc.disable()
        began = time.process_time()
        run_virtual(run)
        taken.append(time.process_time() - began)
        gc.enable()
    return statistics.median(taken) / growth.records(size) * 1e6


def _peak(count: int, runs: int) -> float:
    """Return the peak memory of a process that runs so many records, in MiB."""
    command = [sys.executable, __file__, "--peak", str(count)]
    done = (subprocess.run(command, check=True, capture_output=True) for _ in range(runs))
    return statistics.median(int(each.stdout) for each in done) / 1024


if __name__ == "__main__":
    main()
