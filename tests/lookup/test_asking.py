"""Failures, retries, deadlines and sharing of the requests for keys; invalid answers."""

from contextvars import ContextVar
from typing import Any

import pytest
from lookups import Scripted, outcome

from asyncwait.backends.lookup import open_table
from asyncwait.spec import (
    CallFailed,
    InvalidResult,
    Retry,
)

pytestmark = pytest.mark.anyio


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
