"""Streams of PySpark whose calls stay in flight across micro-batches, killed at random moments.

    python benchmarks/streams.py [--kills 12] [--changes] [--seed 1]

Kills parts of a stream and counts what has become of its rows, with three sinks: files, for which
Spark skips a batch that it plays again; a sink that ignores its second commit; and a sink that
takes the batch again. Exits with 1 if a row is lost, wrong, comes twice to a sink that takes
batches once, or comes out of the order of its lane.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
from itertools import cycle, islice

from _page import shown
from _streams_kills import MARK, PARTS, Count, Killed
from _streams_sink import SINKS
from rich.console import Console

CONSOLE = Console()


def main() -> int:
    """Kill, count, and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=12, help="in all")
    parser.add_argument("--changes", action="store_true", help="half of them with other settings")
    parser.add_argument("--seed", type=int, default=1, help="of the random choices")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # and end all that was started
    short = tempfile.TemporaryDirectory(prefix="streams-", dir="/tmp", ignore_cleanup_errors=True)
    with short as folder:
        tempfile.tempdir = folder
        os.environ |= {"TMPDIR": folder, MARK: folder}
        counts = _killed(arguments)
    told = [(*which, *map(str, count)) for which, count in counts.items()]
    CONSOLE.print(shown(("sink", "killed", *Count._fields), told))
    return int(not all(count.is_right for count in counts.values()))


def _killed(arguments: argparse.Namespace) -> dict[tuple[str, str], Count]:
    """Return the counts of rows, by sink and kind of kill."""
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
        finally:
            killed.close()
    return counts


if __name__ == "__main__":
    sys.exit(main())
