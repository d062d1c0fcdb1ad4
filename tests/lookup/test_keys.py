"""Which keys are the same, and which no row can have."""

from decimal import Decimal
from typing import Any

import anyio
import pytest
from lookups import Scripted, counts
from operators import Odd

from asyncwait.backends.lookup import open_table
from asyncwait.spec import Cache, CallFailed

pytestmark = pytest.mark.anyio


NAN = float("nan")


async def test_keys_are_the_same_only_if_their_types_are() -> None:
    keys = [1, 1.0, True, Decimal(1), (1,), (True,), (1, (1.0,)), "1"]
    asked: list[Any] = []

    class Kinds(Scripted):
        async def get_many(self, keys: Any) -> dict[Any, Any]:
            asked.append(keys)
            return {key: [repr(key)] for key in keys}

    async with open_table(Kinds(), cache=Cache(99, 60)) as opened:
        for _ in range(2):
            assert await opened.get_many(keys) == [(repr(key),) for key in keys]
        assert [opened.peek(key) for key in keys] == [(repr(key),) for key in keys]
        assert counts(opened) == {"loads": len(keys), "hits": 2 * len(keys)}

    expected = [[1], [1.0], [True], [Decimal(1), (1,)], [(True,), (1, (1.0,)), "1"]]
    assert sorted(map(repr, asked)) == sorted(map(repr, expected))  # they begin together


async def test_a_key_that_no_row_can_have_is_never_asked_for() -> None:
    table = Scripted()
    keys = [None, (1, None), NAN, (1, (2, NAN))]

    async with open_table(table, cache=Cache(9, 60, 60)) as opened:
        assert await opened.get_many([*keys, 1]) == [(), (), (), (), (1,)]
        assert [opened.peek(key) for key in keys] == [()] * 4
        assert counts(opened) == {"null_keys": 8, "loads": 1}
        figures = opened.statistics()

    assert table.asked == [(0, [1])]
    assert (figures.misses, figures.keys) == (0, 1)


async def test_a_key_that_has_no_hash_is_refused() -> None:
    table = Scripted()

    async with open_table(table) as opened:
        with pytest.raises(CallFailed, match=r"^key \['a'\]: .*TypeError\("):
            await opened.get_many(["b", ["a"]])

    assert table.asked == []


async def test_keys_that_can_not_be_compared_are_different() -> None:
    async with open_table(Scripted(), cache=Cache(2, 60, refresh_ahead=0.1)) as opened:
        for number in range(3):
            keys = [Odd(1), "a", Odd(2), Odd(1)]
            assert await opened.get_many(keys) == [(key,) for key in keys]
            assert await opened.get(Odd(number)) == (Odd(number),)
            await anyio.sleep(10)
