"""Keys of caches that scenarios cannot hold: keys outside of JSON, and keys that raise."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from operators import OPERATORS, PLAIN_FORMS

from asyncwait.spec import Cache, InvalidConfig, OperatorConfig, Statistics

pytestmark = pytest.mark.anyio

each_that_caches = pytest.mark.parametrize("name", sorted(OPERATORS))

HELD = 60.0
"""Seconds for which results are good: longer than any of these tests."""


async def all_of(
    name: str, values: list[Any], key: Callable[[Any], Any] | None = None
) -> tuple[list[Any], list[Any], Statistics]:
    called: list[Any] = []

    async def fn(value: Any) -> str:
        called.append(value)
        return f"{value!r}"

    async with PLAIN_FORMS[name]["ordered"](
        values, fn, cache=Cache(99, HELD, key=key), on_error=lambda _, error: type(error.__cause__)
    ) as results:
        return [each async for each in results], called, results.statistics()


@each_that_caches
@pytest.mark.parametrize(
    "null", [None, math.nan, (1, None), (1, (2, None)), ("a", math.nan)], ids=repr
)
async def test_a_null_key_is_nobody_elses(name: str, null: Any) -> None:
    _, called, figures = await all_of(name, [1, 2, 3], lambda _: null)

    assert sorted(called) == [1, 2, 3]
    assert (figures.null_keys, figures.loads, figures.calls) == (3, 0, 3)


@each_that_caches
async def test_a_key_that_can_not_be_had_fails_its_record_alone(name: str) -> None:
    def key(value: int) -> Any:
        if value == 4:
            raise StopIteration
        return [value] if value % 2 else 6 // value

    got, called, figures = await all_of(name, [3, 0, 2, 2, 4, 2], key)

    assert got == [TypeError, ZeroDivisionError, "2", "2", got[4], "2"]
    assert called == [2]
    assert (figures.calls, figures.null_keys, figures.loads) == (6, 3, 1)
    assert figures.failures_handled == 3


@each_that_caches
async def test_figures_add_up_while_a_key_is_told(name: str) -> None:
    seen: list[Statistics] = []

    async def fn(value: int) -> int:
        return value

    def key(value: int) -> int:
        seen.append(results.statistics())
        return 6 // value

    async with PLAIN_FORMS[name]["ordered"](
        [1, 1, 0, 2, 1, 0, 2, 2], fn, cache=Cache(99, HELD, key=key), on_error="skip", capacity=2
    ) as results:
        assert [each async for each in results] == [1, 1, 2, 1, 2, 2]
        seen.append(results.statistics())

    assert len(seen) == 9
    for told in seen:
        assert told.calls == told.hits + told.shared + told.loads + told.null_keys


@each_that_caches
async def test_the_key_is_the_value_itself_unless_something_else_is_said(name: str) -> None:
    got, called, _ = await all_of(name, ["a", "b", "a", ["a"]])

    assert got == ["'a'", "'b'", "'a'", TypeError]
    assert called == ["a", "b"]


@each_that_caches
def test_a_function_in_callback_form_is_not_cached(name: str) -> None:
    class Callbacks:
        def async_invoke(self, value: Any, result: Any) -> None:
            """Never called."""

    with pytest.raises(InvalidConfig, match=r"^fn must be in coroutine form, as what it gives is "):
        OPERATORS[name](OperatorConfig(cache=Cache(9, HELD)), Callbacks(), empty())


async def empty() -> Any:
    nothing: list[Any] = []
    for element in nothing:
        yield element
