"""What may be a function, and what happens to the values: nothing."""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Generator, Iterator
from typing import Any

import anyio
import pytest
from operators import SIDE_BY_SIDE, Source, block, echo, failure_of, read_all

from asyncwait.spec import (
    MODES,
    CallFailed,
    InvalidResult,
    Mode,
    OpenOperator,
    OperatorConfig,
    Record,
    Watermark,
)

pytestmark = pytest.mark.anyio


class Doubling:
    """A function that is an object."""

    async def __call__(self, value: Any) -> list[Any]:
        """Double."""
        await anyio.sleep(1)
        return [value, value]


async def doubled(factor: int, value: Any) -> list[Any]:
    """A function that lacks an argument."""
    await anyio.sleep(1)
    return [value] * factor


def decorated(fn: Callable[[Any], Awaitable[Any]]) -> Callable[[Any], Awaitable[Any]]:
    """A plain function round a coroutine function."""

    @functools.wraps(fn)
    def inner(value: Any) -> Awaitable[Any]:
        return fn(value)

    return inner


class Promise:
    """Something that can be awaited and is no coroutine."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __await__(self) -> Generator[Any, None, list[Any]]:
        yield from anyio.sleep(1).__await__()
        return [self.value, self.value]


def started(value: Any) -> Awaitable[Any]:
    """A task on asyncio, a coroutine elsewhere."""
    coroutine = doubled(2, value)
    try:
        return asyncio.get_running_loop().create_task(coroutine)
    except RuntimeError:
        return coroutine


@pytest.mark.parametrize(
    "fn",
    [
        Doubling(),
        Doubling().__call__,
        functools.partial(doubled, 2),
        decorated(Doubling()),
        decorated(decorated(functools.partial(doubled, 2))),
        lambda value: doubled(2, value),
        Promise,
        started,
    ],
    ids=["object", "method", "partial", "decorated", "both", "lambda", "awaitable", "task"],
)
async def test_a_function_is_whatever_returns_an_awaitable(
    open_operator: OpenOperator, fn: Any
) -> None:
    """Only what it returns counts."""
    async with open_operator(OperatorConfig(), fn, Source("a", "b")) as results:
        assert await read_all(results) == ["a", "a", "b", "b"]


class Hostile:
    """A value that nobody may look at."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise AssertionError("compared")

    def __bool__(self) -> bool:
        raise AssertionError("taken for a truth")

    def __len__(self) -> int:
        raise AssertionError("measured")

    def __repr__(self) -> str:
        raise AssertionError("shown")

    def __iter__(self) -> Iterator[Any]:
        raise AssertionError("iterated")

    def __copy__(self) -> "Hostile":
        raise AssertionError("copied")

    def __deepcopy__(self, memo: Any) -> "Hostile":
        raise AssertionError("copied")


ODD = [None, 0, 0.0, False, "", b"", (), [], {}, set[int](), 1, 1.0, True, float("nan"), Hostile()]


@pytest.mark.parametrize("mode", SIDE_BY_SIDE)
async def test_values_and_keys_keep_identity_and_type(
    open_operator: OpenOperator, mode: Mode
) -> None:
    """False, equal across types, not hashable, not even comparable: they are nobody's business.

    Where there is order by key, keys are, but nobody else's.
    """
    seen: list[Any] = []

    async def fn(value: Any) -> list[Any]:
        seen.append(value)
        await anyio.sleep(1)
        return [value]

    source = Source(*(Record(value, None, value) for value in ODD))
    async with open_operator(OperatorConfig(mode), fn, source) as results:
        out: list[Any] = [element async for element in results]

    assert [id(value) for value in seen] == [id(value) for value in ODD]
    assert sorted(id(element.value) for element in out) == sorted(id(value) for value in ODD)
    assert all(element.key is element.value for element in out)


async def test_a_snapshot_holds_the_very_records(open_operator: OpenOperator) -> None:
    """And the function that is restored from it is called with the very values."""
    records = tuple(Record(value, None, value) for value in ODD)
    never = functools.partial(doubled_never)

    async with open_operator(OperatorConfig(), never, Source(*records, 99)) as results:
        await anyio.sleep(1)
        results.request_snapshot(1)  # type: ignore[attr-defined]
        snapshot: Any = await anext(results)
    assert all(held is record for held, record in zip(snapshot.in_flight, records, strict=True))

    async with open_operator(OperatorConfig(), echo, Source(), snapshot) as restored:
        out: list[Any] = [element async for element in restored]
    assert [id(element.value) for element in out] == [id(value) for value in ODD]


async def doubled_never(value: Any) -> list[Any]:
    """A function that does not answer."""
    await anyio.sleep_forever()
    return [value]


async def test_a_call_about_a_value_that_can_not_be_shown_fails_as_any_other(
    open_operator: OpenOperator,
) -> None:
    """The error is there, with the record and its cause."""
    reason = ValueError("no")
    value = Hostile()

    async def fn(value: Any) -> list[Any]:
        raise reason

    async with open_operator(OperatorConfig(), fn, Source(Record(value))) as results:
        error: Any = await failure_of(results)

    assert type(error) is CallFailed
    assert error.record.value is value
    assert error.__cause__ is reason
    assert str(error) == (
        "Record <Hostile, whose repr raised AssertionError>: the call failed: ValueError('no')"
    )


async def test_results_that_can_not_be_shown_are_invalid_as_any_other(
    open_operator: OpenOperator,
) -> None:
    """As above."""

    class Odd:
        def __repr__(self) -> str:
            raise AssertionError("shown")

    async def fn(value: Any) -> Any:
        return Odd()

    async with open_operator(OperatorConfig(), fn, Source("a")) as results:
        error = await failure_of(results)

    assert type(error) is InvalidResult


async def test_a_value_that_the_function_changes_is_changed(open_operator: OpenOperator) -> None:
    """It is not copied, neither for the call nor for the output."""
    value: list[int] = []

    async def fn(given: list[int]) -> list[Any]:
        given.append(1)
        return [given]

    async with open_operator(OperatorConfig(), fn, Source(Record(value))) as results:
        out: Any = await anext(results)

    assert out.value is value == [1]


class Once:
    """A collection that counts who reads it."""

    def __init__(self, *items: Any) -> None:
        self.items = items
        self.read = 0

    def __iter__(self) -> Iterator[Any]:
        self.read += 1
        return iter(self.items)


async def test_a_collection_is_read_once_and_before_its_first_result_comes_out(
    open_operator: OpenOperator,
) -> None:
    """What is done to it later changes nothing, and its length is not asked."""
    collection = Once("a", "b")
    handled = Once("h")

    async def fn(value: str) -> Any:
        if value == "late":
            await anyio.sleep(99)
        return collection

    fn.timeout = lambda _: handled  # type: ignore[attr-defined]
    async with open_operator(OperatorConfig(timeout=3), fn, Source("x", "late")) as results:
        first: Any = await anext(results)
        collection.items = ()
        out = [first.value, *await read_all(results)]

    assert out == ["a", "b", "h"]
    assert (collection.read, handled.read) == (1, 1)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("count", [0, 1, 2, 7, 8, 9, 16, 17, 64, 1000])
async def test_any_number_of_results_comes_out_in_order(
    open_operator: OpenOperator, mode: Mode, count: int
) -> None:
    """Together, record by record."""

    async def fn(value: int) -> list[tuple[int, int]]:
        return [(value, place) for place in range(count)]

    source = Source(Record(0, 5, "k"), Record(1, 6, "l"))
    async with open_operator(OperatorConfig(mode, 2), fn, source) as results:
        out: list[Any] = [element async for element in results]

    expected = [
        Record((value, place), 5 + value, "kl"[value]) for value in (0, 1) for place in range(count)
    ]
    assert sorted(out, key=lambda record: record.value) == expected
    assert [record.value[0] for record in out] in (
        [0] * count + [1] * count,
        [1] * count + [0] * count if mode == "unordered" else [0] * count + [1] * count,
    )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("count", [1, 8, 9, 16, 64, 65])
async def test_segments_of_any_length_stay_together(
    open_operator: OpenOperator, mode: Mode, count: int
) -> None:
    """Slow first and quick first: nothing crosses a watermark."""

    async def fn(value: tuple[int, int]) -> list[Any]:
        await anyio.sleep(value[1] if value[0] % 2 else count - value[1])
        return [value]

    script: list[Any] = []
    for segment in range(4):
        script += [Record((segment, place)) for place in range(count)] + [Watermark(segment)]
    async with open_operator(OperatorConfig(mode, 500), fn, Source(*script)) as results:
        out = await read_all(results)

    assert [at for at, each in enumerate(out) if isinstance(each, Watermark)] == [
        (count + 1) * segment + count for segment in range(4)
    ]
    for segment in range(4):
        part = out[(count + 1) * segment :][:count]
        assert sorted(part) == [(segment, place) for place in range(count)]
        assert part == sorted(part) or mode == "unordered"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("capacity", [1, 10_000])
@pytest.mark.parametrize("late", [False, True], ids=["at once", "behind a slow one"])
async def test_a_thousand_silent_records_in_a_row_cost_no_stack(
    open_operator: OpenOperator, mode: Mode, capacity: int, *, late: bool
) -> None:
    """Nor do as many watermarks behind them."""

    async def fn(value: str) -> list[str]:
        if value == "first" and late:
            await anyio.sleep(1)
        return [value] if value in {"first", "last"} else []

    script = ["first", *["silent"] * 1100, *map(Watermark, range(1100)), "last"]
    async with open_operator(OperatorConfig(mode, capacity), fn, Source(*script)) as results:
        out = [each async for each in results if isinstance(each, Record)]

    assert out == [Record("first"), Record("last")]


@pytest.mark.parametrize("timestamp", [0, -1, 2**41, 2**53 + 1, 2**63 - 1, -(2**63)])
async def test_timestamps_are_whole_numbers_of_64_bits(
    open_operator: OpenOperator, timestamp: int
) -> None:
    """Before 1970, far beyond this century, and not rounded."""
    script = [Record("a", timestamp), Watermark(timestamp), Record("b"), Record("c", timestamp)]

    async with open_operator(OperatorConfig(), echo, Source(*script)) as results:
        assert [element async for element in results] == script


async def test_an_iterable_of_results_that_blocks_the_loop_was_given_in_time(
    open_operator: OpenOperator,
) -> None:
    """The call answered before; reading takes as long as it takes."""

    def slow() -> Iterator[str]:
        block(5)
        yield "a"

    async def fn(value: str) -> Any:
        return slow()

    async with open_operator(OperatorConfig(timeout=3), fn, Source("a")) as results:
        assert await read_all(results) == ["a"]
