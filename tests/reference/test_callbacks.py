"""Functions in callback form."""

import threading
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from asyncwait.reference import open_operator
from asyncwait.spec import CallFailed, InvalidResult, OperatorConfig, Record, ResultFuture

pytestmark = pytest.mark.anyio


class Callbacks:
    """Hands each value and its `ResultFuture` to a function."""

    def __init__(self, answer: Callable[[Any, ResultFuture], None]) -> None:
        self.async_invoke = answer


async def failure_of(results: Any) -> Any:
    """Read until the operator fails; return the error."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the tests look at it closely
        async for _ in results:
            pass
    return caught.value


async def test_a_record_can_be_completed_in_the_call_itself(feed: Any, read: Any) -> None:
    """Its results come out like all others."""
    fn = Callbacks(lambda value, result: result.complete([value, value]))

    async with open_operator(OperatorConfig(), fn, feed(Record(1, 5), Record(2))) as results:
        assert await read(results) == [
            (0, Record(1, 5)),
            (0, Record(1, 5)),
            (0, Record(2)),
            (0, Record(2)),
        ]


async def test_a_record_can_be_completed_later(feed: Any) -> None:
    """The operator waits for it, and holds its slot."""
    futures: dict[str, ResultFuture] = {}
    fn = Callbacks(futures.__setitem__)

    async with open_operator(
        OperatorConfig("unordered", 2), fn, feed(Record("a"), Record("b"), Record("c"))
    ) as results:
        await anyio.sleep(1)
        assert sorted(futures) == ["a", "b"]
        futures["b"].complete(["b1"])
        assert await anext(results) == Record("b1")
        await anyio.sleep(1)
        assert sorted(futures) == ["a", "b", "c"]
        futures["a"].complete_with(lambda: ["a1"])
        futures["c"].complete([])
        assert await anext(results) == Record("a1")
        with pytest.raises(StopAsyncIteration):
            await anext(results)


async def test_only_the_first_completion_counts(feed: Any, read: Any) -> None:
    """All later ones are ignored in silence."""

    def answer(value: str, result: ResultFuture) -> None:
        result.complete(["first"])
        result.complete(["second"])
        result.complete_with(lambda: pytest.fail("nobody asked for this"))
        result.complete_exceptionally(ValueError("third"))

    async with open_operator(OperatorConfig(), Callbacks(answer), feed(Record("a"))) as results:
        assert await read(results) == [(0, Record("first"))]


async def test_a_record_can_be_completed_from_another_thread(feed: Any) -> None:
    """The supplier is called on the operator's loop all the same."""
    threads: list[threading.Thread] = []
    suppliers: list[threading.Thread] = []

    def supply() -> list[str]:
        suppliers.append(threading.current_thread())
        return ["supplied"]

    def answer(value: str, result: ResultFuture) -> None:
        threads.append(threading.Thread(target=result.complete_with, args=[supply]))
        threads[-1].start()

    async with open_operator(OperatorConfig(), Callbacks(answer), feed(Record("a"))) as results:
        assert await anext(results) == Record("supplied")
        with pytest.raises(StopAsyncIteration):
            await anext(results)

    threads[0].join()
    assert suppliers == [threading.current_thread()]


async def test_completing_with_an_error_fails_the_operator(feed: Any) -> None:
    """It may be of whatever kind; even one for the program, as it was not raised."""
    for error in (ValueError("x"), KeyboardInterrupt("x")):
        fn = Callbacks(lambda _, result, error=error: result.complete_exceptionally(error))
        async with open_operator(OperatorConfig(), fn, feed(Record("a"))) as results:
            raised = await failure_of(results)

        assert type(raised) is CallFailed
        assert raised.record == Record("a")
        assert raised.__cause__ is error


async def test_a_supplier_that_raises_fails_the_operator(feed: Any) -> None:
    """It is an outcome of the call like any other."""
    fn = Callbacks(lambda _, result: result.complete_with(lambda: 1 / 0))

    async with open_operator(OperatorConfig(), fn, feed(Record("a"))) as results:
        raised = await failure_of(results)

    assert type(raised) is CallFailed
    assert isinstance(raised.__cause__, ZeroDivisionError)


async def test_completing_with_what_is_no_collection_is_an_invalid_result(feed: Any) -> None:
    """The caller gets no error, as it may be a thread that can do nothing about it."""
    fn = Callbacks(lambda _, result: result.complete(None))

    async with open_operator(OperatorConfig(), fn, feed(Record("a"))) as results:
        raised = await failure_of(results)

    assert type(raised) is InvalidResult
    assert raised.record == Record("a")


async def test_a_completion_after_the_deadline_or_the_end_does_nothing(feed: Any) -> None:
    """And a call in callback form that goes on is not abandoned: nobody knows that it does."""
    futures: list[ResultFuture] = []

    class Silent:
        def async_invoke(self, value: str, result: ResultFuture) -> None:
            futures.append(result)

        def timeout(self, value: str) -> list[str]:
            return ["handled"]

    source = feed(Record("a"), 5)
    async with open_operator(OperatorConfig(timeout=1), Silent(), source) as results:
        assert await anext(results) == Record("handled")
        futures[0].complete(["late"])
        futures[0].complete_exceptionally(ValueError("late"))
        with pytest.raises(StopAsyncIteration):
            await anext(results)
        futures[0].complete(["later"])
    futures[0].complete(["latest"])

    assert results.statistics().abandoned == 0


def test_a_completion_after_the_loop_has_closed_does_nothing(
    anyio_backend: tuple[str, dict[str, Any]], feed: Any
) -> None:
    """Clients answer when they like, even to a program that is over."""
    futures: list[ResultFuture] = []

    async def program() -> None:
        fn = Callbacks(lambda _, result: futures.append(result))
        async with open_operator(OperatorConfig(), fn, feed(Record("a"))):
            await anyio.sleep(1)

    name, options = anyio_backend
    anyio.run(program, backend=name, backend_options=options)

    thread = threading.Thread(target=futures[0].complete, args=[["late"]])
    thread.start()
    thread.join()
    futures[0].complete_with(list)
