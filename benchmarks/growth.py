"""What a record costs in the pool when there is ten and a hundred times as much of something.

    python benchmarks/growth.py [--runs 3] [--page FILE]

The calls that are under way at a time, the watermarks among the records, the keys: a cost that
grows with one of them shows as a row that rises. Then peak memory, of processes of their own, with
ten times the records. On virtual time, so that calls of a second take none; it is processor time
that is told.
"""

import argparse
import asyncio
import gc
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

from _page import machine, markdown, shown
from rich.console import Console
from rich.progress import track

from asyncwait.backends.pool import key_ordered_wait, open_operator, ordered_wait
from asyncwait.conformance.harness import SpinWatch, run_virtual
from asyncwait.spec import Element, OperatorConfig, Record, Watermark

TIMES = (1, 10, 100)

Run = Callable[[int], Awaitable[None]]


async def at_once(value: Any) -> Any:
    """Return without a wait."""
    return value


async def a_second(value: Any) -> Any:
    """Take a second."""
    await asyncio.sleep(1)
    return value


async def drain(opened: Any) -> None:
    """Take all that comes out."""
    async with opened as results:
        async for _ in results:
            pass


def many(capacity: int) -> int:
    """Return how many records there are for so many calls at a time."""
    return max(20 * capacity, 20_000)


async def calls(capacity: int) -> None:
    """Have so many calls of a second in flight, again and again."""
    count = many(capacity)
    await drain(ordered_wait(range(count), a_second, capacity=capacity, timeout=60))


async def tasks(capacity: int) -> None:
    """Have as many bare tasks call: what the loop and the collector of garbage take by then."""
    iterator = iter(range(many(capacity)))

    async def work() -> None:
        for value in iterator:
            await a_second(value)

    await asyncio.gather(*(work() for _ in range(capacity)))


async def watermarked(count: int) -> AsyncIterator[Element]:
    """Give records, and a watermark behind each."""
    for number in range(count):
        yield Record(number, number)
        yield Watermark(number)


async def fences(count: int) -> None:
    """Have so many watermarks among as many records."""

    async def listed(value: Any) -> list[Any]:
        return [value]

    for mode in ("ordered", "unordered"):
        await drain(open_operator(OperatorConfig(mode, 100), listed, watermarked(count)))


async def held_fences(capacity: int) -> None:
    """Have half as many watermarks under way as the capacity, behind calls of a second."""

    async def listed(value: Any) -> list[Any]:
        return [await a_second(value)]

    count = many(capacity) // 2
    for mode in ("ordered", "unordered"):
        await drain(open_operator(OperatorConfig(mode, capacity), listed, watermarked(count)))


async def keys(count: int) -> None:
    """Have so many keys, and some records of each; calls let the loop turn."""

    async def one_turn(value: Any) -> Any:
        await asyncio.sleep(0)
        return value

    records = max(2 * count, 50_000)
    source = (number % count for number in range(records))
    await drain(key_ordered_wait(source, one_turn, key=lambda value: value, capacity=1000))


class Growth(NamedTuple):
    """What is made larger.

    Args:
        run: takes how much of it there is.
        least: of it.
        records: how many there are then.
        collects: whether Python's collector of garbage is on, which looks at all that there is
            again and again: the more is under way, the longer.
    """

    run: Run
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


def main() -> None:
    """Measure, print, and write what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="the median counts")
    parser.add_argument("--page", type=Path, help="a file for the tables in Markdown")
    parser.add_argument("--peak", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peak:
        asyncio.run(drain(ordered_wait(range(arguments.peak), at_once, timeout=60)))
        sys.stdout.write(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))
        return
    costs = {
        name: [_cost(growth, growth.least * times, arguments.runs) for times in TIMES]
        for name, growth in track(GROWTHS.items(), "growing", transient=True)
    }
    peaks = [_peak(MEMORY_RECORDS * times, arguments.runs) for times in (1, 10)]
    rows = [_row(name, each) for name, each in costs.items()]
    Console().print(shown(HEAD, rows))
    told = _memory(peaks)
    Console().print(told)
    if arguments.page:
        arguments.page.write_text(_page(rows, told))


def _cost(growth: Growth, size: int, runs: int) -> float:
    """Return microseconds a record."""

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
    runs_of_it = (subprocess.run(command, check=True, capture_output=True) for _ in range(runs))
    return statistics.median(int(each.stdout) for each in runs_of_it) / 1024


def _row(name: str, costs: list[float]) -> tuple[str, ...]:
    return (name, str(GROWTHS[name].least), *(f"{each:.2f}" for each in costs))


HEAD = ("what grows", "x1 is", *(f"x{times}, us a record" for times in TIMES))


def _memory(peaks: list[float]) -> str:
    less, more = peaks
    return (
        f"Peak memory with {MEMORY_RECORDS:,} records: {less:.1f} MiB; with ten times as many: "
        f"{more:.1f} MiB, {(more / less - 1) * 100:+.1f} %."
    )


def _page(rows: list[tuple[str, ...]], memory: str) -> str:
    return f"""# What grows

Measured by `python benchmarks/growth.py`; {machine()}.
Processor time of the pool on a virtual clock, with Python's garbage collector off unless a row says
otherwise: the collector visits every object in flight again and again, in any operator. With ten
thousand calls in flight you may want to raise `gc.set_threshold()`.

{markdown(HEAD, rows)}
{memory}
"""


if __name__ == "__main__":
    main()
