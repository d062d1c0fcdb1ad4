"""A made-up service that counts what reaches it, and values that are asked of it."""

from collections.abc import Callable
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

    async def __call__(self, value: Any) -> Any:
        self._open += 1
        self.most = max(self.most, self._open)
        self.came.append((anyio.current_time(), self._costs(value)))
        await anyio.sleep(self._works())
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
