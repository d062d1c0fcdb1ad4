"""Caches beyond scenarios: tasks, contexts, memory, odd keys, many values at once."""

import weakref
from collections.abc import Iterator
from contextvars import ContextVar
from traceback import walk_tb
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from operators import Odd

from asyncwait.backends.pool import open_plain, ordered_wait, unordered_wait
from asyncwait.spec import Cache, CallFailed, OperatorConfig, Retry
from asyncwait.toolkit import PlainOne, PlainSource, Store

pytestmark = pytest.mark.anyio

PLACE: ContextVar[str] = ContextVar("PLACE", default="nowhere")

ROOMY = Cache(100, 1000)


async def at_once(value: Any) -> Any:
    return value


async def all_of(source: Any, fn: Any = at_once, wait: Any = ordered_wait, **options: Any) -> Any:
    async with wait(source, fn, **options) as results:
        return [value async for value in results], results.statistics()


async def test_each_value_is_asked_for_its_key_once() -> None:
    asked: list[tuple[int, int]] = []

    def key(value: tuple[int, int]) -> int:
        asked.append(value)
        return value[0]

    values = [(n * n % 7, n) for n in range(300)]
    got, figures = await all_of(values, cache=Cache(3, 1000, key=key), capacity=20)

    assert [first for first, _ in got] == [first for first, _ in values]
    assert asked == values
    assert figures.hits > figures.loads > 4


async def test_loads_and_keys_see_the_context_of_the_operator_alone() -> None:
    seen: list[str] = []

    def key(value: int) -> int:
        seen.append(PLACE.get())
        PLACE.set("in a key")
        return value

    async def fn(value: int) -> int:
        seen.append(PLACE.get())
        PLACE.set("in a load")
        await anyio.lowlevel.checkpoint()
        return value

    PLACE.set("outside")
    cache = Cache(9, 1000, key=key)
    async with ordered_wait([1, 2, 1, 3, 3, 1], fn, cache=cache, capacity=1) as results:
        PLACE.set("later")
        assert [value async for value in results] == [1, 2, 1, 3, 3, 1]
        assert PLACE.get() == "later"
    assert set(seen) == {"outside"}


async def test_keys_that_can_not_be_compared_hold_nothing_up() -> None:
    values = [n % 3 for n in range(60)]
    got, figures = await all_of(values, cache=Cache(2, 1000, key=Odd))
    assert got == values
    assert figures.hits + figures.shared + figures.loads == figures.calls == 60


async def test_a_failure_is_of_each_record_that_shares_the_load() -> None:
    told: list[Any] = []
    lengths: list[int] = []

    async def fn(_: Any) -> None:
        await anyio.sleep(1)
        raise ConnectionError("down")

    def note(value: Any, error: Any) -> Any:
        told.append((value, error.record.value, error.attempts, error.__cause__))
        try:
            raise error.__cause__
        except ConnectionError as cause:
            lengths.append(len([*walk_tb(cause.__traceback__)]))
            return value

    values = ["aa", "ab", "ac"]
    await all_of(
        values,
        fn,
        cache=Cache(9, 1000, key=lambda text: text[0]),
        retry=Retry(max_attempts=2, jitter=0),
        on_error=note,
    )

    assert [each[:3] for each in told] == [(value, value, 2) for value in values]
    assert len({id(each[3]) for each in told}) == len({*lengths}) == 1


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("wait", [ordered_wait, unordered_wait])
@pytest.mark.parametrize("fails", [False, True])
async def test_nothing_that_was_emitted_is_held(wait: Any, *, fails: bool) -> None:
    class Value:
        key = 1

    alive = weakref.WeakSet[Value]()

    def source() -> Iterator[Value]:
        for _ in range(20):
            value = Value()
            alive.add(value)
            yield value

    async def fn(value: Value) -> int:
        await anyio.lowlevel.checkpoint()
        if fails:
            raise ValueError(value.key)
        return value.key

    cache = Cache(1, 1000, key=lambda value: value.key)
    async with wait(source(), fn, cache=cache, on_error="skip", capacity=4) as results:
        async for _ in results:
            pass
        assert len(alive) <= 1


async def test_a_store_may_be_given_and_outlives_the_operator() -> None:
    config = OperatorConfig(cache=ROOMY)
    store, hits = Store(ROOMY), []
    for _ in range(2):
        source = PlainSource([1, 2, 3])
        async with open_plain(config, PlainOne(at_once), source, store=store) as results:
            assert [value async for value in results] == [1, 2, 3]
            hits.append(results.statistics().hits)
    assert hits == [0, 3]


async def test_an_operator_that_fails_as_a_worker_asks_ends() -> None:
    def key(value: int) -> int:
        if value == 2:
            raise ValueError
        return value

    cache = Cache(9, 1000, key=key)
    with anyio.fail_after(10), pytest.raises(CallFailed, match="value 2"):
        await all_of([0, 1, 2], cache=cache, wait=unordered_wait)
