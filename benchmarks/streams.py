"""Kills of PySpark streams whose calls stay in flight across micro-batches.

    python benchmarks/streams.py [--kills 12] [--seed 1] [--page FILE]

Kills parts of a stream at random moments and counts what became of its rows, with three sinks:
files, for which Spark leaves out a batch that it plays again, a sink that ignores its second
commit, and a sink that takes it again. Exits with 1 if a row is lost, wrong, out of the order of
its lane, or comes twice to a sink that takes batches once.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import cycle, islice, pairwise
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from _page import machine, shown, write
from _streams_job import SINKS, Arrived, Row
from rich.console import Console

MARK = "ASYNCWAIT_STREAM"
"""The variable by which a process is known as one of a stream."""

FILES, ROWS, KEYS = 4, 20, 8
"""Files between two kills, rows of each, and values that share a lane."""

WITHIN = 180.0
"""Seconds without any news after which rows are lost."""

PARTS: dict[str, tuple[str, ...]] = {
    "driver, JVM, workers": ("driver", "java", "worker"),
    "JVM": ("java",),
    "a Python worker": ("worker",),
    "host": ("host",),
    "all of them": ("driver", "java", "worker", "host"),
    "seam": ("driver", "java", "worker"),
}
"""Kinds of kills, and what is killed."""


class Count(NamedTuple):
    """Outcome of the rows that were in flight at a kill."""

    kills: int = 1
    rows: int = 0
    twice: int = 0
    repeated: int = 0
    lost: int = 0
    wrong: int = 0
    disorder: int = 0
    again: int = 0
    resent: int = 0

    def plus(self, other: "Count") -> "Count":
        return Count(*map(sum, zip(self, other, strict=True)))

    @property
    def is_right(self) -> bool:
        """Whether nothing came twice but whole micro-batches, played again and as before."""
        return self.twice == self.repeated and not (self.lost or self.wrong or self.disorder)


class Killed:
    """A stream that is killed again and again.

    Args:
        sink: of the stream.
        seed: of the moments of the kills.
    """

    def __init__(self, sink: str, seed: int) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="streams-", dir="/tmp"))
        self._sink, self._rng = sink, random.Random(seed)
        self._arrived = Arrived(sink, self._folder / "out")
        self._fed = 0
        for name in ("in", "tmp"):
            (self._folder / name).mkdir()
        self._job = self._started()

    def _started(self) -> subprocess.Popen[bytes]:
        job = str(Path(__file__).with_name("_streams_job.py"))
        with (self._folder / "log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, job, str(self._folder), self._sink],
                env={**os.environ, MARK: str(self._folder), "TMPDIR": str(self._folder / "tmp")},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self, kind: str) -> Count:
        """Kill the named processes, and count what became of the rows."""
        ids = self._feed(FILES)
        enough, told = self._rng.random() * 0.8 * len(ids), self._resent()
        count = self._rng.choice((self._out, self._called))
        self._until(lambda: count(ids) >= enough)
        self._strike(kind)
        # After a whole micro-batch Spark forgets that it wanted another one, unless rows come.
        ids = range(ids.start, self._feed(1).stop)
        self.drain(ids)
        return self.count(ids)._replace(resent=self._resent() - told)

    def _strike(self, kind: str) -> None:
        """Kill the named processes within the next second, or in the seam."""
        if kind == "seam":
            self._until(lambda: bool(self._arrived.batches[max(self._arrived.batches)]))
        else:
            time.sleep(self._rng.random())  # A kill comes at any moment of real work.
        self._end(PARTS[kind])
        if kind == "seam":
            self._forget_commit()

    def drain(self, ids: range) -> None:
        self._until(lambda: self._out(ids) == len(ids))
        seen = len(self._arrived.batches)
        self._until(lambda: len(self._arrived.batches) >= seen + 2)

    def _resent(self) -> int:
        """Count the micro-batches that the sink was given once more."""
        return len([*(self._folder / "out").glob("ignored-*")]) + len(self._arrived.again)

    def _feed(self, files: int) -> range:
        first = self._fed * ROWS
        for number in range(self._fed, self._fed + files):
            told = [
                json.dumps({"id": each, "lane": each % KEYS})
                for each in range(number * ROWS, (number + 1) * ROWS)
            ]
            fresh = self._folder / "in" / f".{number}"
            fresh.write_text("\n".join(told))
            now = int(time.time()) + number  # Spark reads files in this order.
            os.utime(fresh, (now, now))
            fresh.rename(fresh.with_name(f"{number:06}.json"))
        self._fed += files
        return range(first, self._fed * ROWS)

    def _until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds, or nothing is new for long; start what has ended again."""
        news, since = 0, time.monotonic()
        while time.monotonic() < since + WITHIN:
            if self._job.poll() is not None:
                self._job = self._started()
            self._arrived.look()
            if self._arrived.batches and holds():
                return
            if (now := len(self._arrived.rows())) != news:
                news, since = now, time.monotonic()
            time.sleep(0.02)  # A sink of another process sends no event.

    def _out(self, ids: range) -> int:
        return len({row["id"] for row in self._arrived.rows() if row["id"] in ids})

    def _end(self, parts: tuple[str, ...]) -> None:
        """Kill a process of each part: all of it, but for workers on their own."""
        found = [pid for pid, part in processes(self._folder) if part in parts]
        if parts == ("worker",):
            found = [self._rng.choice(found)]
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if "java" in parts:
            with suppress(subprocess.TimeoutExpired):
                self._job.wait(30)
            self._job.kill()  # It has not seen that its JVM is gone.
            self._job.wait()

    def _forget_commit(self) -> None:
        """Make it so that Spark's own commit of the last micro-batch in the sink did not come."""
        self._arrived.look()
        last = max(self._arrived.batches)
        for log, first in (("commits", last), ("offsets", last + 1)):
            for file in (self._folder / "checkpoint" / log).iterdir():
                number = file.name.removeprefix(".").removesuffix(".crc")
                if number.isdigit() and int(number) >= first:
                    file.unlink()

    def _called(self, ids: range) -> int:
        return len(self._calls(ids))

    def _calls(self, ids: range) -> Counter[int]:
        notes = self._folder / "calls"
        told = map(int, notes.read_text().split()) if notes.exists() else ()
        return Counter(each for each in told if each in ids)

    def count(self, ids: range) -> Count:
        rows, called = self._arrived.rows(), self._calls(ids)
        out = [row for row in rows if row["id"] in ids]
        alike = [row for number, again in self._arrived.again for row in self._alike(number, again)]
        more = [row for _, again in self._arrived.again for row in again if row["id"] in ids]
        came, distinct = out + more, len({row["id"] for row in out})
        wrong = sum(
            (row["twice"], row["lane"]) != (2 * row["id"], row["id"] % KEYS) for row in came
        )
        lanes = [[row["id"] for row in out if row["id"] % KEYS == key] for key in range(KEYS)]
        disorder = sum(a > b for lane in lanes for a, b in pairwise(lane))
        repeated = sum(row["id"] in ids for row in alike)
        counted = len(ids), len(came) - distinct, repeated, len(ids) - distinct
        return Count(1, *counted, wrong, disorder, called.total() - len(called))

    def _alike(self, number: int, again: list[Row]) -> list[Row]:
        """Return the rows of a micro-batch that was played again, if they are those of before."""
        before = self._arrived.batches[number]
        by_id = [sorted(rows, key=itemgetter("id")) for rows in (before, again)]
        return again if by_id[0] == by_id[1] else []

    def close(self) -> None:
        (self._folder / "stop").touch()
        with suppress(subprocess.TimeoutExpired):
            self._job.wait(60)
        for pid, _ in processes(self._folder):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._job.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


def _part(command: bytes) -> str:
    named = ((b"carry._serve", "host"), (b"_streams_job", "driver"), (b"java", "java"))
    return next((part for text, part in named if text in command), "worker")


def processes(folder: Path) -> Iterator[tuple[int, str]]:
    """Yield the processes of the stream in a folder, and what each is."""
    mark = f"{MARK}={folder}".encode()
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark in (place / "environ").read_bytes().split(b"\0"):
                yield int(place.name), _part((place / "cmdline").read_bytes())


PAGE = """# Streams whose calls stay in flight: kills

By `python benchmarks/streams.py`, in a session with two lanes; {machine}.

A stream reads a file of 20 rows in each micro-batch and makes calls of 0.1 to 0.7 s. SIGKILL ends
the named processes at a random moment, and the stream goes on. The seam is a micro-batch that the
sink has while Spark's own commit of it has not come. When a batch is played again, "parquet" leaves
it out; "manifests", a sink by the data source API, receives it and ignores its second commit;
"foreachBatch" writes it once more, as sinks do that look at no numbers.

Resent are micro-batches that a sink received once more; repeated are their rows, where all of them
were as before. Disorder counts rows before their predecessor in a lane, again the calls after the
first call of a row. After each kill one more file comes: a query that is started again where a
micro-batch was complete begins none without rows, and what is in flight waits.
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=12, help="in all")
    parser.add_argument("--seed", type=int, default=1, help="of the moments of the kills")
    parser.add_argument("--page", type=Path, help="a file for the table in Markdown")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # and end all that was started
    counts: dict[tuple[str, str], Count] = {}
    console, is_right = Console(), True
    for place, sink in enumerate(SINKS):
        kinds = random.Random(arguments.seed).sample([*PARTS], len(PARTS))
        killed = Killed(sink, arguments.seed + place)
        try:
            kills = islice(cycle(kinds), -(-(arguments.kills - place) // len(SINKS)))
            for kind in kills:
                count = killed.kill(kind)
                console.print(f"{sink}, {kind}: {count}")
                counts[sink, kind] = count.plus(counts.get((sink, kind), Count(0)))
                is_right &= count.is_right
        finally:
            killed.close()
    table = ("sink", "killed", *Count._fields), [(*at, *map(str, n)) for at, n in counts.items()]
    console.print(shown(*table))
    if arguments.page:
        write(arguments.page, PAGE.format(machine=machine()), table)
    return int(not is_right)


if __name__ == "__main__":
    sys.exit(main())
