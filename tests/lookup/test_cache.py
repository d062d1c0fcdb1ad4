"""Cached rows and equal keys, on a clock that jumps."""

import anyio
import pytest
from lookups import Scripted
from operators import Odd

from asyncwait.backends.lookup import open_table
from asyncwait.backends.lookup._cached import Policy
from asyncwait.backends.lookup._lookup import kept_by, tabled
from asyncwait.spec import Cache, CallFailed

pytestmark = pytest.mark.anyio


async def test_keys_may_stand_for_many_rows() -> None:
    cache, policy = Cache(10, ttl=60), Policy()
    table, store = Scripted(b=None), kept_by(cache)
    first, second = (tabled(table, cache, policy, store) for _ in range(2))

    await first.open()
    assert await first.outcomes(["a", "b", None], [3, 2, 4]) == [("a",), (), ()]
    await first.close()
    await second.open()
    assert await second.outcomes(["a", None], [5, 6]) == [("a",), ()]
    await second.close()

    assert table.asked == [(0, ["a", "b"])]
    one, two = first.statistics(), second.statistics()
    assert (one.rows, one.loads, one.shared, one.null_keys, one.misses) == (9, 2, 3, 4, 2)
    assert (two.rows, two.hits, two.loads, two.null_keys, two.misses) == (11, 5, 0, 6, 0)


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
