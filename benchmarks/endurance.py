"""A long run of lookups, in a table that changes, is slow, hangs and fails, by a small cache.

    python benchmarks/endurance.py [--values 10000000]

Runs on a virtual clock. Exits with 1 if a value is missing, comes twice or out of order, a row is
wrong or too old, a bound does not hold, or the figures do not add up. `soak.py` is for operators.
"""

import argparse
import random
import resource
from collections.abc import AsyncIterator, Sequence
from typing import Any

import anyio

from asyncwait.backends.lookup import FunctionTable, LookupStatistics, lookup
from asyncwait.conformance.harness import run_virtual
from asyncwait.spec import Batch, Cache, Retry

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
    taken, peaks = 0, list[int]()
    join = lookup(
        values(count),
        FunctionTable(changing),
        key=lambda value: value[1],
        on_error=lambda value, _: [(value[1], None)],
        **LOOKUPS,
    )
    async with join as results:
        async for (number, key), rows in results:
            if number != taken:
                raise SystemExit(f"expected {taken}, got {number}")
            taken += 1
            _check_rows(key, rows)
            if taken % 1_000 == 0:
                _check_figures(results.statistics(), taken)
            if taken % (count // 10) == 0:
                peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        figures = results.statistics()
    if not taken == figures.rows == count:
        raise SystemExit(f"{taken} of {count} values came out")
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


def main() -> None:
    """Look so many values up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--values", type=int, default=10_000_000)
    arguments = parser.parse_args()
    random.seed(7)
    run_virtual(lambda _: look_up(arguments.values))


if __name__ == "__main__":
    main()
