"""Cached rows and equal keys, on a clock that jumps."""

from decimal import Decimal
from typing import Any

import anyio
import pytest
from lookups import Scripted, counts, outcome
from operators import Odd

from asyncwait.backends.lookup import LookupStatistics, open_table
from asyncwait.backends.lookup._lookup import kept_by, tabled
from asyncwait.backends.lookup._requests import Policy
from asyncwait.spec import Cache, CallFailed, Retry

pytestmark = pytest.mark.anyio


async def test_what_is_kept_answers_without_a_request() -> None:
    table = Scripted(b=None, c=["x", "y"])

    async with open_table(table, cache=Cache(10, ttl=60)) as opened:
        assert opened.peek("a") is None
        first = await opened.get_many(["a", "c", "a"])
        peeked = opened.peek("a")
        second = await opened.get_many(["c", "b", "c"])
        assert counts(opened) == {"hits": 3, "shared": 1, "loads": 3}
        assert opened.statistics().misses == 1

    assert first == [("a",), ("x", "y"), ("a",)]
    assert peeked == ("a",)
    assert second == [("x", "y"), (), ("x", "y")]
    assert table.log == ["open", (0, ["a", "c"]), (1, ["b"]), "close"]


async def test_rows_are_good_from_the_moment_of_asking() -> None:
    table = Scripted()
    table.takes = 4

    async with open_table(table, cache=Cache(9, ttl=10)) as opened:
        await opened.get("a")
        await anyio.sleep(5.9)
        assert opened.peek("a") == ("a",)
        await anyio.sleep(0.1)
        assert opened.peek("a") is None
        await opened.get("a")

    assert table.asked == [(0, ["a"]), (10, ["a"])]


async def test_there_are_never_more_keys_than_may_be() -> None:
    table = Scripted()

    async with open_table(table, cache=Cache(2, ttl=60)) as opened:
        await opened.get_many(["a", "b"])
        await opened.get("a")
        await opened.get_many(["c", "a"])
        assert [opened.peek(key) for key in "abc"] == [("a",), None, ("c",)]
        figures = opened.statistics()
        assert (figures.keys, figures.evictions) == (2, 1)
        assert await opened.get_many(["d", "e", "f"]) == [("d",), ("e",), ("f",)]
        assert (opened.statistics().keys, opened.statistics().evictions) == (2, 4)


async def test_misses_are_kept_only_if_that_is_said() -> None:
    table = Scripted(a=None)

    async with open_table(table, cache=Cache(9, ttl=60, missing_ttl=10)) as opened:
        await opened.get("a")
        assert opened.peek("a") == ()
        assert opened.statistics().misses == 2
        await anyio.sleep(9)
        assert opened.peek("a") is None
    async with open_table(table, cache=Cache(9, ttl=60)) as opened:
        await opened.get("a")
        assert opened.peek("a") is None


async def test_a_hit_late_in_the_life_of_its_rows_has_them_read_again() -> None:
    table = Scripted()

    async with open_table(table, cache=Cache(9, ttl=10, refresh_ahead=0.5)) as opened:
        await opened.get("a")
        await anyio.sleep(5)
        table.rows["a"] = ["new"]
        assert [opened.peek("a"), opened.peek("a")] == [("a",), ("a",)]
        await anyio.sleep(2)
        assert opened.peek("a") == ("new",)
        table.trouble = OSError()
        await anyio.sleep(5)
        assert await opened.get_many(["a", "a"]) == [("new",), ("new",)]
        await anyio.sleep(2)
        assert opened.peek("a") == ("new",)
        figures = opened.statistics()

    assert table.asked == [(0, ["a"]), (6, ["a"]), (13, ["a"])]
    assert (figures.refreshes, figures.hits, figures.requests, figures.failed_requests) == (
        (2, 6, 3, 1)
    )


async def test_old_rows_may_stand_in_for_a_table_that_fails() -> None:
    table = Scripted()
    cache = Cache(9, ttl=10, stale_if_error=20)

    async with open_table(table, cache=cache, timeout=3) as opened:
        await opened.get("a")
        table.trouble = OSError("down")
        await anyio.sleep(9)
        assert await outcome(opened, "a") == (11, ["a"])
        table.takes = 99
        assert await outcome(opened, "a") == (14, ["a"])
        table.takes = 1
        with pytest.raises(CallFailed, match=r"^key 'b': "):
            await opened.get("b")
        assert counts(opened) == {"loads": 2, "stale": 2}
        await anyio.sleep(15)
        assert (await outcome(opened, "a"))[1] == "key 'a': the call failed: OSError('down')"


async def test_old_rows_stand_in_before_any_retry() -> None:
    table = Scripted()
    cache = Cache(9, ttl=1, stale_if_error=99)

    async with open_table(table, cache=cache, retry=Retry(attempt_timeout=3)) as opened:
        await opened.get("a")
        table.trouble = OSError("down")
        assert await outcome(opened, "a") == (2, ["a"])
        table.takes = 99
        assert await outcome(opened, "a") == (5, ["a"])

    assert table.asked == [(0, ["a"]), (1, ["a"]), (2, ["a"])]


async def test_figures_tell_of_requests() -> None:
    table = Scripted()

    async with open_table(table) as opened:
        assert opened.statistics() == LookupStatistics()
        await opened.get_many([1, 2, 3])
        table.takes = 3
        await opened.get(4)
        figures = opened.statistics()

    assert (figures.requests, figures.mean_batch, figures.max_batch) == (2, 2.0, 3)
    assert figures.latency_p50 == pytest.approx(2)
    assert figures.latency_p99 == pytest.approx(2.98)


async def test_keys_may_stand_for_many_rows() -> None:
    cache, policy = Cache(10, ttl=60), Policy(None, None, None, None)
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
