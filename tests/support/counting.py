"""A made-up service that counts what reaches it, from any thread, and values asked of it."""

import time
from collections.abc import Callable
from threading import Lock
from typing import Any

import anyio

from asyncwait.backends import pool
from asyncwait.conformance.harness import SpinWatch, run_virtual


class Counting:
    def __init__(
        self,
        works: Callable[[], float] = lambda: 0.01,
        costs: Callable[[Any], float] = lambda _: 1,
    ) -> None:
        self._works, self._costs = works, costs
        self.came: list[tuple[float, float]] = []
        self.most = self._open = 0
        self._lock = Lock()

    async def __call__(self, value: Any) -> Any:
        self._begin(anyio.current_time(), value)
        await anyio.sleep(self._works())
        return self._end(value)

    def blocking(self, value: Any) -> Any:
        self._begin(time.monotonic(), value)
        time.sleep(self._works())
        return self._end(value)

    def _begin(self, now: float, value: Any) -> None:
        with self._lock:
            self._open += 1
            self.most = max(self.most, self._open)
            self.came.append((now, self._costs(value)))

    def _end(self, value: Any) -> Any:
        with self._lock:
            self._open -= 1
        return value

    def in_any(self, seconds: float) -> float:
        return max(
            sum(cost for at, cost in self.came if start <= at < start + seconds)
            for start, _ in self.came
        )


def run(fn: Any, values: Any, loop: Any = "asyncio", wait: Any = None, **options: Any) -> list[Any]:
    async def main(_: SpinWatch) -> list[Any]:
        async with (wait or pool.ordered_wait)(values, fn, **options) as results:
            return [value async for value in results]

    return run_virtual(main, loop)
