"""Values and keys pass unchanged."""

from typing import Any

import anyio
import pytest
from operators import SIDE_BY_SIDE, Callbacks, Source, read_all, read_timed

from asyncwait.spec import Mode, OpenOperator, OperatorConfig, Record

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
