"""Streams, tables and caches drawn by a seed: what comes out is what a dict would give."""

from collections.abc import AsyncIterator
from decimal import Decimal
from random import Random
from typing import Any

import anyio
import pytest
from operators import seconds_now

from asyncwait.backends.lookup import lookup
from asyncwait.spec import Batch, Cache, Retry

pytestmark = pytest.mark.anyio

NULLS: list[Any] = [None, (None, 1), float("nan")]
KEYS: list[Any] = [*range(12), 1.0, True, Decimal(1), "1", (1, "a"), (True, "a"), *NULLS]

BATCHES = (
    None,
    Batch(max_size=3, max_wait=0.2, in_flight=1),
    Batch(max_size=100, max_wait=0, in_flight=2),
    Batch(max_size=100, max_wait=1),
)


class Moody:
    """A table that is slow or fails as chance has it, and never asked for a key twice at a time."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self.rows = {repr(key): ["row"] * chance.randrange(3) for key in KEYS}
        self.rows |= {repr(key): [] for key in NULLS}
        self.asking: list[str] = []
        self.again: list[str] = []
        self.requests = 0

    async def open(self) -> None:
        """Do nothing."""

    async def close(self) -> None:
        assert self.asking == []

    async def get_many(self, keys: Any) -> dict[Any, Any]:
        names = [repr(key) for key in keys]
        self.again += [name for name in names if name in {*self.asking, *map(repr, NULLS)}]
        self.asking += names
        self.requests += 1
        try:
            await anyio.sleep(self._chance.choice([0, 0.1, 0.5, 3]))
            if self._chance.random() < 0.1:
                raise OSError
        finally:
            for name in names:
                self.asking.remove(name)
        answers: dict[Any, Any] = {key: self.rows[repr(key)] for key in keys}
        if self._chance.random() < 0.1:
            answers[keys[0]] = OSError()
        return answers


@pytest.mark.parametrize("seed", range(40))
async def test_a_join_is_what_a_dict_would_give(seed: int) -> None:
    chance = Random(seed)
    table = Moody(chance)
    values = [(place, chance.choice(KEYS)) for place in range(chance.randrange(1, 120))]
    capacity = chance.choice([1, 3, 8, 50, 500])
    cache = chance.choice(
        [None, Cache(3, 1.0), Cache(99, 0.6, 0.4, 0.5), Cache(9, 2.0, 0.2, stale_if_error=5)]
    )
    limit = chance.choice([None, 1])
    on_error: Any = chance.choice([None, lambda *_: ["other"]])
    attempts = 99 if on_error is None else 1
    retry = Retry(max_attempts=attempts, initial=0.05, cap=0.2, attempt_timeout=limit)
    batch = chance.choice(BATCHES)
    mode, how = chance.choice(["ordered", "unordered"]), chance.choice(["left", "left", "inner"])
    read = taken = 0

    async def source() -> AsyncIterator[Any]:
        nonlocal read
        for value in values:
            if chance.random() < 0.2:
                await anyio.sleep(chance.choice([0, 0.05, 1]))
            read += 1
            assert how == "inner" or read - taken <= capacity
            yield value

    found = []
    join = lookup(
        source(),
        table,
        key=lambda value: value[1],
        how=how,
        cache=cache,
        mode=mode,
        capacity=capacity,
        retry=retry,
        on_error=on_error,
        batch=batch,
    )
    async with join as results:
        async for value, rows in results:
            taken += 1
            found.append((value, list(rows)))
            if chance.random() < 0.1:
                await anyio.sleep(chance.choice([0, 0.3]))
        figures, requests = results.statistics(), table.requests

    if mode == "unordered":
        found.sort(key=lambda pair: pair[0][0])
    other = sum(rows == ["other"] for _, rows in found)
    assert other == figures.failures_handled
    comes = {place for place, key in values if how == "left" or table.rows[repr(key)]}
    assert [value for value, rows in found if rows != ["other"] or value[0] in comes] == [
        value for value in values if value[0] in comes
    ]
    right = [(value, table.rows[repr(value[1])]) for value in values]
    assert sum(pair not in right for pair in found) == other
    classed = figures.hits + figures.shared + figures.loads + figures.stale + figures.null_keys
    assert classed == figures.rows == len(values)
    assert figures.null_keys == sum(value[1] in NULLS for value in values)
    assert figures.requests == requests
    assert batch is None or figures.max_batch <= batch.max_size
    assert table.again == [] or limit is not None
    assert seconds_now() < 10_000
