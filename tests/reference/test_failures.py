"""What fails the operator, when, and with which error."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import anyio
import pytest

from asyncwait.reference import open_operator
from asyncwait.spec import (
    Barrier,
    CallFailed,
    InvalidResult,
    Mode,
    OperatorConfig,
    Record,
    Watermark,
)

pytestmark = pytest.mark.anyio


class Tasks:
    """Does per value what it is told: replies with a list, raises an exception, returns else."""

    def __init__(self, **plans: tuple[float, Any]) -> None:
        self.plans = plans
        self.cancelled: list[tuple[float, str]] = []

    async def __call__(self, value: str) -> Any:
        """Do what the plan of the value says."""
        seconds, what = self.plans[value]
        try:
            await anyio.sleep(seconds)
        except anyio.get_cancelled_exc_class():
            self.cancelled.append((anyio.current_time(), value))
            raise
        if isinstance(what, BaseException):
            raise what
        return what


async def failure_of(results: Any) -> Any:
    """Read until the operator fails; return the error."""
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - the tests look at it closely
        async for _ in results:
            pass
    return caught.value


async def test_a_call_that_raises_fails_the_operator(feed: Any) -> None:
    """The error names the record, and has the user's own as its cause."""
    error = ValueError("bad")

    fn = Tasks(a=(1, error))
    async with open_operator(OperatorConfig(), fn, feed(Record("a", 5, "k"))) as results:
        raised = await failure_of(results)

    assert type(raised) is CallFailed
    assert raised.record == Record("a", 5, "k")
    assert str(raised) == "Record 'a' @ 5 (key 'k'): the call failed: ValueError('bad')"
    assert raised.__cause__ is error


@pytest.mark.parametrize(
    "error",
    [
        StopIteration("x"),
        StopAsyncIteration("x"),
        GeneratorExit("x"),
        asyncio.CancelledError("x"),
        BaseExceptionGroup("x", [asyncio.CancelledError()]),
        BaseException("x"),
    ],
    ids=repr,
)
async def test_odd_exceptions_are_call_errors_too(feed: Any, error: BaseException) -> None:
    """Whatever a call raises, unless it is meant for the program or the operator caused it."""

    class Raising:
        def async_invoke(self, value: str, result: Any) -> None:
            raise error

    fn = Tasks(a=(1, error))
    for function in (fn, Raising()):
        async with open_operator(OperatorConfig(), function, feed(Record("a"))) as results:
            raised = await failure_of(results)

        assert type(raised) is CallFailed
        # A coroutine can't raise StopIteration: Python makes it a RuntimeError.
        odd = isinstance(error, StopIteration | StopAsyncIteration)
        cause = raised.__cause__
        assert cause is error or (odd and isinstance(cause, RuntimeError | type(error)))


async def test_a_failure_is_raised_when_it_is_decided(feed: Any) -> None:
    """Not in its turn: the first record is still running, and is cancelled at once."""
    fn = Tasks(a=(9, ["a"]), b=(2, ValueError()))
    source = feed(Record("a"), Record("b"))

    async with open_operator(OperatorConfig("ordered"), fn, source) as results:
        error = await failure_of(results)
        assert anyio.current_time() == 2

    assert error.record == Record("b")
    assert fn.cancelled == [(2, "a")]


async def test_nothing_comes_out_after_a_failure(feed: Any) -> None:
    """Finished results, fences and snapshots stay inside, and snapshots are not taken."""
    fn = Tasks(a=(0, ["a"]), b=(1, ValueError()))
    source = feed(Record("a"), Watermark(1), Barrier(1), Record("b"), 5, Barrier(2))

    async with open_operator(OperatorConfig("ordered"), fn, source) as results:
        await anyio.sleep(2)
        results.request_snapshot(3)
        with pytest.raises(CallFailed):
            await anext(results)


async def test_of_two_failures_the_earlier_is_raised_and_always_the_same(feed: Any) -> None:
    """Also after the context was left."""
    fn = Tasks(a=(3, ValueError("a")), b=(1, ValueError("b")), c=(2, ValueError("c")))
    source = feed(Record("a"), Record("b"), Record("c"))

    async with open_operator(OperatorConfig("unordered"), fn, source) as results:
        await anyio.sleep(5)
        first, second = await failure_of(results), await failure_of(results)
    third = await failure_of(results)

    assert first.record == Record("b")
    assert first is second is third


async def test_a_record_taken_in_part_gives_nothing_more_after_a_failure(feed: Any) -> None:
    """The failure comes between two results of another record."""
    fn = Tasks(a=(0, ["a1", "a2"]), b=(1, ValueError()))

    async with open_operator(OperatorConfig(), fn, feed(Record("a"), Record("b"))) as results:
        assert await anext(results) == Record("a1")
        await anyio.sleep(2)
        with pytest.raises(CallFailed):
            await anext(results)


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (None, "got None (NoneType)"),
        ("text", "got 'text' (str)"),
        (b"bytes", "got b'bytes' (bytes)"),
        (7, "got 7 (int)"),
    ],
)
async def test_what_is_no_collection_is_an_invalid_result(
    feed: Any, returned: Any, message: str
) -> None:
    """The message names the record, what came, and what should have come."""
    async with open_operator(
        OperatorConfig(), Tasks(a=(1, returned)), feed(Record("a"))
    ) as results:
        raised = await failure_of(results)

    assert type(raised) is InvalidResult
    assert str(raised) == (
        f"Record 'a': expected an iterable of results, {message}; "
        "return [] for none and [result] for one"
    )


@pytest.mark.parametrize("error", [ValueError("x"), asyncio.CancelledError("x")], ids=repr)
async def test_a_collection_that_raises_gives_nothing(feed: Any, error: BaseException) -> None:
    """It is read whole before the first result comes out."""

    def broken() -> Iterator[str]:
        yield "first"
        raise error

    async with open_operator(
        OperatorConfig(), Tasks(a=(1, broken())), feed(Record("a"))
    ) as results:
        with pytest.raises(CallFailed) as caught:
            await anext(results)

    assert caught.value.__cause__ is error


async def test_a_plain_function_is_a_call_error_that_says_so(feed: Any) -> None:
    """Forgetting `async` is found at the first record, and the message is not wrapped again."""
    async with open_operator(OperatorConfig(), lambda _: ["x"], feed(Record("a"))) as results:
        raised = await failure_of(results)

    assert str(raised) == (
        "Record 'a': the call failed: TypeError(\"expected an awaitable from fn, got ['x']; "
        'is it an `async def`?")'
    )
    assert isinstance(raised.__cause__, TypeError)


@pytest.mark.parametrize("mode", ["ordered", "unordered"])
async def test_an_error_of_the_source_comes_last_and_unchanged(
    feed: Any, read: Any, mode: Mode
) -> None:
    """Everything that was read before is decided and comes out first."""
    error = OSError("gone")
    fn = Tasks(a=(3, ["a"]), b=(1, ["b"]))

    async with open_operator(
        OperatorConfig(mode), fn, feed(Record("a"), Record("b"), Watermark(1), error)
    ) as results:
        elements = [await anext(results) for _ in range(3)]
        assert anyio.current_time() == 3
        first, second = await failure_of(results), await failure_of(results)

    assert {element.value for element in elements[:2]} == {"a", "b"}
    assert elements[2] == Watermark(1)
    assert first is error
    assert second is error


async def test_a_call_that_fails_before_a_source_error_comes_out_is_raised(feed: Any) -> None:
    """It was decided, while the source error waits for everything before it."""
    fn = Tasks(a=(1, ValueError()))

    async with open_operator(OperatorConfig(), fn, feed(Record("a"), OSError("gone"))) as results:
        assert type(await failure_of(results)) is CallFailed


async def test_a_source_that_raises_when_the_operator_has_failed_is_not_heard(feed: Any) -> None:
    """The two happen in one instant; the failure was decided, and leaving raises nothing."""
    fn = Tasks(a=(1, ValueError()))

    for _ in range(10):
        source = feed(Record("a"), 1, OSError("gone"))
        async with open_operator(OperatorConfig(), fn, source) as results:
            raised = await failure_of(results)

        assert type(raised) is CallFailed


async def test_a_source_that_can_not_be_closed_at_its_end_is_heard_of_on_leaving() -> None:
    """It has given all that it had; the output is whole, and ends as such."""

    class Source:
        def __init__(self) -> None:
            self.left = [Record("a")]

        def __aiter__(self) -> "Source":
            return self

        async def __anext__(self) -> Record:
            if not self.left:
                raise StopAsyncIteration
            return self.left.pop()

        async def aclose(self) -> None:
            raise OSError("busy")

    with pytest.raises(OSError, match=r"^busy$"):
        async with open_operator(OperatorConfig(), Tasks(a=(1, ["a"])), Source()) as results:
            assert [element async for element in results] == [Record("a")]


async def test_a_source_that_cancels_itself_has_failed(feed: Any) -> None:
    """A cancellation that nobody asked for is an error like any other."""
    error = asyncio.CancelledError("odd")

    async with open_operator(
        OperatorConfig(), Tasks(a=(1, [1])), feed(Record("a"), error)
    ) as results:
        assert await anext(results) == Record(1)
        assert await failure_of(results) is error


async def test_something_that_is_no_element_is_an_error_of_the_source(feed: Any) -> None:
    """The message shows it, and the likely cure."""
    fn = Tasks(a=(1, ["a"]))

    async with open_operator(OperatorConfig(), fn, feed(Record("a"), "b", Record("a"))) as results:
        assert await anext(results) == Record("a")
        raised = await failure_of(results)

    assert type(raised) is TypeError
    assert str(raised) == "elements gave 'b', which is not an element; try Record('b')"


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("place", ["call", "group", "invoke", "handler", "supplier", "source"])
def test_what_is_meant_for_the_program_passes(
    anyio_backend_name: str,
    anyio_backend: tuple[str, dict[str, Any]],
    feed: Any,
    kind: type[BaseException],
    place: str,
) -> None:
    """KeyboardInterrupt and SystemExit end the program, plainly, wherever they are raised."""

    def end_program(*_: Any) -> Any:
        raise kind

    async def call(value: str) -> list[str]:
        await anyio.sleep(1)
        if place == "call":
            end_program()
        if place == "group":
            raise BaseExceptionGroup("", [ValueError(), kind()])
        await anyio.sleep_forever()
        return []

    class Callbacks:
        def async_invoke(self, value: str, result: Any) -> None:
            if place == "invoke":
                end_program()
            result.complete_with(end_program)

    async def program() -> None:
        fn: Any = Callbacks() if place in {"invoke", "supplier"} else call
        if place == "handler":
            fn.timeout = end_program
        source = feed(kind()) if place == "source" else feed(Record("a"))
        async with open_operator(OperatorConfig(timeout=2), fn, source) as results:
            await anext(results)

    with pytest.raises(kind):
        run(program, anyio_backend)


def run(program: Callable[[], Any], backend: tuple[str, dict[str, Any]]) -> None:
    """Run a program on a loop of its own, and swallow what asyncio says about the crash."""
    name, options = backend

    async def main() -> None:
        if name == "asyncio":
            asyncio.get_running_loop().set_exception_handler(lambda *_: None)
        await program()

    anyio.run(main, backend=name, backend_options=options)


async def test_a_failure_inside_an_iterator_chain_stays_plain(feed: Any) -> None:
    """An operator over an operator raises the inner error as its source's error."""

    async def inner(results: Any) -> AsyncIterator[Any]:
        async for element in results:
            yield element

    fn = Tasks(a=(1, ["b"]), b=(1, ["c"]), x=(2, ValueError()))
    source = feed(Record("a"), Record("x"))
    async with (
        open_operator(OperatorConfig(), fn, source) as first,
        open_operator(OperatorConfig(), fn, inner(first)) as second,
    ):
        assert await anext(second) == Record("c")
        raised = await failure_of(second)

    assert type(raised) is CallFailed
    assert raised.record == Record("x")
