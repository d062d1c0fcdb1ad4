"""What fails an operator, when, and how the consumer learns it."""

import asyncio
from typing import Any

import anyio
import pytest

from asyncwait.backends.pool import open_operator
from asyncwait.spec import (
    CallFailed,
    Element,
    InvalidResult,
    OperatorConfig,
    Record,
    ResultFuture,
    Statistics,
)

pytestmark = pytest.mark.anyio


async def failure_of(results: Any, into: list[Element] | None = None) -> Any:
    """Read until the operator fails; return the error."""
    with pytest.raises(Exception) as caught:  # noqa: PT011, PT012 - it is looked at closely
        async for element in results:
            if into is not None:
                into.append(element)
    return caught.value


@pytest.mark.parametrize(
    "reason",
    [
        ValueError("no"),
        StopAsyncIteration("no"),
        asyncio.CancelledError("no"),
        GeneratorExit("no"),
        BaseException("no"),
        ExceptionGroup("no", [ValueError("no")]),
    ],
    ids=lambda reason: type(reason).__name__,
)
async def test_whatever_a_call_raises_is_a_call_error(feed: Any, reason: BaseException) -> None:
    """The plain error of the operator comes out, with the user's own as its cause."""

    async def fails(value: str) -> list[str]:
        await anyio.sleep(1)
        raise reason

    async with open_operator(OperatorConfig(), fails, feed(Record("a", 3, "k"))) as results:
        error = await failure_of(results)

    assert type(error) is CallFailed
    assert str(error) == f"Record 'a' @ 3 (key 'k'): the call failed: {reason!r}"
    assert error.record == Record("a", 3, "k")
    assert error.__cause__ is reason


async def test_a_stop_iteration_of_a_plain_function_is_a_call_error(feed: Any) -> None:
    """It must not be taken for the end of anything."""

    def fails(value: str) -> Any:
        raise StopIteration(value)

    async with open_operator(OperatorConfig(), fails, feed("a")) as results:
        error = await failure_of(results)

    assert type(error) is CallFailed
    assert isinstance(error.__cause__, StopIteration)


async def test_a_call_that_awaits_what_somebody_cancelled_has_failed(
    anyio_backend_name: str, feed: Any
) -> None:
    """That cancellation is neither the operator's nor meant for it. trio has no such thing."""
    if anyio_backend_name == "trio":
        return

    async def awaits_a_cancelled_task(value: str) -> list[str]:
        task = asyncio.ensure_future(asyncio.sleep(5))
        task.cancel()
        await task
        return [value]

    async with open_operator(OperatorConfig(), awaits_a_cancelled_task, feed("a")) as results:
        error = await failure_of(results)

    assert type(error) is CallFailed
    assert isinstance(error.__cause__, asyncio.CancelledError)


async def test_a_function_that_is_no_coroutine_function_is_told_so(feed: Any) -> None:
    """The error says what was expected."""
    async with open_operator(OperatorConfig(), str.upper, feed("a")) as results:
        error = await failure_of(results)

    assert type(error) is CallFailed
    assert "expected an awaitable from fn, got 'A'; is it an `async def`?" in str(error)


@pytest.mark.parametrize("given", [None, "text", b"bytes", 7])
async def test_what_a_call_returns_must_be_a_collection(feed: Any, given: Any) -> None:
    """Text is no collection of results."""

    async def returns(value: str) -> Any:
        return given

    async with open_operator(OperatorConfig(), returns, feed("a")) as results:
        error = await failure_of(results)

    assert type(error) is InvalidResult
    assert error.record == Record("a")


async def test_a_collection_is_read_whole_before_its_first_result_comes_out(feed: Any) -> None:
    """One that raises half-way gives nothing."""

    async def breaks(value: str) -> Any:
        return (1 / zero for zero in (1, 0))

    async with open_operator(OperatorConfig(), breaks, feed("a")) as results:
        error = await failure_of(results)
        figures = results.statistics()

    assert type(error) is CallFailed
    assert isinstance(error.__cause__, ZeroDivisionError)
    assert figures == Statistics(calls=1, max_in_flight=1)


async def test_a_failure_is_raised_at_once_even_if_finished_results_wait(
    feed: Any, sleeper: Any, now: Any
) -> None:
    """It is raised when it is decided, not in its turn; nothing follows."""
    source = feed("a5", "b1", "c1", "x!", "d9")

    async with open_operator(OperatorConfig("ordered"), sleeper, source) as results:
        error = await failure_of(results)
        at = now()
        after = results.take_ready(9)

    assert type(error) is CallFailed
    assert error.record == Record("x!")
    assert at == 0
    assert after == []


async def test_what_was_finished_before_a_failure_and_not_taken_is_dropped(
    feed: Any, sleeper: Any
) -> None:
    """From the decision on nothing is emitted, also to a consumer that was elsewhere."""
    async with open_operator(OperatorConfig(), sleeper, feed("a1", 2, "x!")) as results:
        await anyio.sleep(3)
        error = await failure_of(results)

    assert error.record == Record("x!")


async def test_running_calls_are_cancelled_at_the_failure(feed: Any, sleeper: Any) -> None:
    """Not when the consumer leaves, maybe much later."""
    async with open_operator(OperatorConfig(), sleeper, feed("a9", "b9", 2, "x!", "c9")) as results:
        await anyio.sleep(7)
        cancelled = sorted(sleeper.cancelled)
        await failure_of(results)

    assert cancelled == [(2, "a9"), (2, "b9")]


async def test_of_two_failures_the_first_counts(feed: Any) -> None:
    """A later one changes nothing."""

    async def fails(value: str) -> list[str]:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(float(value))
        raise ValueError(value)

    async with open_operator(OperatorConfig(), fails, feed("3", "1", "2")) as results:
        await anyio.sleep(9)
        error = await failure_of(results)

    assert error.record == Record("1")


async def test_a_result_after_the_failure_is_dropped(feed: Any) -> None:
    """Also that of a call which swallows its cancellation, and ends while it is waited for."""

    async def stubborn_or_broken(value: str) -> list[str]:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(float(value))
        return [value] if value == "3" else [value[5]]

    async with open_operator(OperatorConfig(), stubborn_or_broken, feed("3", "1")) as results:
        error = await failure_of(results)
        await anyio.sleep(5)
        late = results.take_ready(9)

    assert isinstance(error.__cause__, IndexError)
    assert late == []


async def test_the_same_error_comes_again_also_after_leaving(feed: Any, sleeper: Any) -> None:
    """The very object; and its traceback does not grow with every read."""
    lengths = []

    async with open_operator(OperatorConfig(), sleeper, feed("x!")) as results:
        errors = [await failure_of(results) for _ in range(3)]
    for _ in range(3):
        errors.append(await failure_of(results))
        lengths.append(_traceback_length(errors[-1]))

    assert all(error is errors[0] for error in errors)
    assert len(set(lengths)) == 1


def _traceback_length(error: BaseException) -> int:
    length, traceback = 0, error.__traceback__
    while traceback is not None:
        length, traceback = length + 1, traceback.tb_next
    return length


async def test_an_error_of_the_source_comes_unchanged_after_all_that_was_read(
    feed: Any, sleeper: Any, now: Any
) -> None:
    """What came before it is decided and emitted; then the same object is raised, each time."""
    reason = OSError("source")
    out: list[Element] = []

    async with open_operator(OperatorConfig(), sleeper, feed("a3", "b1", reason)) as results:
        error = await failure_of(results, out)
        at = now()
        again = await failure_of(results)

    assert out == [Record("a3"), Record("b1")]
    assert at == 3
    assert error is again is reason


async def test_a_failure_while_the_rest_is_drained_comes_before_the_sources_error(
    feed: Any, sleeper: Any
) -> None:
    """The earlier decided of two wins, and the source's is decided when all is out."""
    async with open_operator(OperatorConfig(), sleeper, feed("a3", "x!", OSError())) as results:
        error = await failure_of(results)

    assert type(error) is CallFailed


async def test_something_that_is_no_element_is_an_error_of_the_source(
    feed: Any, sleeper: Any
) -> None:
    """The message says what to do; what was read before comes out."""
    out: list[Element] = []

    async with open_operator(OperatorConfig(), sleeper, feed("a1", b"raw", "b1")) as results:
        error = await failure_of(results, out)

    assert out == [Record("a1")]
    assert type(error) is TypeError
    assert str(error) == (
        "expected an element of the stream (Record, Watermark, ...), got b'raw' (bytes); "
        "wrap plain values in Record"
    )


class Interrupted:
    """Raises where it is told to: in the call, the handler, the callback form or a supplier."""

    def __init__(self, where: str, kind: type[BaseException]) -> None:
        self._where = where
        self._kind = kind
        if where in {"invoke", "supplier"}:
            self.async_invoke = self._invoke

    async def __call__(self, value: str) -> list[str]:
        """Raise, or never answer."""
        if self._where == "call":
            raise self._kind
        await anyio.sleep_forever()
        return []

    def timeout(self, value: str) -> list[str]:
        """Raise."""
        raise self._kind

    def _invoke(self, value: str, result: ResultFuture) -> None:
        if self._where == "invoke":
            raise self._kind
        result.complete_with(self._supply)

    def _supply(self) -> list[str]:
        raise self._kind


@pytest.mark.parametrize("where", ["call", "handler", "invoke", "supplier", "source"])
@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_keyboard_interrupt_and_system_exit_pass(
    anyio_backend: Any, feed: Any, kind: type[BaseException], where: str
) -> None:
    """They are nobody's outcome: they end the program."""
    config = OperatorConfig(timeout=3 if where == "handler" else None)
    source = feed(kind()) if where == "source" else feed("a")

    async def main() -> None:
        async with open_operator(config, Interrupted(where, kind), source) as results:
            await anext(results)

    name, options = anyio_backend
    with pytest.raises(kind):
        anyio.run(main, backend=name, backend_options=options)
