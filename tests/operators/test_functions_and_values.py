"""Values, keys and results as user code holds them; requests and cancelled waits."""

from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from operators import (
    SIDE_BY_SIDE,
    Callbacks,
    Sleeper,
    Source,
    failure_of,
    read_all,
    read_timed,
    shown,
    turns,
)

from asyncwait.spec import Mode, OpenOperator, OperatorConfig, Record, Retry

pytestmark = pytest.mark.anyio


class Hostile:
    __hash__ = None  # type: ignore[assignment]

    def _refuse(self, *_: Any) -> Any:
        raise AssertionError("looked at")

    __eq__ = __bool__ = __len__ = __repr__ = __iter__ = __copy__ = __deepcopy__ = _refuse


ODD = [None, 0, 0.0, False, "", b"", (), [], {}, set[int](), 1, 1.0, True, float("nan"), Hostile()]


@pytest.mark.parametrize("mode", SIDE_BY_SIDE)
async def test_values_and_keys_keep_identity_and_type(
    open_operator: OpenOperator, mode: Mode
) -> None:
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


@pytest.mark.all_profiles
async def test_a_line_may_be_long(open_operator: OpenOperator) -> None:
    count = 5_000
    at_once = Callbacks(lambda value, result: result.complete([value]))
    config = OperatorConfig("key-ordered", capacity=count)
    source = Source(*(Record(number, key="x") for number in range(count)))
    async with open_operator(config, at_once, source) as results:
        assert await read_all(results) == list(range(count))


class Row:
    """A key that changes while its record is in flight, as what can be changed and hashed does."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.version = 0

    def __hash__(self) -> int:
        return hash((self.number, self.version))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Row) and hash(self) == hash(other)


@pytest.mark.all_profiles
async def test_a_key_that_changes_in_flight_is_freed_all_the_same(
    open_operator: OpenOperator,
) -> None:
    async def fn(row: Row) -> list[int]:
        await anyio.sleep(1)
        row.version += 1
        return [row.number]

    rows = [Row(1), Row(1), Row(2), Row(1)]
    source = Source(*(Record(row, key=row) for row in rows))
    async with open_operator(OperatorConfig("key-ordered"), fn, source) as results:
        assert sorted(await read_timed(results)) == [(1, 1), (1, 2), (2, 1), (3, 1)]


class Once(list[Any]):
    """A list of results that may be read once."""

    def __iter__(self) -> Iterator[Any]:
        assert not hasattr(self, "is_read")
        self.is_read = True
        return super().__iter__()


async def test_a_list_of_results_is_read_once_and_may_be_filled_again(
    open_operator: OpenOperator,
) -> None:
    held: list[Once] = []

    async def fn(value: str) -> list[Any]:
        await anyio.sleep(float(value))
        for past in held:
            past[:] = ["filled again"]
        held.append(Once([value]))
        return held[-1]

    async with open_operator(OperatorConfig(), fn, Source("3", "1", "2")) as results:
        assert await read_all(results) == ["3", "1", "2"]


@pytest.mark.all_profiles
async def test_a_key_that_is_equal_to_nothing_is_the_same_key_as_itself(
    open_operator: OpenOperator,
) -> None:
    nan, seen = float("nan"), list[str]()

    async def fn(value: str) -> list[str]:
        seen.append(value)
        await anyio.sleep(1)
        seen.append(f"{value} ended")
        return [value]

    records = [Record(value, key=nan) for value in "ab"]
    async with open_operator(OperatorConfig("key-ordered"), fn, Source(*records)) as results:
        assert await read_all(results) == ["a", "b"]
    assert seen == ["a", "a ended", "b", "b ended"]


@pytest.mark.all_profiles
async def test_a_predicate_is_asked_once_about_each_outcome_that_may_be_repeated(
    open_operator: OpenOperator,
) -> None:
    asked: list[object] = []

    async def fn(value: str) -> list[str]:
        raise ValueError(value)

    def on_error(error: BaseException) -> bool:
        asked.append(error)
        return True

    config = OperatorConfig(retry=Retry(max_attempts=3, on_error=on_error))
    async with open_operator(config, fn, Source("a")) as results:
        await failure_of(results)
    assert len(asked) == len({*map(id, asked)}) == 2


@pytest.mark.all_profiles
async def test_snapshots_on_request_come_in_the_order_of_the_requests(
    open_operator: OpenOperator,
) -> None:
    async with open_operator(OperatorConfig(), Sleeper(), Source("a9")) as results:
        await anyio.sleep(1)
        asking: Any = results
        for number in (7, 3):
            asking.request_snapshot(number)
        found: list[Any] = [await anext(results) for _ in range(2)]
    assert [snapshot.checkpoint_id for snapshot in found] == [7, 3]


@pytest.mark.parametrize("late", range(7))
async def test_a_wait_that_is_cancelled_at_any_turn_loses_nothing(
    open_operator: OpenOperator, late: int
) -> None:
    values = [f"r{number}" for number in range(1, 8)]
    got: list[Any] = []
    began = anyio.current_time()

    async def cancel(scope: anyio.CancelScope, due: float) -> None:
        await anyio.sleep_until(due)
        await turns(late)
        scope.cancel()

    config = OperatorConfig(capacity=len(values))
    async with (
        open_operator(config, Sleeper(), Source(*values)) as results,
        anyio.create_task_group() as group,
    ):
        for number in range(1, 8):
            with anyio.CancelScope() as scope:
                group.start_soon(cancel, scope, began + number)
                got.append(shown(await anext(results)))
        got += await read_all(results)
    assert got == values
