"""Failures, invalid answers, contexts and odd keys of requests; rows that stand for many."""

from contextvars import ContextVar
from typing import Any

import anyio
import pytest
from lookups import Scripted, outcome
from operators import Odd

from asyncwait.backends.lookup import open_table
from asyncwait.backends.lookup._cached import Policy
from asyncwait.backends.lookup._lookup import kept_by, tabled
from asyncwait.spec import (
    Cache,
    CallFailed,
    InvalidResult,
    Retry,
)

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


async def test_a_key_fails_alone() -> None:
    error = KeyError("bad")
    table = Scripted(a=error)

    async with open_table(table) as opened:
        with pytest.raises(CallFailed, match=r"^key 'a': the call failed: ") as caught:
            await opened.get("a")
        assert await outcome(opened, "b") == (2, ["b"])
        with pytest.raises(CallFailed):
            await opened.get_many(["b", "a"])

    assert caught.value.__cause__ is error
    assert caught.value.record is not None
    assert caught.value.record.value == "a"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({1.0: [1]}, "none of this call: 1.0 (float); it was asked for 1 (int), another type"),
        ({2: [2]}, "none of this call: 2 (int); answer for the keys of the call alone"),
        ([[1]], "expected a mapping from key to rows from get_many(), got [[1]] (list)"),
        ({1: None}, "key 1: expected a sequence of rows, got None (NoneType); answer [row]"),
        ({1: "ab"}, "key 1: expected a sequence of rows, got 'ab' (str)"),
    ],
)
async def test_an_answer_that_is_none_is_named(answer: Any, reason: str) -> None:
    class Wrong(Scripted):
        async def get_many(self, keys: Any) -> Any:
            return answer

    async with open_table(Wrong(), retry=Retry()) as opened:
        with pytest.raises(InvalidResult) as caught:
            await opened.get(1)

    assert reason in str(caught.value)
    assert str(caught.value).startswith("key 1: ")


async def test_requests_begin_in_the_context_of_opening() -> None:
    variable = ContextVar("variable", default="unset")
    seen: list[str] = []

    class Looks(Scripted):
        async def get_many(self, keys: Any) -> dict[Any, Any]:
            seen.append(variable.get())
            variable.set("table")
            return {}

    variable.set("opening")
    async with open_table(Looks()) as opened:
        variable.set("lookup")
        await opened.get(1)
        await opened.get(1)
        assert variable.get() == "lookup"

    assert seen == ["opening", "opening"]
