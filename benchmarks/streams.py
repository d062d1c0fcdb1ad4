"""Streams of PySpark whose calls stay in flight across micro-batches, killed at random moments.

    python benchmarks/streams.py [--kills 12] [--changes] [--seed 1]

Kills parts of a stream into files, and counts what has become of its rows. Exits with 1 if a row is
lost, wrong, comes twice, or comes out of the order of its lane.
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
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import unquote, urlparse

import pyarrow.parquet as pq
from _page import shown
from rich.console import Console

CONSOLE = Console()

Row: TypeAlias = dict[str, Any]

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


CHANGES: tuple[dict[str, dict[str, Any]], ...] = (
    {"conf": {"spark.sql.shuffle.partitions": "4"}},
    {"carry": {"pause": 0.2, "budget": 0.0, "lease": 200}},
    {"carry": {"version": "2"}, "options": {"timeout": 60}},
    {"conf": {"spark.sql.shuffle.partitions": "1"}, "carry": {"lanes": None}},
    {"carry": {"version": "3"}, "options": {"capacity": 50}},
)
"""Settings with which a stream may start again, in place of all earlier ones."""


class Count(NamedTuple):
    """What has become of the rows that a kill has met."""

    kills: int = 1
    rows: int = 0
    twice: int = 0
    lost: int = 0
    wrong: int = 0
    disorder: int = 0
    again: int = 0

    def plus(self, other: "Count") -> "Count":
        """Return the sum of two counts."""
        return Count(*map(sum, zip(self, other, strict=True)))

    @property
    def is_right(self) -> bool:
        """Whether each row came out once, right and in order."""
        return not (self.twice or self.lost or self.wrong or self.disorder)


class Arrived:
    """The rows in a sink of files, by micro-batch, as far as Spark's log of the sink names them."""

    def __init__(self, folder: Path) -> None:
        self._log = folder / "_spark_metadata"
        self._seen: set[str] = set()
        self.batches: dict[int, list[Row]] = {}

    def look(self) -> None:
        """Read what is new."""
        for number, entry in sorted(self._entries()):
            told = [json.loads(line) for line in entry.read_text().splitlines() if line[:1] == "{"]
            new = [each["path"] for each in told if each["path"] not in self._seen]
            self._seen.update(new)
            tables = [pq.read_table(unquote(urlparse(path).path)) for path in new]
            self.batches[number] = [row for table in tables for row in table.to_pylist()]

    def _entries(self) -> Iterator[tuple[int, Path]]:
        for entry in self._log.glob("[0-9]*"):
            number = int(entry.name.removesuffix(".compact"))
            if number not in self.batches:
                yield number, entry

    def rows(self) -> list[Row]:
        """Return all rows in the order of their micro-batches."""
        return [row for number in sorted(self.batches) for row in self.batches[number]]


class Killed:
    """A stream that is killed again and again.

    Args:
        seed: of the random choices.
    """

    def __init__(self, seed: int) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="streams-", dir="/tmp"))
        self._rng = random.Random(seed)
        self._arrived = Arrived(self._folder / "out")
        self._fed = 0
        for name in ("in", "tmp"):
            (self._folder / name).mkdir()
        self._job = self._started()

    def _started(self) -> subprocess.Popen[bytes]:
        job = Path(__file__).with_name("_streams_job.py")
        return started(job, self._folder, TMPDIR=str(self._folder / "tmp"))

    def kill(self, kind: str, change: int | None = None) -> Count:
        """Kill what is named; with a change the stream starts again with other settings."""
        ids = self._feed(FILES)
        enough = self._rng.random() * 0.8 * len(ids)
        count = self._rng.choice((self._out, self._called))
        self._until(lambda: count(ids) >= enough)
        if change is not None:
            settings = CHANGES[change % len(CHANGES)]
            (self._folder / "changed").write_text(json.dumps(settings))
        self._strike(kind)
        if change is not None and "driver" not in PARTS[kind]:
            self._end(PARTS["driver, JVM, workers"])
        # After a whole micro-batch Spark forgets that it wanted another one, unless rows come.
        ids = range(ids.start, self._feed(1).stop)
        self._drain(ids)
        return self._count(ids)

    def _strike(self, kind: str) -> None:
        """Kill what is named, at some moment in the next second, or in the seam."""
        if kind == "seam":
            self._until(lambda: bool(self._arrived.batches[max(self._arrived.batches)]))
        else:
            time.sleep(self._rng.random())
        self._end(PARTS[kind])
        if kind == "seam":
            self._forget_commit()

    def _drain(self, ids: range) -> None:
        self._until(lambda: self._out(ids) == len(ids))
        seen = len(self._arrived.batches)
        self._until(lambda: len(self._arrived.batches) >= seen + 2)

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
            time.sleep(0.02)

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

    def _count(self, ids: range) -> Count:
        called = self._calls(ids)
        out = [row for row in self._arrived.rows() if row["id"] in ids]
        distinct = len({row["id"] for row in out})
        wrong = sum((row["twice"], row["lane"]) != (2 * row["id"], row["id"] % KEYS) for row in out)
        lanes = [[row["id"] for row in out if row["id"] % KEYS == key] for key in range(KEYS)]
        disorder = sum(a > b for lane in lanes for a, b in pairwise(lane))
        twice, lost = len(out) - distinct, len(ids) - distinct
        return Count(1, len(ids), twice, lost, wrong, disorder, called.total() - len(called))

    def close(self) -> None:
        """End the stream and its processes, and remove its folder."""
        (self._folder / "stop").touch()
        with suppress(subprocess.TimeoutExpired):
            self._job.wait(60)
        end(self._folder)
        self._job.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


def started(script: Path, folder: Path, **environment: str) -> subprocess.Popen[bytes]:
    """Start a script whose processes `end` finds by their folder."""
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, str(script), str(folder)],
            env={**os.environ, MARK: str(folder), **environment},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def end(folder: Path) -> None:
    """Kill the processes of the stream in a folder."""
    for pid, _ in processes(folder):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


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
    told = [(kind, *map(str, count)) for kind, count in counts.items()]
    CONSOLE.print(shown(("killed", *Count._fields), told))
    return int(not all(count.is_right for count in counts.values()))


def _killed(arguments: argparse.Namespace) -> dict[str, Count]:
    """Return the counts of rows, by kind of kill."""
    counts: dict[str, Count] = {}
    kinds = random.Random(arguments.seed).sample([*PARTS], len(PARTS))
    killed = Killed(arguments.seed)
    try:
        for number, kind in enumerate(islice(cycle(kinds), arguments.kills)):
            changes = arguments.changes and number // len(kinds) % 2 == 0
            count = killed.kill(kind, number if changes else None)
            CONSOLE.print(f"{kind}: {count}")
            what = f"{kind}, changed" if changes else kind
            counts[what] = count.plus(counts.get(what, Count(0)))
    finally:
        killed.close()
    return counts


if __name__ == "__main__":
    sys.exit(main())
