"""The plain form hides the elements of the contract and keeps what it promises."""

import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from typing import Any

import anyio
import pytest

from asyncwait.spec import (
    MODES,
    Element,
    InvalidConfig,
    InvalidResult,
    OperatorConfig,
    OperatorResults,
    Record,
    Snapshot,
    Statistics,
    Watermark,
)
from asyncwait.toolkit import (
    FunctionParts,
    PlainResults,
    PlainWait,
    collect_results,
    plain_wait,
    run_hook,
)


class OneAtATime:
    """The smallest operator: it reads, calls and hands out one record after the other."""

    def __init__(self, config: OperatorConfig, parts: FunctionParts, elements: Any) -> None:
        self.config = config
        self.parts = parts
        self.elements = elements
        self.ready: list[Element] = []
        self.error: Exception | None = None

    def __aiter__(self) -> AsyncIterator[Element]:
        return self

    async def __anext__(self) -> Element:
        if self.error is not None:
            raise self.error
        while not self.ready:
            await self._call(await anext(self.elements))
        return self.ready.pop(0)

    async def _call(self, record: Record) -> None:
        assert self.parts.call is not None
        returned: Any = None
        try:
            with anyio.move_on_after(self.config.timeout) as scope:
                returned = await self.parts.call(record.value)
            if scope.cancelled_caught and self.parts.timeout is not None:
                returned = self.parts.timeout(record.value)
            results = collect_results(record, returned)
        except Exception as error:
            self.error = error
            raise
        # A watermark between any two records, which no plain consumer should see.
        self.ready += [*(Record(result) for result in results), Watermark(0)]

    def statistics(self) -> Statistics:
        """Return nothing of interest."""
        return Statistics()


@asynccontextmanager
async def open_operator(
    config: OperatorConfig, fn: Any, elements: Any, restore: Snapshot | None = None
) -> AsyncGenerator[OperatorResults]:
    """Open the operator as the contract asks for."""
    assert restore is None
    parts = FunctionParts.of(fn)
    async with aclosing(elements):
        await run_hook(parts.open)
        yield OneAtATime(config, parts, elements)
        await run_hook(parts.close)


ordered_wait = plain_wait(open_operator, "ordered")


class Closable:
    """An asynchronous source that notes whether it was closed, and how often."""

    def __init__(self, values: list[Any]) -> None:
        self.values = values
        self.closed = 0

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        if not self.values:
            raise StopAsyncIteration
        return self.values.pop(0)

    async def aclose(self) -> None:
        """Note that it was closed."""
        self.closed += 1


async def echo(value: Any) -> Any:
    """Answer with the value itself."""
    return value


def outputs(wait: PlainWait, source: Any, fn: Any, **options: Any) -> list[Any]:
    """Return all that comes out."""

    async def main() -> list[Any]:
        async with wait(source, fn, **options) as results:
            return [result async for result in results]

    return anyio.run(main)


def failure(kind: type[Exception], source: Any, fn: Any, **options: Any) -> str:
    """Return the message of the error that the plain form fails with."""
    with pytest.raises(kind) as caught:
        outputs(ordered_wait, source, fn, **options)

    return str(caught.value)


@pytest.mark.parametrize("value", [None, "text", b"bytes", 0, [], [1, 2], {"k": 1}, ()])
def test_there_is_one_result_for_each_value_whatever_it_is(value: Any) -> None:
    """A list is a result here, and so is None."""
    assert outputs(ordered_wait, [value, value], echo) == [value, value]


def test_many_takes_a_collection_for_each_value() -> None:
    """None, one or several results."""
    source = [[], [1], (2, None), iter("ab")]

    assert outputs(ordered_wait, source, echo, many=True) == [1, 2, None, "a", "b"]


@pytest.mark.parametrize("value", [None, "text", b"bytes", {"k": 1}, 7])
def test_many_refuses_what_is_no_collection_of_results(value: Any) -> None:
    """A dict would lose its values, a str come out letter by letter."""
    assert failure(InvalidResult, [value], echo, many=True) == (
        f"value {value!r}: expected an iterable of results, got {value!r} "
        f"({type(value).__name__}); return [] for none and [result] for one"
    )


def slow(handler: Callable[[Any], Any]) -> Callable[[Any], Awaitable[Any]]:
    """Return a function that never answers, and has a timeout handler."""

    async def fn(value: Any) -> Any:
        await anyio.sleep_forever()

    fn.timeout = handler  # type: ignore[attr-defined]
    return fn


def test_the_handler_gives_one_result_in_place_of_the_late_one() -> None:
    """It follows the form of the function."""
    fn = slow(lambda value: [value])

    assert outputs(ordered_wait, [1, 2], fn, timeout=0.001) == [[1], [2]]
    assert outputs(ordered_wait, [1, 2], fn, timeout=0.001, many=True) == [1, 2]


def test_a_handler_that_gives_nothing_gives_nothing() -> None:
    """Its None is not taken for a result: the record has timed out."""
    message = failure(InvalidResult, [1], slow(lambda _: None), timeout=0.001)

    assert message.startswith("value 1: expected an iterable of results, got None (NoneType)")


def test_hooks_run_round_the_calls() -> None:
    """The plain form passes them on."""
    ran: list[Any] = []

    async def fn(value: Any) -> None:
        ran.append(value)

    fn.open = lambda: ran.append("open")  # type: ignore[attr-defined]
    fn.close = lambda: ran.append("close")  # type: ignore[attr-defined]

    outputs(ordered_wait, [1, 2], fn)

    assert ran == ["open", 1, 2, "close"]


def test_sources_may_be_asynchronous() -> None:
    """A generator, or anything that can be read with `async for`."""

    async def values() -> AsyncGenerator[int]:
        yield 1
        yield 2

    assert outputs(ordered_wait, values(), echo) == [1, 2]
    assert outputs(ordered_wait, Closable([1, 2]), echo) == [1, 2]


def test_the_source_is_closed_once_at_the_end() -> None:
    """Whoever opened it need not."""
    source = Closable([1])

    outputs(ordered_wait, source, echo)

    assert source.closed == 1


def test_the_source_is_closed_when_the_consumer_leaves_before_reading() -> None:
    """Even if nothing of it was read yet."""
    source = Closable([1])

    async def main() -> None:
        async with ordered_wait(source, echo):
            pass

    anyio.run(main)

    assert source.closed == 1


def test_the_source_is_closed_when_the_operator_does_not_open() -> None:
    """The function is wrong, the source was given away all the same."""
    source = Closable([1])
    broken = plain_wait(refuse, "ordered")

    with pytest.raises(InvalidConfig, match="no room"):
        outputs(broken, source, echo)

    assert source.closed == 1


@pytest.mark.parametrize("options", [{"fn": 7}, {"capacity": 0}, {"timeout": "soon"}], ids=str)
def test_the_source_is_closed_when_an_argument_is_wrong(options: dict[str, Any]) -> None:
    """It was given away with the others."""
    source = Closable([1])

    with pytest.raises(InvalidConfig):
        outputs(ordered_wait, source, **({"fn": echo} | options))

    assert source.closed == 1


@asynccontextmanager
async def refuse(
    config: OperatorConfig, fn: Any, elements: Any, restore: Snapshot | None = None
) -> AsyncGenerator[OperatorResults]:
    """Stand for an operator that can't be opened."""
    if restore is None:
        raise InvalidConfig("no room")
    yield OneAtATime(config, fn, elements)


def test_cancelling_a_wait_loses_no_result() -> None:
    """The stream goes on where it was, and has not ended."""

    async def main() -> list[Any]:
        gate = anyio.Event()

        class Gated(Closable):
            async def __anext__(self) -> Any:
                await gate.wait()
                return await super().__anext__()

        async with ordered_wait(Gated([1, 2]), echo) as results:
            with anyio.move_on_after(0) as scope:
                await anext(results)
            assert scope.cancelled_caught
            gate.set()
            return [result async for result in results]

    assert anyio.run(main) == [1, 2]


def test_a_failure_is_raised_again_by_each_further_read() -> None:
    """The stream does not seem to have ended well."""

    async def fails(value: Any) -> Any:
        raise ValueError(value)

    async def main() -> list[BaseException]:
        raised: list[BaseException] = []
        async with ordered_wait([1, 2], fails) as results:
            for _ in range(2):
                try:
                    await anext(results)
                except ValueError as error:
                    raised.append(error)
        return raised

    first, second = anyio.run(main)

    assert first is second


def test_a_plain_function_is_told_what_it_should_be() -> None:
    """The likely mistake is named."""
    message = failure(TypeError, [1], lambda value: value)

    assert message == "expected an awaitable from fn, got 1; is it an `async def`?"


class InCallbackForm:
    """Not for the plain form."""

    def async_invoke(self, value: Any, result: Any) -> None:
        """Never called."""


@pytest.mark.parametrize(
    ("source", "fn", "options", "message"),
    [
        (5, echo, {}, "source must be an iterable or async iterable, got 5 (int)"),
        (None, echo, {}, "source must be an iterable or async iterable, got None (NoneType)"),
        ([], None, {}, "fn must be a coroutine function or have async_invoke(), got None (NoneTyp"),
        (
            [],
            InCallbackForm(),
            {},
            "fn must be a coroutine function here; open_operator takes both",
        ),
        ([], echo, {"capacity": 0}, "capacity must be a whole number >= 1, got 0 (int)"),
        (
            [],
            echo,
            {"timeout": 0},
            "timeout must be a number of seconds > 0, or None for none, got",
        ),
    ],
)
def test_a_wrong_argument_is_refused(
    source: Any, fn: Any, options: dict[str, Any], message: str
) -> None:
    """It is told before anything is read or called."""
    assert failure(InvalidConfig, source, fn, **options).startswith(message)


def test_the_operator_is_set_up_as_it_is_said() -> None:
    """Each option is one of the configuration."""
    given: list[OperatorConfig] = []

    @asynccontextmanager
    async def watched(config: OperatorConfig, fn: Any, elements: Any) -> AsyncGenerator[Any]:
        given.append(config)
        async with open_operator(config, fn, elements) as results:
            yield results

    outputs(plain_wait(watched, "unordered"), [1], echo, capacity=7, timeout=5, max_held=9)

    assert given == [OperatorConfig("unordered", 7, 5, max_held=9)]


def test_the_figures_are_those_of_the_operator() -> None:
    """To be read at any moment."""

    async def main() -> Statistics:
        async with ordered_wait([1], echo) as results:
            return results.statistics()

    assert anyio.run(main) == Statistics()


KEYED = plain_wait(open_operator, "key-ordered")


def test_values_have_the_keys_that_the_key_function_gives() -> None:
    """And none in the other forms."""
    keys: list[Any] = []

    @asynccontextmanager
    async def watched(config: OperatorConfig, fn: Any, elements: Any) -> AsyncGenerator[Any]:
        async with open_operator(config, fn, _noted(elements)) as results:
            yield results

    async def _noted(elements: Any) -> AsyncGenerator[Record]:
        async with aclosing(elements):
            async for record in elements:
                keys.append(record.key)
                yield record

    assert outputs(plain_wait(watched, "key-ordered"), [1, 2, 3], echo, key=str) == [1, 2, 3]
    assert outputs(plain_wait(watched, "ordered"), [4], echo) == [4]
    assert keys == ["1", "2", "3", None]


@pytest.mark.parametrize(
    ("wait", "key", "message"),
    [
        (
            KEYED,
            None,
            "key must be a plain function that gives the key of a value, got None (NoneType)",
        ),
        (KEYED, "id", "key must be a plain function that gives the key of a value, got 'id' (str)"),
        (
            ordered_wait,
            str,
            "key must be None: only key_ordered_wait has keys, got <class 'str'> (type)",
        ),
    ],
)
def test_a_key_function_belongs_to_order_by_key(wait: PlainWait, key: Any, message: str) -> None:
    """The mistake is told, and the source is closed."""
    source = Closable([1])

    with pytest.raises(InvalidConfig) as caught:
        outputs(wait, source, echo, key=key)

    assert str(caught.value) == message
    assert source.closed == 1


def test_what_a_key_function_raises_is_an_error_of_the_source() -> None:
    """It is raised unchanged."""
    with pytest.raises(ZeroDivisionError):
        outputs(KEYED, [1, 0], echo, key=lambda value: 1 // value)


def test_the_forms_have_names() -> None:
    """They show in tracebacks and help texts."""
    names = [getattr(plain_wait(open_operator, mode), "__name__", "") for mode in MODES]

    assert names == ["ordered_wait", "unordered_wait", "key_ordered_wait"]


def test_the_plain_form_says_what_it_takes() -> None:
    """`help(ordered_wait)` tells of each argument, and of what it gives."""
    wait: Any = plain_wait(OneAtATime, "ordered")  # type: ignore[arg-type]

    shown = inspect.signature(wait)
    assert {f"{name}: " in wait.__doc__ for name in shown.parameters} == {True}
    assert shown.return_annotation == AbstractAsyncContextManager[PlainResults[Any]]
