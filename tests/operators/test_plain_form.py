"""The plain form of the shipped operators: what holds of the operators holds of it."""

import inspect
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, get_args

import anyio
import pytest
from operators import OPERATORS, PLAIN_FORMS, Sleeper, echo

from asyncwait.backends import threads
from asyncwait.spec import CallFailed, CallTimedOut, InvalidResult, Mode, OperatorConfig, Retry
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


async def test_errors_are_plain_and_name_the_value(ordered_wait: PlainWait) -> None:
    async with ordered_wait(["a9"], Sleeper(), timeout=1) as results:
        with pytest.raises(CallTimedOut, match=r"^value 'a9': "):
            await anext(results)
    async with ordered_wait([7], halve) as results:
        errors = []
        for _ in range(2):
            with pytest.raises(CallFailed, match=r"^value 7: ") as caught:
                await anext(results)
            errors.append(caught.value)
    assert errors[0] is errors[1]
    assert repr(errors[0].__cause__) == "ValueError(7)"


class Iterated:
    """An iterable that is not its own iterator; notes what of it is closed."""

    def __init__(self, error: Exception | None = None) -> None:
        self.log: list[str] = []
        self.error = error

    def __aiter__(self) -> AsyncIterator[str]:
        if self.error is not None:
            raise self.error
        return self._values()

    async def _values(self) -> AsyncIterator[str]:
        try:
            for value in ("a1", "b99"):
                yield value
            await anyio.sleep(999)
        finally:
            self.log.append("iterator")

    async def aclose(self) -> None:
        self.log.append("iterable")


@pytest.mark.parametrize(
    ("seconds", "closed"), [(0.5, ["iterator", "iterable"]), (0, ["iterable"])]
)
async def test_the_source_and_its_iterator_are_closed(
    ordered_wait: PlainWait, seconds: float, closed: list[str]
) -> None:
    source = Iterated()

    async with ordered_wait(source, Sleeper(), capacity=1):
        if seconds:
            await anyio.sleep(seconds)

    assert source.log[-len(closed) :] == closed
    assert source.log.count("iterable") == 1


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


async def test_a_source_whose_iteration_does_not_begin_has_failed_and_is_closed(
    ordered_wait: PlainWait,
) -> None:
    error = OSError("no")
    source = Iterated(error)

    async with ordered_wait(source, Sleeper()) as results:
        with pytest.raises(OSError, match=r"^no$") as caught:
            await anext(results)

    assert caught.value is error
    assert source.log == ["iterable"]


@pytest.mark.parametrize(
    "error",
    [KeyError("body"), StopIteration(), ExceptionGroup("x", [KeyError()])],
)
async def test_the_error_of_the_body_comes_out_plainly(
    ordered_wait: PlainWait, error: Exception
) -> None:
    with pytest.raises(type(error)) as caught:  # noqa: PT012 - the body is the point
        async with ordered_wait(["a99"], Sleeper()):
            await anyio.sleep(1)
            raise error

    assert caught.value is error
    assert error.__cause__ is error.__context__ is None
    assert not hasattr(error, "__notes__")


@pytest.mark.parametrize("many", [False, True])
async def test_what_a_handler_gives_stands_for_what_the_function_gives(
    ordered_wait: PlainWait, *, many: bool
) -> None:
    fn: Any = Sleeper()
    for given, expected in [(["x", "y"], None), (None, CallTimedOut), ({"k": 1}, InvalidResult)]:
        fn.timeout = lambda _, given=given: given
        async with ordered_wait(["a9"], fn, timeout=1, many=many) as results:
            if expected is None or (given and not many):
                out = [value async for value in results]
                assert out == (given if many else [given])
            else:
                with pytest.raises(expected):
                    await anext(results)


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


async def test_a_context_is_entered_once(ordered_wait: PlainWait) -> None:
    wait = ordered_wait(range(3), skipping)
    async with wait as results:
        assert [value async for value in results] == [0, 1, 2]

    with pytest.raises(RuntimeError, match="entered once"):
        await wait.__aenter__()


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
