"""An operator that many records go through, with crashes; what came of them is counted."""

import base64
import gc
import os
import resource
import statistics
import threading
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import anyio

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
"""Elements that come out behind the last snapshot before a crash, and so never happened."""


class Under(NamedTuple):
    operator: OpenOperator
    loop: LoopName = "asyncio"
    blocks: bool = False


UNDER: Mapping[str, Under] = {
    "pool-asyncio": Under(pool),
    "pool-trio": Under(pool, "trio"),
    "threads": Under(threads, blocks=True),
    "reference": Under(reference),
}


def fails(number: int) -> bool:
    """Whether all calls for a record fail, so that it gets a result of `on_error`."""
    return number % 97 == 0


def hangs(number: int, *, blocks: bool) -> bool:
    """Whether a call ends by its deadline alone; on the real clock few do."""
    return number % 200_000 == 150_003 if blocks else number % 1_000 == 3


class Plan:
    """What calls do; each is known by the number of its record, so that one that is lost is told.

    One in fifty fails once, and is repeated.
    """

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
    """Knows which records were read and are not out; so it takes no more memory than these.

    Args:
        mode: of the operator.
        blocks: see `hangs`.
        counted: what it had counted before.
    """

    COUNTS = "lost", "twice", "wrong", "disorder"

    def __init__(self, mode: Mode, *, blocks: bool, counted: Mapping[str, int]) -> None:
        self.counted = {name: counted.get(name, 0) for name in self.COUNTS}
        self.due: set[int] = set()
        self._lane: Callable[[int], int | None] = {
            "ordered": lambda _: 0,
            "key-ordered": lambda number: number % KEYS,
            "unordered": lambda _: None,
        }[mode]
        self._last: dict[int | None, int] = {}
        self._blocks = blocks

    def out(self, result: int) -> None:
        number = max(result, ~result)
        is_bad = fails(number) or hangs(number, blocks=self._blocks)
        if number not in self.due:
            self.counted["twice"] += 1
            return
        self.due.remove(number)
        self.counted["wrong"] += is_bad == (result >= 0)
        if (lane := self._lane(number)) is not None:
            self.counted["disorder"] += number < self._last.get(lane, -1)
            self._last[lane] = number

    def passed(self, watermark: int) -> None:
        self.counted["disorder"] += any(number <= watermark for number in self.due)

    def stored(self, before: int, stored: Collection[int]) -> None:
        """Compare a snapshot: what was read by then is out, or in it."""
        due = {number for number in self.due if number < before}
        self.counted["lost"] += len(lost := due.difference(stored))
        self.counted["twice"] += len(set(stored).difference(due))
        self.due -= lost

    def crashed(self, stored: Collection[int]) -> None:
        self.due = set(stored)

    def ended(self) -> None:
        self.counted["lost"] += len(self.due)


def in_flight(snapshot: Snapshot) -> list[int]:
    return [each.value for each in snapshot.in_flight if isinstance(each, Record)]


async def elements(first: int, records: int, checker: Checker) -> AsyncIterator[Element]:
    for number in range(first, records):
        checker.due.add(number)
        yield Record(number, timestamp=number, key=number % KEYS)
        if number % BARRIER_EVERY == BARRIER_EVERY - 1:
            yield Watermark(number)
            yield Barrier(number + 1)


def left(threads: float = float("inf")) -> list[int]:
    """Return how many tasks, threads and descriptors there are.

    Threads that were told to end have 5 s for that, until there are so many; no task goes on then.
    """
    gc.collect()
    give_up = time.monotonic() + 5
    while threading.active_count() > threads and time.monotonic() < give_up:
        time.sleep(0.01)  # nothing tells when the last thread has gone
    return [len(anyio.get_running_tasks()), threading.active_count(), len(os.listdir("/dev/fd"))]  # noqa: PTH208 - names will do


def memory() -> float:
    """Return what is resident, in MB; where nothing tells that, what was at most."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return pages * resource.getpagesize() / 1e6


class Soaked:
    """An operator in a mode, and how far it has come.

    Args:
        name: of both, "pool-trio ordered".
        so_far: what was noted at its last crash, or nothing.
        records: in all.
        every: records between two crashes.
    """

    def __init__(self, name: str, so_far: Mapping[str, Any], records: int, every: int) -> None:
        operator, mode = name.split()
        self._under = UNDER.get(operator) or Under(gallery()[operator].open_operator)
        blocks = self._under.blocks
        self._config = OperatorConfig(
            mode,
            16 if blocks else 100,
            timeout=10 if blocks else 60,
            retry=Retry(max_attempts=3, initial=0.001, jitter=0.5, seed=7),
            max_held=100,
        )
        self._checker = Checker(mode, blocks=blocks, counted=so_far)
        self._records, self._every = records, every
        self._done, self._crashes = so_far.get("done", 0), so_far.get("crashes", 0)
        stored = so_far.get("stored")
        self._stored = None if stored is None else decode_snapshot(base64.b64decode(stored))

    def run(self, note: Callable[[Mapping[str, Any]], bool], tick: Callable[[int], None]) -> None:
        """Run to the end, or until `note`, which is given each reading, says that it is enough."""
        if self._done == self._records:
            return

        async def main(_: object) -> None:
            before = left()
            while True:
                await self._until_crash(tick)
                over = [now - then for now, then in zip(left(before[1]), before, strict=True)]
                if note(self._reading(over)) or self._done == self._records:
                    return

        if self._under.blocks:  # Threads take their time.
            anyio.run(main, None)
        else:
            run_virtual(main, self._under.loop)

    def _reading(self, over: list[int]) -> Mapping[str, Any]:
        packed = None if self._stored is None else encode_snapshot(self._stored)
        return {
            "done": self._done,
            "of": self._records,
            "crashes": self._crashes,
            **self._checker.counted,
            "left": over,
            "memory": memory(),
            "stored": packed and base64.b64encode(packed).decode(),
        }

    async def _until_crash(self, tick: Callable[[int], None]) -> None:
        """Restore, and go on to a snapshot; leave somewhat behind it, as a crash does."""
        blocks, checker = self._under.blocks, self._checker
        checker.crashed(() if self._stored is None else in_flight(self._stored))
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
                    tick(element.checkpoint_id)
                    if at <= element.checkpoint_id < self._records:
                        self._done, self._stored = element.checkpoint_id, element
                        self._crashes += 1
                        checker.crashed(stored)
                        break
            else:
                checker.ended()
                self._done, self._stored = self._records, None
                return
            for _ in range(UNCOUNTED):
                await anext(results, None)


def flat(megabytes: list[float]) -> str:
    """Judge the memory: after a tenth, the last quarter's median exceeds the first's by little.

    That is 5 %, or 5 MB if that is more.
    """
    warm = megabytes[-(-len(megabytes) // 10) :]
    if len(warm) < 8:
        return "too few readings"
    quarter = len(warm) // 4
    first, last = (statistics.median(each) for each in (warm[:quarter], warm[-quarter:]))
    grows = last - first > max(5.0, first / 20)
    return f"{first:.1f} to {last:.1f} MB, {'grows' if grows else 'flat'}"
