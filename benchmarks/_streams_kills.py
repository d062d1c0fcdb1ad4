"""A stream whose processes are killed, and what has become of its rows."""

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
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from _streams_sink import Arrived, Row

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
        sink: that it writes into.
        seed: of what is left to chance.
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
        job = Path(__file__).with_name("_streams_job.py")
        return started(job, self._folder, self._sink, TMPDIR=str(self._folder / "tmp"))

    def kill(self, kind: str, change: int | None = None) -> Count:
        """Kill what is named; with a change the stream starts again with other settings."""
        ids = self._feed(FILES)
        enough, told = self._rng.random() * 0.8 * len(ids), self._resent()
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
        return self._count(ids)._replace(resent=self._resent() - told)

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
        end(self._folder)
        self._job.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


def started(script: Path, folder: Path, *told: str, **environment: str) -> subprocess.Popen[bytes]:
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, str(script), str(folder), *told],
            env={**os.environ, MARK: str(folder), **environment},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def end(folder: Path) -> None:
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
