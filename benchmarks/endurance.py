"""Long runs: random latencies and failures, crashes every so often, nothing lost, nothing twice.

    python benchmarks/endurance.py [--records 200000] [--every 10000]
    python benchmarks/endurance.py --one lookup ordered --records 10000000

Runs the reference, the pool and the emitter, in every mode, on a virtual clock, each size in a
process of its own, and compares the peak memory of the whole run with that of a run of a tenth of
the size. Calls are repeated, finished results wait beyond the capacity, and in key-ordered mode
there are five times as many records, nearly each with a key of its own: a million. Exits with 1 if
an output is missing or repeated.

At last fifty times as many values, ten million, are looked up in a table that changes, is slow,
hangs and fails, by a cache that is too small. Exits with 1 also if a row is wrong or too old, a
bound does not hold, or the figures do not add up.
"""

import argparse
import random
import resource
import subprocess
import sys
from collections import deque
from collections.abc import AsyncIterator, Sequence
from typing import Any, get_args

import anyio

from asyncwait.backends.emitter import open_operator as emitter
from asyncwait.backends.lookup import FunctionTable, LookupStatistics, lookup
from asyncwait.backends.pool import open_operator as pool
from asyncwait.conformance.harness import SpinWatch, run_virtual
from asyncwait.reference import open_operator as reference
from asyncwait.spec import (
    Barrier,
    Batch,
    Cache,
    Element,
    Mode,
    OpenOperator,
    OperatorConfig,
    Record,
    Retry,
    Snapshot,
)
from asyncwait.spec.snapshots import decode_snapshot, encode_snapshot

OPERATORS: dict[str, OpenOperator] = {
    "reference": reference,
    "pool": pool,
    "emitter": emitter,
}
BARRIER_EVERY = 100
CAPACITY = 100


class Checker:
    """Sees to it that each number comes once; remembers only what is out of order.

    Args:
        ordered: every number must be the next one.
    """

    def __init__(self, *, ordered: bool) -> None:
        self.next = 0
        self._early: set[int] = set()
        self._ordered = ordered

    def take(self, number: int) -> None:
        """Note a result."""
        if number < self.next or number in self._early:
            raise SystemExit(f"{number} came twice")
        if self._ordered and number != self.next:
            raise SystemExit(f"expected {self.next}, got {number}")
        self._early.add(number)
        while self.next in self._early:
            self._early.remove(self.next)
            self.next += 1


class Service:
    """Answers after 0 to 9 ms, one in a hundred after 100 ms, and one in fifty fails."""

    async def __call__(self, value: int) -> list[int]:
        """Answer, or fail."""
        await anyio.sleep(0.1 if random.random() < 0.01 else random.randrange(10) / 1000)
        if random.random() < 0.02:
            raise ValueError(value)
        return [value]

    def failure(self, value: int, error: Exception) -> list[int]:
        """Give the same; few records fail three times."""
        del error
        return [value]


async def elements(first: int, records: int) -> AsyncIterator[Element]:
    """Yield the records from `first` on, with a barrier behind every hundredth.

    One in ten has one of a hundred keys, the others keys of their own.
    """
    for number in range(first, records):
        key = f"shared {number % 1_000}" if number % 10 == 0 else f"own {number}"
        yield Record(number, key=key)
        if number % BARRIER_EVERY == BARRIER_EVERY - 1:
            yield Barrier(number + 1)


async def run(operator: OpenOperator, mode: Any, records: int, every: int) -> int:
    """Run to the end through all crashes; return how many crashes there were."""
    retry = Retry(max_attempts=3, initial=0.001, jitter=0.5, seed=7)
    config = OperatorConfig(mode, CAPACITY, timeout=60, retry=retry, max_held=CAPACITY)
    checker = Checker(ordered=mode == "ordered")
    stored: bytes | None = None
    first = crashes = 0
    pending: deque[int] = deque()
    while True:
        restore = None if stored is None else decode_snapshot(stored)
        async with operator(config, Service(), elements(first, records), restore) as results:
            finished = True
            async for element in results:
                if isinstance(element, Snapshot):
                    # Output counts once its snapshot is there; a crash drops what came after.
                    while pending:
                        checker.take(pending.popleft())
                    stored, first = encode_snapshot(element), element.checkpoint_id
                elif isinstance(element, Record):
                    pending.append(element.value)
                    if checker.next + len(pending) >= (crashes + 1) * every < records:
                        finished = False
                        break
        if finished:
            while pending:
                checker.take(pending.popleft())
            break
        pending.clear()
        crashes += 1
    if checker.next != records:
        raise SystemExit(f"{checker.next} of {records} records came out")
    return crashes


KEYS = 20_000
LOOKUPS: dict[str, Any] = {
    "cache": Cache(KEYS // 10, 2, missing_ttl=0.5, refresh_ahead=0.8, stale_if_error=3),
    "capacity": 2_000,
    "timeout": 1.0,
    "retry": Retry(max_attempts=3, initial=0.01, attempt_timeout=0.5),
    "batch": Batch(max_size=200, max_wait=0.002, in_flight=8),
}
OLDEST = 2 + 3 + 1
"""Seconds since a row was right, at most: those of the cache, and the timeout."""


async def changing(keys: Sequence[int]) -> dict[int, Any]:
    """Be a table whose rows hold the time; one in ten keys has none.

    A request takes up to 20 ms. One in fifty fails, one in a hundred hangs, one in five fails for
    one of its keys, and all fail for a second in each half minute.
    """
    now, chance = anyio.current_time(), random.random()
    await anyio.sleep(60 if chance < 0.01 else chance / 50)
    if chance > 0.98 or now % 30 < 1:
        raise OSError
    answers: dict[int, Any] = {key: [(key, now)] for key in keys if key % 10}
    if chance > 0.8:
        answers[keys[0]] = OSError()
    return answers


async def values(count: int) -> AsyncIterator[tuple[int, int | None]]:
    """Yield numbers, each with a key: few of them are half of all, and some are null."""
    for number in range(count):
        yield number, None if number % 97 == 0 else int(KEYS * random.random() ** 4)
        if number % 64 == 0:
            await anyio.sleep(random.random() / 200)


async def look_up(count: int) -> None:
    """Look all up, and print what that came to."""
    checker, peaks = Checker(ordered=True), list[int]()
    join = lookup(
        values(count),
        FunctionTable(changing),
        key=lambda value: value[1],
        on_error=lambda value, _: [(value[1], None)],
        **LOOKUPS,
    )
    async with join as results:
        async for (number, key), rows in results:
            checker.take(number)
            _check_rows(key, rows)
            if checker.next % 1_000 == 0:
                _check_figures(results.statistics(), checker.next)
            if checker.next % (count // 10) == 0:
                peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        figures = results.statistics()
    if not checker.next == figures.rows == count:
        raise SystemExit(f"{checker.next} of {count} values came out")
    print(
        f"lookup: {count} values in {anyio.current_time():.0f} s of its clock: nothing lost, "
        f"nothing twice; peak memory {peaks[-1] / 1024:.1f} MiB, {peaks[-1] / peaks[0]:.3f} of "
        f"that after a tenth\n{figures}"
    )


def _check_rows(key: int | None, rows: Sequence[Any]) -> None:
    if key is None or (key % 10 == 0 and not rows):
        is_right = not rows
    else:
        ((found, since),) = rows
        is_right = found == key and (since is None or anyio.current_time() - since <= OLDEST)
    if not is_right:
        raise SystemExit(f"key {key} has {rows} at {anyio.current_time()}")


def _check_figures(it: LookupStatistics, taken: int) -> None:
    if it.hits + it.shared + it.loads + it.stale + it.null_keys != it.rows:
        raise SystemExit(f"the figures do not add up: {it}")
    bounds = (
        (it.rows - taken, LOOKUPS["capacity"]),
        (it.keys, LOOKUPS["cache"].max_keys),
        (it.max_batch, LOOKUPS["batch"].max_size),
    )
    if any(is_now > most for is_now, most in bounds):
        raise SystemExit(f"more than there may be: {it}")


def measure(name: str, mode: str, records: int, every: int) -> None:
    """Run in this process and print crashes and peak memory (KiB), or what lookups come to."""

    async def main(_: SpinWatch) -> int:
        return await run(OPERATORS[name], mode, records, every)

    random.seed(7)
    if name == "lookup":
        run_virtual(lambda _: look_up(records))
        return
    crashes = run_virtual(main)
    print(crashes, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def main() -> None:
    """Run everything, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=200_000)
    parser.add_argument("--every", type=int, default=10_000, help="records between crashes")
    parser.add_argument("--one", nargs=2, metavar=("OPERATOR", "MODE"), help="nothing else")
    arguments = parser.parse_args()
    if arguments.one:
        measure(*arguments.one, arguments.records, arguments.every)
        return
    for name in OPERATORS:
        for mode in get_args(Mode):
            records = arguments.records * (5 if mode == "key-ordered" else 1)
            small = _child(name, mode, records // 10, arguments.every)
            large = _child(name, mode, records, arguments.every)
            print(
                f"{name:10} {mode:11} {records} records, {large[0]} crashes: "
                f"nothing lost, nothing twice; peak memory {large[1] / 1024:.1f} MiB, "
                f"{large[1] / small[1]:.3f} of that at {records // 10}",
                flush=True,
            )
    lookups = str(50 * arguments.records)
    command = [sys.executable, __file__, "--one", "lookup", "ordered", "--records", lookups]
    if subprocess.run(command, check=False).returncode:
        raise SystemExit("lookup failed")


def _child(name: str, mode: str, records: int, every: int) -> tuple[int, int]:
    command = [sys.executable, __file__, "--records", str(records), "--every", str(every)]
    done = subprocess.run([*command, "--one", name, mode], stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise SystemExit(f"{name} {mode} failed")
    crashes, memory = done.stdout.split()
    return int(crashes), int(memory)


if __name__ == "__main__":
    main()
