"""The plain form of the shipped operators: what holds of the operators holds of it."""

from collections.abc import AsyncIterator, Iterator
from contextlib import nullcontext
from typing import Any

import anyio
import pytest
from operators import OPERATORS, PLAIN_FORMS, Sleeper, seconds_now

from asyncwait.spec import CallFailed, CallTimedOut, InvalidConfig, InvalidResult, Retry
from asyncwait.toolkit import PlainWait

pytestmark = pytest.mark.anyio


@pytest.fixture(params=OPERATORS)
def ordered_wait(request: pytest.FixtureRequest) -> PlainWait:
    """The plain form of every shipped operator."""
    return PLAIN_FORMS[request.param]["ordered"]


class Iterated:
    """An iterable that is not its own iterator; notes what of it is closed.

    Args:
        error: raised where the iteration should begin.
    """

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
        """Note it."""
        self.log.append("iterable")


async def test_the_source_and_its_iterator_are_closed(ordered_wait: PlainWait) -> None:
    """Once each, in the order in which the one was made from the other."""
    source = Iterated()

    async with ordered_wait(source, Sleeper(), capacity=1):
        await anyio.sleep(0.5)

    assert source.log == ["iterator", "iterable"]


@pytest.mark.parametrize("error", [None, KeyError("late")], ids=["well", "badly"])
async def test_a_plain_generator_is_closed_when_it_is_left(
    ordered_wait: PlainWait, error: Exception | None
) -> None:
    """Its `finally` runs before leaving is over, and what it raises comes out."""
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
    """As one that fails later."""
    error = OSError("no")
    source = Iterated(error)

    async with ordered_wait(source, Sleeper()) as results:
        with pytest.raises(OSError, match=r"^no$") as caught:
            await anext(results)

    assert caught.value is error
    assert source.log == ["iterable"]


async def test_a_plain_source_that_fails_fails_last(ordered_wait: PlainWait) -> None:
    """Its error is its own, whatever its class."""
    error = CallFailed(None, "of somebody else")

    def source() -> Iterator[str]:
        yield "a3"
        raise error

    async with ordered_wait(source(), Sleeper()) as results:
        assert await anext(results) == ["a3"]
        for _ in range(2):
            with pytest.raises(CallFailed) as caught:
                await anext(results)
            assert caught.value is error


@pytest.mark.parametrize(
    "error", [KeyError("body"), StopIteration(), StopAsyncIteration(), RuntimeError("body")]
)
async def test_the_error_of_the_body_comes_out_plainly(
    ordered_wait: PlainWait, error: Exception
) -> None:
    """The very object, with nothing attached."""
    with pytest.raises(type(error)) as caught:  # noqa: PT012 - the body is the point
        async with ordered_wait(["a99"], Sleeper()):
            await anyio.sleep(1)
            raise error

    assert caught.value is error
    assert error.__cause__ is error.__context__ is None
    assert not hasattr(error, "__notes__")


async def test_a_wait_that_is_given_up_loses_nothing(ordered_wait: PlainWait) -> None:
    """Nor does a task that tries to read besides."""
    out: list[Any] = []

    async with ordered_wait(["a2", "b3"], Sleeper(), many=True) as results:
        while len(out) < 2:
            with anyio.move_on_after(0.5):
                out.append(await anext(results))
        assert [value async for value in results] == []

    assert out == ["a2", "b3"]


async def test_a_cancellation_from_outside_passes(ordered_wait: PlainWait) -> None:
    """And everything is closed."""
    fn, source = Sleeper(), Iterated()
    fn.clean_up = 2

    with anyio.move_on_after(3) as scope:
        async with ordered_wait(source, fn) as results:
            async for _ in results:
                pass

    assert scope.cancelled_caught
    assert seconds_now() == 5
    assert fn.running == []
    assert source.log == ["iterator", "iterable"]


@pytest.mark.parametrize("many", [False, True])
async def test_what_a_handler_gives_stands_for_what_the_function_gives(
    ordered_wait: PlainWait, *, many: bool
) -> None:
    """One result, or a collection; None is no result in either form, and a dict no collection."""
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


async def test_one_behind_the_other(ordered_wait: PlainWait) -> None:
    """Results are a source like any other."""

    async def shout(value: str) -> str:
        await anyio.sleep(1)
        return value.upper()

    async with (
        ordered_wait(["a1", "b2"], Sleeper(), many=True) as first,
        ordered_wait(first, shout) as second,
    ):
        assert [value async for value in second] == ["A1", "B2"]
    assert seconds_now() == 3


@pytest.mark.parametrize("many", [False, True])
async def test_calls_are_repeated(ordered_wait: PlainWait, *, many: bool) -> None:
    """After errors, and after results that the predicate refuses, which is given what `fn` gave."""
    gave: list[Any] = []
    plan = iter([ValueError("at first"), "no", "yes"])

    async def fn(value: str) -> Any:
        given = next(plan)
        if isinstance(given, Exception):
            raise given
        return [value + given] if many else value + given

    def is_refused(result: Any) -> bool:
        gave.append(result)
        return "no" in (result[0] if many else result)

    retry = Retry(max_attempts=4, initial=0.25, on_result=is_refused)
    async with ordered_wait(["a"], fn, retry=retry, many=many) as results:
        came = [result async for result in results]

    assert came == ["ayes"]
    assert gave == ([("ano",), ("ayes",)] if many else ["ano", "ayes"])


async def test_what_is_no_retry_is_refused(ordered_wait: PlainWait) -> None:
    """By name, on entering."""
    with pytest.raises(InvalidConfig, match="retry must be a Retry or None, got 3"):
        async with ordered_wait(["a"], Sleeper(), retry=3):  # type: ignore[arg-type]
            pass


async def skipping(value: Any) -> Any:
    """A function that answers at once."""
    return value


def not_copied(value: Any) -> Any:
    """What makes a copy, but of nothing that is odd."""
    if value % 2:
        raise ValueError("odd")
    return value


async def test_what_can_not_be_copied_is_skipped_like_what_fails(ordered_wait: PlainWait) -> None:
    """To leave a value out, nobody has to copy it."""
    async with ordered_wait(range(5), skipping, copy=not_copied, on_error="skip") as results:
        assert [value async for value in results] == [0, 2, 4]


@pytest.mark.parametrize("error", [StopIteration(), StopAsyncIteration()])
async def test_an_error_of_a_key_is_never_the_end(operator: str, error: Exception) -> None:
    """It comes out as an error of the source, after all that was before."""

    def key(value: int) -> int:
        if value == 3:
            raise error
        return value

    wait = PLAIN_FORMS[operator]["key-ordered"]
    async with wait(range(5), skipping, key=key) as results:
        assert [await anext(results) for _ in range(3)] == [0, 1, 2]
        with pytest.raises(RuntimeError) as caught:
            await anext(results)

    assert str(caught.value) == f"the key of 3 raised {error!r}"
    assert caught.value.__cause__ is error


async def test_a_plain_source_does_not_end_like_an_async_one(ordered_wait: PlainWait) -> None:
    """Somebody's slip there is not taken for the end."""

    class Values:
        def __iter__(self) -> Iterator[int]:
            return self

        def __next__(self) -> int:
            raise StopAsyncIteration

    async with ordered_wait(Values(), skipping) as results:
        with pytest.raises(RuntimeError, match=r"^a source that is not async raised StopAsync"):
            await anext(results)


async def test_a_context_is_entered_once(ordered_wait: PlainWait) -> None:
    """As that of the operator is, and the error says so."""
    wait = ordered_wait(range(3), skipping)
    async with wait as results:
        assert [value async for value in results] == [0, 1, 2]

    with pytest.raises(RuntimeError, match=r"^an operator is entered once: "):
        await wait.__aenter__()


@pytest.fixture(params=OPERATORS)
def operator(request: pytest.FixtureRequest) -> str:
    """The name of every shipped operator."""
    name: str = request.param
    return name


async def test_coroutine_functions_are_refused_where_nothing_awaits_them(operator: str) -> None:
    """A key would be another one each time, and a copy none."""

    async def wrong(value: Any) -> Any:
        return value

    for mode, name in (("key-ordered", "key"), ("ordered", "copy")):
        arguments: dict[str, Any] = {name: wrong}
        with pytest.raises(InvalidConfig, match=f"^{name} must be a plain function"):
            async with PLAIN_FORMS[operator][mode]([], skipping, **arguments):
                pass


def test_a_stream_that_its_loop_has_closed_is_no_empty_stream(
    ordered_wait: PlainWait, anyio_backend: tuple[str, dict[str, Any]]
) -> None:
    """Whoever reads it on the next loop would take the end of the loop for that of the stream."""
    name, options = anyio_backend
    if name == "trio":
        return  # A task of trio can't end with a scope open.
    stream = ordered_wait(["a1", "b1"], Sleeper())

    async def open_it() -> Any:
        entered = await stream.__aenter__()
        await anyio.sleep(0.5)
        return entered

    results = anyio.run(open_it, backend=name, backend_options=options)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="left by another task"):
            anyio.run(results.__anext__, backend=name, backend_options=options)
