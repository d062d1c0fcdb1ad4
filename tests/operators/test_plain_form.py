"""The forms for plain values: arguments, sources, failures, and keys of caches."""

import inspect
import math
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, get_args

import anyio
import pytest
from operators import OPERATORS, PLAIN_FORMS, Sleeper, echo

from asyncwait.backends import threads
from asyncwait.spec import (
    Cache,
    CallFailed,
    Mode,
    OperatorConfig,
    Retry,
    Statistics,
)
from asyncwait.toolkit import PlainResults, PlainWait, plain_wait

pytestmark = pytest.mark.anyio


@pytest.fixture(params=OPERATORS)
def operator(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def ordered_wait(operator: str) -> PlainWait:
    return PLAIN_FORMS[operator]["ordered"]


async def skipping(value: Any) -> Any:
    return value


async def halve(value: int) -> int:
    if value % 2:
        raise ValueError(value)
    return value // 2


async def test_a_result_may_be_anything(ordered_wait: PlainWait) -> None:
    values: list[Any] = [None, "text", [], {"a": 1}, b""]
    async with ordered_wait(values, skipping) as results:
        assert [value async for value in results] == values


@pytest.mark.parametrize("error", [None, KeyError("late")], ids=["well", "badly"])
async def test_a_plain_generator_is_closed_when_it_is_left(
    ordered_wait: PlainWait, error: Exception | None
) -> None:
    log: list[str] = []

    def source() -> Iterator[str]:
        try:
            yield from ("a1", "b99", "c1")
        finally:
            log.append("closed")
            if error is not None:
                raise error

    with nullcontext() if error is None else pytest.raises(KeyError, match="late"):
        async with ordered_wait(source(), Sleeper(), capacity=1):
            await anyio.sleep(0.5)
    assert log == ["closed"]


@pytest.mark.parametrize("error", [StopIteration(), StopAsyncIteration(), OSError()])
async def test_an_error_of_a_key_is_never_the_end(operator: str, error: Exception) -> None:
    def key(value: int) -> int:
        if value == 3:
            raise error
        return value

    wait = PLAIN_FORMS[operator]["key-ordered"]
    async with wait(range(5), skipping, key=key) as results:
        assert [await anext(results) for _ in range(3)] == [0, 1, 2]
        with pytest.raises((RuntimeError, OSError)) as caught:
            await anext(results)

    assert (caught.value if isinstance(error, OSError) else caught.value.__cause__) is error


async def test_a_plain_source_does_not_end_like_an_async_one(ordered_wait: PlainWait) -> None:
    class Values:
        def __iter__(self) -> Iterator[int]:
            return self

        def __next__(self) -> int:
            raise StopAsyncIteration

    async with ordered_wait(Values(), skipping) as results:
        with pytest.raises(RuntimeError) as caught:
            await anext(results)
    assert isinstance(caught.value.__cause__, StopAsyncIteration)


@pytest.mark.parametrize(
    ("on_error", "expected"),
    [
        ("skip", [1, 3]),
        (lambda value, _: -value, [1, -3, 3]),
        (lambda value, error: (value, repr(error.__cause__)), [1, (3, "ValueError(3)"), 3]),
        (lambda *_: None, [1, None, 3]),
    ],
)
async def test_in_plain_form_failures_are_skipped_or_replaced(
    ordered_wait: PlainWait, on_error: Any, expected: list[Any]
) -> None:
    async with ordered_wait([2, 3, 6], halve, on_error=on_error) as results:
        assert [each async for each in results] == expected


async def test_in_plain_form_a_failure_ends_the_stream_unless_one_says_otherwise(
    ordered_wait: PlainWait,
) -> None:
    async def fn(value: int) -> int:
        return await halve(value)

    fn.failure = lambda value, _: -value  # type: ignore[attr-defined]
    async with ordered_wait([3], fn) as results:
        assert [each async for each in results] == [-3]
    with pytest.raises(CallFailed):
        async with ordered_wait([3], fn, on_error="fail") as results:
            await anext(results)


def test_each_option_is_one_of_the_configuration() -> None:
    given: list[OperatorConfig] = []

    def open_operator(config: OperatorConfig, *_: Any) -> Any:
        given.append(config)
        return nullcontext([])

    async def main() -> None:
        options: Any = {"capacity": 7, "timeout": 5, "max_held": 9, "copy": list}
        async with plain_wait(open_operator, "unordered")([1], echo, **options):
            pass

    anyio.run(main)
    assert given == [OperatorConfig("unordered", 7, 5, max_held=9, copy=list)]


def test_help_names_every_argument_and_the_results(operator: str) -> None:
    threaded = [threads.ordered_wait, threads.unordered_wait, threads.key_ordered_wait]
    for mode, in_threads in zip(get_args(Mode), threaded, strict=True):
        wait: Any = PLAIN_FORMS[operator][mode]
        shown = inspect.signature(wait)

        assert wait.__name__ == in_threads.__name__ == f"{mode.replace('-', '_')}_wait"
        for each in (wait, in_threads):
            assert all(f"{name}: " in each.__doc__ for name in inspect.signature(each).parameters)
        assert shown.return_annotation == AbstractAsyncContextManager[PlainResults[Any]]


async def test_a_predicate_is_given_many_results_as_a_tuple(ordered_wait: PlainWait) -> None:
    given: list[Any] = []
    retry = Retry(on_result=lambda results: bool(given.append(results)))

    for many in (False, True):
        async with ordered_wait(["a1"], echo, retry=retry, many=many) as results:
            assert [result async for result in results]

    assert given == [["a1"], ("a1",)]


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


@pytest.mark.parametrize(
    "null", [None, math.nan, (1, None), (1, (2, None)), ("a", math.nan)], ids=repr
)
async def test_a_null_key_is_nobody_elses(operator: str, null: Any) -> None:
    _, called, figures = await all_of(operator, [1, 2, 3], lambda _: null)

    assert sorted(called) == [1, 2, 3]
    assert (figures.null_keys, figures.loads, figures.calls) == (3, 0, 3)


async def test_a_key_that_can_not_be_had_fails_its_record_alone(operator: str) -> None:
    def key(value: int) -> Any:
        if value == 4:
            raise StopIteration
        return [value] if value % 2 else 6 // value

    got, called, figures = await all_of(operator, [3, 0, 2, 2, 4, 2], key)

    assert got == [TypeError, ZeroDivisionError, "2", "2", got[4], "2"]
    assert called == [2]
    assert (figures.calls, figures.null_keys, figures.loads) == (6, 3, 1)
    assert figures.failures_handled == 3
