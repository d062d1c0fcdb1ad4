"""Streams of PySpark whose calls stay in flight across micro-batches: kills, and figures.

    python benchmarks/streams.py [kills|soak|latency|cost|left ...] [--kills 12] [--batches 200]
        [--changes] [--seed 1] [--page FILE]

Kills parts of a stream at random moments and looks at what has become of its rows, with three
sinks: files, for which Spark leaves a batch out that it plays again, one that ignores its second
commit, and one that takes it again. Kills one that has no rest, too. Then measures how long events
take beside slow ones, what a row costs, and what a stream leaves behind. Exits with 1 if a row is
lost, wrong, comes twice to a sink that takes batches once, or out of the order of its lane.
"""

import argparse
import os
import random
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from itertools import cycle, islice
from pathlib import Path

import _streams_flows as flows
from _page import shown
from _streams_job import LANES, session
from _streams_kills import MARK, PARTS, Count, Killed
from _streams_page import Table, write
from _streams_sink import SINKS
from pyspark import cloudpickle
from rich.console import Console

CONSOLE = Console()

EVERY = 50
"""Micro-batches of the soak between two kills."""

TIMES = (0, 60, 65)
"""Seconds after a query has ended."""


def main() -> int:
    """Kill, measure, print, and write what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*MEASURED, []], help="all, if none is given")
    parser.add_argument("--kills", type=int, default=12, help="in all")
    parser.add_argument("--changes", action="store_true", help="half of them with other settings")
    parser.add_argument("--batches", type=int, default=200, help="micro-batches of the soak")
    parser.add_argument("--seed", type=int, default=1, help="of what is left to chance")
    parser.add_argument("--page", type=Path, help="a file for all of that in Markdown")
    arguments = parser.parse_args()
    cloudpickle.register_pickle_by_value(flows)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # and end all that was started
    short = tempfile.TemporaryDirectory(prefix="streams-", dir="/tmp", ignore_cleanup_errors=True)
    with short as folder:
        tempfile.tempdir = folder
        os.environ |= {"TMPDIR": folder, MARK: folder}
        tables = {part: MEASURED[part](arguments) for part in arguments.parts or MEASURED}
    for table in tables.values():
        CONSOLE.print(shown(*table))
    if arguments.page:
        write(arguments.page, tables)
    return int(not all(count.is_right for count in _counted))


_counted: list[Count] = []


def _killed(arguments: argparse.Namespace) -> Table:
    """Return what has become of rows, by sink and what was killed."""
    counts: dict[tuple[str, str], Count] = {}
    for place, sink in enumerate(SINKS):
        kinds = random.Random(arguments.seed).sample([*PARTS], len(PARTS))
        killed = Killed(sink, arguments.seed + place)
        try:
            kills = islice(cycle(kinds), -(-(arguments.kills - place) // len(SINKS)))
            for number, kind in enumerate(kills):
                changes = arguments.changes and number // len(kinds) % 2 == 0
                count = killed.kill(kind, number if changes else None)
                CONSOLE.print(f"{sink}, {kind}: {count}")
                what = f"{kind}, changed" if changes else kind
                counts[sink, what] = count.plus(counts.get((sink, what), Count(0)))
                _counted.append(count)
        finally:
            killed.close()
    told = [(*which, *map(str, count)) for which, count in counts.items()]
    return ("sink", "killed", *Count._fields), told


def _soaked(arguments: argparse.Namespace) -> Table:
    """Return what has become of the rows of a stream that has no rest, by quarters."""
    kinds = random.Random(arguments.seed).sample([*PARTS], len(PARTS))
    killed, met = Killed("parquet", arguments.seed, "soak"), []
    try:
        began, noted = time.monotonic(), 0
        for kind in islice(cycle(kinds), arguments.batches // EVERY):
            ids = killed.on_and_on(EVERY, kind)
            states, seconds = killed.states(), time.monotonic() - began
            met.append((ids, states[noted:], seconds))
            noted = len(states)
            CONSOLE.print(
                f"soak, {kind}: {ids}, {seconds:.0f} s, lanes of {max(met[-1][1], default=0)} B"
            )
        killed.drain(range(met[-1][0].stop))
        legs = [(killed.count(ids), states, seconds) for ids, states, seconds in met]
    finally:
        killed.close()
    _counted.extend(count for count, *_ in legs)
    quarter = -(-len(legs) // 4)
    told = [_leg(first, legs[first : first + quarter]) for first in range(0, len(legs), quarter)]
    return ("micro-batches", "until, s", "lane, median B", "lane, most B", *Count._fields), told


def _leg(first: int, legs: Sequence[tuple[Count, list[int], float]]) -> Sequence[str]:
    states = [each for _, noted, _ in legs for each in noted]
    count = reduce(Count.plus, (count for count, *_ in legs))
    batches = f"{first * EVERY} to {(first + len(legs)) * EVERY}"
    sizes = f"{statistics.median(states):.0f}", f"{max(states)}"
    return batches, f"{legs[-1][2]:.0f}", *sizes, *map(str, count)


def _latencies(_: argparse.Namespace) -> Table:
    told = []
    for name, flow in flows.LATENCIES.items():
        seconds, batches = flows.latencies(session(MASTER), flow)
        told.append((name, *_ends(seconds, "{:.2f}"), *_ends(batches, "{:.0f}")))
        CONSOLE.print(*told[-1], sep=", ")
    return ("events", "median s", "99 % s", "median batches", "99 % batches"), told


def _ends(values: Sequence[float], form: str) -> Iterable[str]:
    return map(form.format, (statistics.median(values), statistics.quantiles(values, n=100)[-1]))


def _costs(_: argparse.Namespace) -> Table:
    took = {}
    for name, flow in flows.COSTS.items():
        took[name] = flows.seconds(session(MASTER), flow)
        CONSOLE.print(name, *took[name], sep=", ")
    floor = took["shuffle, no function"]
    told = [
        (name, *(f"{value:.3f}" for value in each), *_shares(floor, each))
        for name, each in took.items()
    ]
    return ("micro-batch", "s", "processor s", "share of the first", "by processor"), told


def _shares(floor: Sequence[float], took: Sequence[float]) -> Iterable[str]:
    return (f"{least / each:.2f}" for least, each in zip(floor, took, strict=True))


def _left(_: argparse.Namespace) -> Table:
    flows.seconds(session(MASTER), flows.COSTS["carry"])
    told, ended = [], time.monotonic()
    for after in TIMES:
        time.sleep(max(0.0, ended + after - time.monotonic()))
        told.append((f"{after} s after the end", *map(str, flows.hosts())))
        CONSOLE.print(*told[-1], sep=", ")
    return ("left", "processes", "sockets", "files"), told


MASTER = f"local[{LANES}]"

MEASURED: dict[str, Callable[[argparse.Namespace], Table]] = {
    "kills": _killed,
    "soak": _soaked,
    "latency": _latencies,
    "cost": _costs,
    "left": _left,
}

if __name__ == "__main__":
    sys.exit(main())
