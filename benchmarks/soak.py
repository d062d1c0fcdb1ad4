"""Hours of work for every operator, with crashes and restores, and a page of the results.

    python benchmarks/soak.py STATE [PART ...] [--records 10000000] [--every 100000] [--minutes M]
        [--page docs/soak.md]

A part is an operator in a mode, with retries, timeouts and results of `on_error`. It is left at a
snapshot every so often, with calls in flight, and restored. A checker counts results that are lost,
repeated, wrong or out of order; each crash reads the tasks, threads, descriptors and memory in use.

The parts run one after the other, each in a new process. STATE, a file of JSON lines, has their
readings, so the command may be killed, and continues from the last crash. It exits with 1 if a part
was broken, and with 3 if a part is not finished.
"""

import argparse
import base64
import datetime as dt
import gc
import json
import os
import resource
import statistics
import sys
import threading
import time
from collections.abc import AsyncIterator, Collection, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, get_args

import anyio
from _page import machine, shown, write
from rich.console import Console

from asyncwait.backends.faulty import gallery
from asyncwait.backends.pool import open_operator as pool
from asyncwait.backends.threads import open_operator as threads
from asyncwait.conformance.harness import LoopName, run_virtual
from asyncwait.reference import open_operator as reference
from asyncwait.spec import (
    Barrier,
    Element,
    Mode,
    OpenOperator,
    OperatorConfig,
    Record,
    Retry,
    Snapshot,
    Watermark,
)
from asyncwait.spec.snapshots import decode_snapshot, encode_snapshot

BARRIER_EVERY, KEYS = 500, 1_000

UNCOUNTED = 50
"""Elements that the consumer reads after the last snapshot before a crash; they do not count."""

PAGE = """# Soak

By `python benchmarks/soak.py`, on {run}; asyncwait {version}, {machine}.

Each operator has a plan that fails one call in fifty once and one record in 97 for good, lets one
in a thousand run into its deadline (with threads, on the real clock, one in 200,000), and is left
at a snapshot every {every:,} records, with calls in flight, and restored. Results behind that
snapshot do not count. A checker knows which records were read and have no result yet, and compares
each snapshot with them. Left over is the most that any reading at a crash found beyond those before
the start: tasks, threads, descriptors. Memory is the resident memory: the median of the first
quarter of readings and of the last quarter, without the first tenth; it is flat if it grew by no
more than 5 %, or by 5 MB if that is more. All readings are of the process with most readings.
Minutes are wall-clock time, whatever else the machine did.

{finished} of {parts} parts are finished.{rest}
"""


class Under(NamedTuple):
    operator: OpenOperator
    loop: LoopName = "asyncio"
    blocks: bool = False


UNDER = {
    "pool-asyncio": Under(pool),
    "pool-trio": Under(pool, "trio"),
    "threads": Under(threads, blocks=True),
    "reference": Under(reference),
}
PARTS = [f"{name} {mode}" for name in UNDER for mode in get_args(Mode)]


def fails(number: int) -> bool:
    """Return whether all calls for a record fail, so that `on_error` gives its result."""
    return number % 97 == 0


def hangs(number: int, *, blocks: bool) -> bool:
    """Return whether only its deadline ends a call; on the real clock few calls hang."""
    return number % 200_000 == 150_003 if blocks else number % 1_000 == 3


class Plan:
    """Seconds and results of calls; the number of a record decides, and one in fifty fails once."""

    def __init__(self, *, blocks: bool) -> None:
        self._failed: set[int] = set()
        self._blocks = blocks

    def seconds(self, number: int) -> float:
        if hangs(number, blocks=self._blocks):
            return 12.0 if self._blocks else 120.0
        if self._blocks:
            return 0.001 * (number % 10 == 0)
        return 0.1 if number % 101 == 0 else (number * 2_654_435_761 >> 7) % 10 / 1_000

    def answer(self, number: int) -> list[int]:
        if number % 50 == 1 and number not in self._failed:
            self._failed.add(number)
            raise ConnectionError
        self._failed.discard(number)
        if fails(number):
            raise ValueError(number)
        return [number]

    def timeout(self, number: int) -> list[int]:
        return [~number]

    def failure(self, number: int, error: Exception) -> list[int]:
        del error
        return [~number]


class Awaited(Plan):
    async def __call__(self, number: int) -> list[int]:
        await anyio.sleep(self.seconds(number))
        return self.answer(number)


class Blocking(Plan):
    def __call__(self, number: int) -> list[int]:
        if seconds := self.seconds(number):
            time.sleep(seconds)  # it stands in for a call that blocks its thread
        return self.answer(number)


class Checker:
    """Records that were read and have no result yet: all that a run of any length has to know."""

    COUNTS = "lost", "twice", "wrong", "disorder"

    def __init__(self, mode: str, *, blocks: bool, counted: dict[str, Any]) -> None:
        self.counted = {name: counted.get(name, 0) for name in self.COUNTS}
        self.due: set[int] = set()
        self._mode, self._blocks = mode, blocks
        self._last: dict[int, int] = {}

    def out(self, result: int) -> None:
        number = max(result, ~result)
        if number not in self.due:
            self.counted["twice"] += 1
            return
        self.due.remove(number)
        is_bad = fails(number) or hangs(number, blocks=self._blocks)
        self.counted["wrong"] += is_bad == (result >= 0)
        if self._mode != "unordered":
            lane = number % KEYS if self._mode == "key-ordered" else 0
            self.counted["disorder"] += number < self._last.get(lane, -1)
            self._last[lane] = number

    def passed(self, watermark: int) -> None:
        self.counted["disorder"] += any(number <= watermark for number in self.due)

    def stored(self, before: int, stored: Collection[int]) -> None:
        """Compare a snapshot: each record before it has a result, or is in it."""
        due = {number for number in self.due if number < before}
        self.counted["lost"] += len(lost := due.difference(stored))
        self.counted["twice"] += len(set(stored).difference(due))
        self.due -= lost


def in_flight(snapshot: Snapshot) -> list[int]:
    return [each.value for each in snapshot.in_flight if isinstance(each, Record)]


async def elements(first: int, records: int, checker: Checker) -> AsyncIterator[Element]:
    for number in range(first, records):
        checker.due.add(number)
        yield Record(number, timestamp=number, key=number % KEYS)
        if number % BARRIER_EVERY == BARRIER_EVERY - 1:
            yield Watermark(number)
            yield Barrier(number + 1)


def in_use(most_threads: float = float("inf")) -> list[int]:
    """Return the numbers of tasks, threads and descriptors; ending threads get 5 s to end."""
    gc.collect()
    give_up = time.monotonic() + 5
    while threading.active_count() > most_threads and time.monotonic() < give_up:
        time.sleep(0.01)  # nothing tells when the last thread has gone
    return [len(anyio.get_running_tasks()), threading.active_count(), len(os.listdir("/dev/fd"))]  # noqa: PTH208 - names will do


def memory() -> float:
    """Return the resident memory in MB; its maximum on systems without /proc."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return pages * resource.getpagesize() / 1e6


class State:
    """Readings of all parts, in a file of JSON lines; a torn last line is dropped."""

    def __init__(self, path: Path) -> None:
        self.path = path
        text = path.read_bytes() if path.exists() else b""
        path.write_bytes(whole := text[: text.rfind(b"\n") + 1])
        self.lines: list[dict[str, Any]] = [json.loads(line) for line in whole.splitlines()]

    def add(self, line: dict[str, Any]) -> None:
        """Add a line, and sync it to the disk."""
        self.lines.append(line)
        with self.path.open("ab") as file:
            file.write(json.dumps(line).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def readings(self, part: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line.get("part") == part and "done" in line]


class Soak:
    def __init__(self, state: State, part: str, arguments: argparse.Namespace) -> None:
        operator, mode = part.split()
        self._under = UNDER.get(operator) or Under(gallery()[operator].open_operator)
        blocks = self._under.blocks
        retry = Retry(max_attempts=3, initial=0.001, jitter=0.5, seed=7)
        limits = (16, 10) if blocks else (100, 60)
        self._config = OperatorConfig(mode, *limits, retry, max_held=100)  # type: ignore[arg-type]
        self._state, self._part = state, part
        self._so_far: dict[str, Any] = (state.readings(part) or [{}])[-1]
        self._checker = Checker(mode, blocks=blocks, counted=self._so_far)
        self._records, self._every = arguments.records, arguments.every
        self._most = float("inf") if arguments.minutes is None else 60 * arguments.minutes
        self._done, self._crashes = self._so_far.get("done", 0), self._so_far.get("crashes", 0)
        stored = self._so_far.get("stored")
        self._stored = None if stored is None else decode_snapshot(base64.b64decode(stored))
        self._process = f"{os.getpid()} {time.time():.0f}"

    def run(self) -> None:
        if self._done == self._records:
            return

        async def main(_: object) -> None:
            began, before = time.monotonic(), in_use()
            while self._done < self._records and time.monotonic() - began <= self._most:
                await self._until_crash()
                over = [now - was for now, was in zip(in_use(before[1]), before, strict=True)]
                seconds = time.monotonic() - began + self._so_far.get("seconds", 0)
                self._state.add(self._reading(over, round(seconds, 1)))

        if self._under.blocks:  # Threads need the real clock.
            anyio.run(main, None)
        else:
            run_virtual(main, self._under.loop)

    def _reading(self, over: list[int], seconds: float) -> dict[str, Any]:
        packed = None if self._stored is None else encode_snapshot(self._stored)
        return {
            "part": self._part,
            "done": self._done,
            "of": self._records,
            "crashes": self._crashes,
            **self._checker.counted,
            "left": over,
            "memory": memory(),
            "stored": packed and base64.b64encode(packed).decode(),
            "seconds": seconds,
            "process": self._process,
        }

    async def _until_crash(self) -> None:
        """Restore, and run to a snapshot; leave with calls in flight, as a crash does."""
        blocks, checker = self._under.blocks, self._checker
        checker.due = set(() if self._stored is None else in_flight(self._stored))
        fn = Blocking(blocks=True) if blocks else Awaited(blocks=False)
        source = elements(self._done, self._records, checker)
        at = min(self._done + self._every, self._records)
        async with self._under.operator(self._config, fn, source, self._stored) as results:
            async for element in results:
                if isinstance(element, Record):
                    checker.out(element.value)
                elif isinstance(element, Watermark):
                    checker.passed(element.timestamp)
                elif isinstance(element, Snapshot):
                    checker.stored(element.checkpoint_id, stored := in_flight(element))
                    if at <= element.checkpoint_id < self._records:
                        self._done, self._stored = element.checkpoint_id, element
                        self._crashes += 1
                        checker.due = set(stored)
                        break
            else:
                checker.counted["lost"] += len(checker.due)
                self._done, self._stored = self._records, None
                return
            for _ in range(UNCOUNTED):
                await anext(results, None)


def flat(megabytes: list[float]) -> str:
    """Judge memory: the last quarter's median may exceed the first's by 5 %, or by 5 MB."""
    warm = megabytes[-(-len(megabytes) // 10) :]
    if len(warm) < 8:
        return "too few readings"
    quarter = len(warm) // 4
    first, last = (statistics.median(each) for each in (warm[:quarter], warm[-quarter:]))
    grows = last - first > max(5.0, first / 20)
    return f"{first:.1f} to {last:.1f} MB, {'grows' if grows else 'flat'}"


HEAD = ("part", "done", "of", "crashes", *Checker.COUNTS, "left over", "memory", "minutes",
        "verdict")  # fmt: skip


def row(readings: list[dict[str, Any]]) -> list[str]:
    last = readings[-1]
    over = [max(each) for each in zip(*(line["left"] for line in readings), strict=True)]
    by_process: dict[str, list[float]] = {}
    for line in readings:
        by_process.setdefault(line["process"], []).append(line["memory"])
    used = flat(max(by_process.values(), key=len))
    counts = [last[name] for name in Checker.COUNTS]
    is_bad = any(counts) or any(each > 0 for each in over) or used.endswith("grows")
    held = "held" if last["done"] == last["of"] else "held so far"
    numbers = (f"{last[name]:,}" for name in ("done", "of", "crashes"))
    left, minutes = ", ".join(map(str, over)), f"{last['seconds'] / 60:.1f}"
    verdict = "broken" if is_bad else held
    return [last["part"], *numbers, *map(str, counts), left, used, minutes, verdict]


def errors(state: State, names: list[str]) -> Iterator[str]:
    """Yield each part that an error has ended since its last reading."""
    for name in names:
        last = next((each for each in reversed(state.lines) if each.get("part") == name), {})
        if "error" in last:
            yield f"{name} was ended by {last['error']}"


def report(state: State, page: Path | None, names: list[str]) -> int:
    """Print the table, write the page, and return the exit code."""
    rows = [row(found) for name in names if (found := state.readings(name))]
    console = Console()
    console.print(shown(HEAD, rows), *errors(state, names), sep="\n")
    finished = sum(each[1] == each[2] for each in rows)
    if page:
        missing = ", ".join(f"`{name}`" for name in names if not state.readings(name))
        rest = f" Not begun are {missing}." if missing else ""
        run = next(line for line in reversed(state.lines) if "run" in line)
        text = PAGE.format(**run, finished=finished, parts=len(names), rest=rest)
        write(page, text, (HEAD, rows))
    if any(each[-1] == "broken" for each in rows):
        return 1
    return 0 if finished == len(names) else 3


def main() -> NoReturn:
    """Run the next part, and start again with the part behind it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("state", type=Path, help="a file, which is made or continued")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--records", type=int, default=10_000_000, help="for each part")
    parser.add_argument("--every", type=int, default=100_000, help="records between two crashes")
    parser.add_argument("--minutes", type=float, help="for each part; 0: only report")
    parser.add_argument("--page", type=Path, help="a file for the results in Markdown")
    parser.add_argument("--next", type=int, default=0, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    state, names = State(arguments.state), arguments.parts or PARTS
    if arguments.next == len(names) or arguments.minutes == 0:
        sys.exit(report(state, arguments.page, names))
    if arguments.next == 0:
        day = f"{dt.datetime.now().astimezone():%Y-%m-%d}"
        about = {"machine": machine(), "version": version("asyncwait"), "every": arguments.every}
        state.add({"run": day, **about})
    part = names[arguments.next]
    try:
        Soak(state, part, arguments).run()
    except Exception as error:
        state.add({"part": part, "error": f"{type(error).__name__}: {error}"[:500]})
    # The same process with new memory: a signal that ends the command ends the part, too.
    command = [each for each in sys.argv if not each.startswith("--next")]
    os.execv(sys.executable, [sys.executable, *command, f"--next={arguments.next + 1}"])  # noqa: S606 - no shell is needed


if __name__ == "__main__":
    main()
