"""How much of what a service allows is used, and whether it is ever more; in real time.

    python benchmarks/limits.py [--seconds 20]

First, two limits at once, of calls and of tokens, that a Redis keeps for two processes with two
operators each. The service counts what reaches it, by its own clock. Calls are cheap, so that the
limit of calls binds, or dear, or both in turn. What is used is how long an ideal caller would take
in proportion to how long it took: one that arranges calls so that both limits are full in each
window, or one that has to call in the order in which they came. A `redis-server` has to be on PATH;
it is started here.

Then the search for what services bear that tell nobody, in bursts of 200 ms or in whole seconds, of
the pool and of threads: the rate that is served, in proportion to what they bear, behind the first
quarter, and what they refuse.

Needs the extra `redis`.
"""

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import Any

from _machine import machine
from rich.console import Console
from rich.table import Table

from asyncwait.backends import pool, threads
from asyncwait.backends.services import Adaptive, Limit, RedisLimits
from asyncwait.spec import Retry, RetryAfter

PER = 4.0
CALLS, TOKENS = 400, 20_000
MIXES = {"cheap": (10,), "dear": (100,), "mixed": (20, 80)}
"""What calls cost, in turn."""

LATENCY = 0.02


def limits(url: str) -> RedisLimits:
    """What the service allows."""
    return RedisLimits(
        url, "model", [Limit(calls=CALLS, per=PER), Limit(cost=int, up_to=TOKENS, per=PER)]
    )


async def worker(folder: str, mix: str, count: int) -> None:
    """Two operators, whose calls ask the service."""

    async def ask(tokens: int) -> None:
        reader, writer = await asyncio.open_unix_connection(f"{folder}/service")
        writer.write(b"%d\n" % tokens)
        await reader.readline()
        writer.close()

    async def read() -> None:
        costs = MIXES[mix]
        values = [costs[place % len(costs)] for place in range(count)]
        kept = limits(f"unix://{folder}/redis")
        async with pool.unordered_wait(values, ask, limits=kept) as results:
            async for _ in results:
                pass

    await asyncio.gather(read(), read())


async def serve(service: str, command: Sequence[str]) -> list[tuple[float, int]]:
    """Count what two such processes ask, as it comes."""
    came: list[tuple[float, int]] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = await reader.readline()
        came.append((time.monotonic(), int(line)))
        await asyncio.sleep(LATENCY)
        writer.write(b"ok\n")
        writer.close()

    async with await asyncio.start_unix_server(answer, service, backlog=1000):
        processes = [await asyncio.create_subprocess_exec(*command) for _ in range(2)]
        for process in processes:
            assert await process.wait() == 0
    return came


def together(seconds: float) -> Table:
    """Measure limits that a Redis keeps."""
    server = shutil.which(
        "redis-server", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    )
    assert server is not None, "there is no redis-server on PATH"
    table = Table(
        "calls are",
        "most calls",
        "most tokens",
        "of",
        "used",
        "in that order",
        title="Two limits, a Redis",
    )
    with tempfile.TemporaryDirectory() as folder:
        command = [server, "--port", "0", "--unixsocket", f"{folder}/redis", "--save", ""]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as redis:
            time.sleep(0.5)
            for mix, costs in MIXES.items():
                mean = sum(costs) / len(costs)
                in_a_window = min(CALLS, TOKENS / mean)
                count = round(in_a_window * seconds / PER / 4)
                asked = [sys.executable, __file__, "--worker", folder, mix, str(count)]
                came = asyncio.run(serve(f"{folder}/service", asked))
                table.add_row(mix, *_used(came, in_a_window))
                time.sleep(PER * 1.1)  # in which the windows empty
            redis.kill()
    return table


def _used(came: Sequence[tuple[float, int]], in_a_window: float) -> list[str]:
    windows = [[cost for at, cost in came if start <= at < start + PER] for start, _ in came]
    ideal = (ceil(len(came) / in_a_window) - 1) * PER
    took = came[-1][0] - came[0][0]
    calls, tokens = max(map(len, windows)), max(map(sum, windows))
    used = [f"{ideal / took:.3f}", f"{_in_order([cost for _, cost in came]) / took:.3f}"]
    return [str(calls), str(tokens), f"{CALLS}, {TOKENS}", *used]


def _in_order(costs: Sequence[int]) -> float:
    """Return the seconds from the first call to the last, if each begins as soon as it may."""
    now, begun = 0.0, deque[tuple[float, int]]()
    for cost in costs:
        while len(begun) == CALLS or sum(each for _, each in begun) + cost > TOKENS:
            now = begun.popleft()[0] + PER
        begun.append((now, cost))
    return now


class Service:
    """Serves so many calls a second, and asks the others to come again.

    Args:
        rate: calls a second.
        in_seconds: whether they may come in each whole second; else in bursts of 200 ms.
    """

    def __init__(self, rate: float, *, in_seconds: bool) -> None:
        self.rate = self._left = rate
        self._in_seconds = in_seconds
        self._at = time.monotonic()
        self._lock = threading.Lock()
        self.served: list[float] = []
        self.refused = 0

    def admit(self) -> None:
        """Serve a call.

        Raises:
            RetryAfter: there were too many.
        """
        with self._lock:
            now = time.monotonic()
            if not self._in_seconds:
                self._left = min(0.2 * self.rate, self._left + (now - self._at) * self.rate)
            elif int(now) != int(self._at):
                self._left = self.rate
            self._at = now
            if self._left < 1:
                self.refused += 1
                raise RetryAfter(1 - now % 1 if self._in_seconds else 0.2)
            self._left -= 1
            self.served.append(now)

    async def call(self, value: int) -> int:
        """Answer on a loop."""
        await asyncio.sleep(LATENCY)
        self.admit()
        await asyncio.sleep(LATENCY)
        return value

    def blocking(self, value: int) -> int:
        """Answer in a thread."""
        time.sleep(LATENCY)
        self.admit()
        time.sleep(LATENCY)
        return value


async def search(operator: str, rate: float, seconds: float, *, in_seconds: bool) -> list[str]:
    """Find what a service bears."""
    service = Service(rate, in_seconds=in_seconds)
    wait: Any = pool.unordered_wait if operator == "pool" else threads.unordered_wait
    fn = service.call if operator == "pool" else service.blocking
    options: Any = {"retry": Retry(max_attempts=100), "limits": [Adaptive()], "capacity": 100}
    async with wait(range(round(rate * seconds)), fn, **options) as results:
        async for _ in results:
            pass
    late = service.served[len(service.served) // 4 :]
    # Whole seconds, so that what a service allows at once at their beginning counts once.
    first, last = ceil(late[0]), int(late[-1])
    counted = sum(first <= at < last for at in late)
    share = counted / (last - first) / rate
    refused = service.refused / (service.refused + len(service.served))
    kind = "seconds" if in_seconds else "bursts"
    return [operator, f"{rate:.0f}", kind, f"{share:.3f}", f"{100 * refused:.1f} %"]


def searches(seconds: float) -> Table:
    """Measure the search, for all services and operators."""
    table = Table("operator", "a second", "in", "used", "refused", title="The search")
    for operator in ("pool", "threads"):
        for rate in (50, 200, 500):
            for in_seconds in (False, True):
                found = asyncio.run(search(operator, rate, seconds, in_seconds=in_seconds))
                table.add_row(*found)
    return table


def main() -> None:
    """Measure, and print tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20, help="for each measurement")
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.worker:
        folder, mix, count = asked.worker
        asyncio.run(worker(folder, mix, int(count)))
        return
    console = Console()
    console.print(machine())
    console.print(together(asked.seconds))
    console.print(searches(asked.seconds))


if __name__ == "__main__":
    main()
