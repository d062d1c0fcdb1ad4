"""Context variables on every shipped operator: who sees what was set where."""

import threading
from collections.abc import AsyncIterator, Awaitable, Generator
from contextvars import ContextVar, copy_context
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest
from operators import Source

from asyncwait.spec import OpenOperator, OperatorConfig, Record, ResultFuture, Retry

pytestmark = pytest.mark.anyio

REQUEST: ContextVar[str] = ContextVar("REQUEST", default="none")


@pytest.fixture(autouse=True)
def _opened() -> Generator[None]:
    """Set the variable round each test, in which it is run."""
    token = REQUEST.set("opened")
    yield
    REQUEST.reset(token)


class Looking:
    """Notes what each call sees, and sets something else.

    Args:
        takes: seconds of each call.
    """

    def __init__(self, takes: float = 1) -> None:
        self.takes = takes
        self.seen: list[str] = []

    def look(self, value: Any) -> None:
        """Note it, and set the value."""
        self.seen.append(REQUEST.get())
        REQUEST.set(value)

    async def __call__(self, value: Any) -> list[Any]:
        """Look, wait, and give what is set then."""
        self.look(value)
        await anyio.sleep(self.takes)
        return [REQUEST.get()]


async def out_of(results: AsyncIterator[Any]) -> list[Any]:
    """The values of all records; the consumer sets something before each of them."""
    values: list[Any] = []
    while True:
        mine = f"consumer {len(values)}"
        REQUEST.set(mine)
        element = await anext(results, None)
        assert REQUEST.get() == mine
        if element is None:
            return values
        values.append(element.value)


@pytest.mark.parametrize("capacity", [1, 2, 5])
@pytest.mark.parametrize("takes", [0, 1])
async def test_each_call_sees_what_was_set_when_the_operator_was_opened(
    open_operator: OpenOperator, capacity: int, takes: float
) -> None:
    """Not what another call, the consumer or the source has set; then what it has set itself."""
    fn = Looking(takes)

    async def elements() -> AsyncIterator[Record]:
        for value in "abcdef":
            REQUEST.set("source")
            yield Record(value)

    async with open_operator(OperatorConfig("ordered", capacity), fn, elements()) as results:
        assert await out_of(results) == list("abcdef")

    assert fn.seen == ["opened"] * 6


async def test_what_open_has_set_is_seen_too(open_operator: OpenOperator) -> None:
    """`open` belongs to opening: whatever it sets up there is for all calls."""
    fn: Any = Looking()

    async def opening() -> None:
        await anyio.sleep(1)
        REQUEST.set("by open")

    fn.open = opening
    async with open_operator(OperatorConfig(), fn, Source("a", "b")) as results:
        assert await out_of(results) == ["a", "b"]

    assert fn.seen == ["by open"] * 2


async def test_it_is_entering_that_counts(open_operator: OpenOperator) -> None:
    """An operator may be made in one place and entered in another."""
    fn = Looking()

    REQUEST.set("made")
    made = open_operator(OperatorConfig(), fn, Source("a"))
    REQUEST.set("entered")
    async with made as results:
        assert await out_of(results) == ["a"]

    assert fn.seen == ["entered"]


async def test_callbacks_see_what_was_set_when_the_operator_was_opened(
    open_operator: OpenOperator,
) -> None:
    """Wherever and by whom they are completed: in the call, in another task, in a thread."""
    fn: Any = Looking()

    def invoke(value: str, future: ResultFuture) -> None:
        fn.look(value)
        match value:
            case "a":
                future.complete([value])
            case "b":
                thread = threading.Thread(target=future.complete, args=([value],))
                thread.start()
                thread.join()
            case _:
                future.complete_with(lambda: supply(value))

    def supply(value: str) -> list[str]:
        REQUEST.set("supplier")
        return [value]

    fn.async_invoke = invoke
    async with open_operator(OperatorConfig(capacity=1), fn, Source(*"cabcab")) as results:
        assert await out_of(results) == list("cabcab")

    assert fn.seen == ["opened"] * 6


async def test_what_a_client_s_own_task_has_set_is_no_context_of_a_call(
    open_operator: OpenOperator,
) -> None:
    """A client that completes from a task of its own does not become the parent of later calls."""
    fn: Any = Looking()
    futures: list[ResultFuture] = []
    fn.async_invoke = lambda value, future: (fn.look(value), futures.append(future))

    async def client() -> None:
        REQUEST.set("client")
        for _ in range(4):
            await anyio.sleep(1)
            futures.pop().complete(["x"])

    async with anyio.create_task_group() as group:
        group.start_soon(client)
        async with open_operator(OperatorConfig(capacity=1), fn, Source(*"abcd")) as results:
            assert await out_of(results) == ["x"] * 4

    assert fn.seen == ["opened"] * 4


class _Awaitable:
    """What is no coroutine, and looks when it is awaited."""

    def __init__(self, answer: Awaitable[Any]) -> None:
        self._answer = answer

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._answer.__await__()


async def test_awaitables_that_are_no_coroutines_have_contexts_of_their_own(
    open_operator: OpenOperator,
) -> None:
    """Whether something is set by the plain function or while it is awaited."""
    fn = Looking()
    seen: list[str] = []

    def plain(value: str) -> _Awaitable:
        seen.append(REQUEST.get())
        REQUEST.set("plain")
        return _Awaitable(fn(value))

    async with open_operator(OperatorConfig(capacity=1), plain, Source(*"abc")) as results:
        assert await out_of(results) == list("abc")

    assert seen == ["opened"] * 3
    assert fn.seen == ["plain"] * 3


async def test_a_thread_sees_what_its_call_has_set(open_operator: OpenOperator) -> None:
    """It begins in a copy of the context of the call, as always."""

    async def fn(value: str) -> list[str]:
        before = await anyio.to_thread.run_sync(REQUEST.get)
        REQUEST.set(value)
        return [before, await anyio.to_thread.run_sync(REQUEST.get)]

    async with open_operator(OperatorConfig(capacity=1), fn, Source("a", "b")) as results:
        assert await out_of(results) == ["opened", "a", "opened", "b"]


async def test_handlers_and_predicates_see_what_was_set_when_the_operator_was_opened(
    open_operator: OpenOperator,
) -> None:
    """Not what a call, or one of them, has set; each of them sets something."""
    seen: list[tuple[str, str]] = []

    def look(name: str, *given: Any) -> Any:
        seen.append((name, REQUEST.get()))
        REQUEST.set(name)
        return given[0] if given else None

    async def fn(value: str) -> list[str]:
        REQUEST.set("call")
        await anyio.sleep(100 if value == "late" else 1)
        if value == "raises":
            raise ValueError
        return [value]

    together: Any = fn
    together.timeout = lambda _: look("timeout")
    together.failure = lambda *_: look("failure", ["!"])
    retry = Retry(
        max_attempts=2,
        initial=1,
        on_error=lambda _: look("on_error", True),
        on_result=lambda _: look("on_result", False),
    )
    config = OperatorConfig("ordered", 2, 10, retry)
    source = Source("late", "raises", "fine", "late", "raises", "fine")
    async with open_operator(config, together, source) as results:
        assert await out_of(results) == ["!", "!", "fine"] * 2

    assert {name for name, _ in seen} == {"timeout", "failure", "on_error", "on_result"}
    assert {what for _, what in seen} == {"opened"}


async def test_what_is_set_while_results_are_read_is_seen_by_nobody(
    open_operator: OpenOperator,
) -> None:
    """Results may come from a generator, which runs when they are collected."""
    fn = Looking()

    def lazily(value: str) -> Generator[str]:
        REQUEST.set("reading")
        yield value

    async def generating(value: str) -> Any:
        fn.seen.append(REQUEST.get())
        await anyio.lowlevel.checkpoint()
        return lazily(value)

    async with open_operator(OperatorConfig(capacity=1), generating, Source(*"abc")) as results:
        assert await out_of(results) == list("abc")

    assert fn.seen == ["opened"] * 3


@pytest.mark.parametrize("leaves", [False, True])
async def test_a_generator_can_reset_what_it_has_set(
    open_operator: OpenOperator, *, leaves: bool
) -> None:
    """`ContextVar.reset` works in the context alone in which the variable was set."""
    seen: list[str] = []

    async def elements() -> AsyncIterator[Record]:
        for value in "abc":
            token = REQUEST.set(value)
            try:
                yield Record(value)
            finally:
                seen.append(REQUEST.get())
                REQUEST.reset(token)

    async with open_operator(OperatorConfig(capacity=1), Looking(), elements()) as results:
        assert (await anext(results)).value == "a"
        if not leaves:
            assert await out_of(results) == ["b", "c"]

    assert seen == list("abc")[: len(seen)]
    assert seen


async def test_open_and_close_share_the_context_of_the_consumer(
    open_operator: OpenOperator,
) -> None:
    """What one sets, the other can reset."""
    fn: Any = Looking()
    tokens: list[Any] = []
    fn.open = lambda: tokens.append(REQUEST.set("span"))
    fn.close = lambda: REQUEST.reset(tokens.pop())

    async with open_operator(OperatorConfig(), fn, Source("a")) as results:
        assert (await anext(results)).value == "a"
    assert REQUEST.get() == "opened"

    assert (fn.seen, tokens) == (["span"], [])


class _Awkward:
    """Is equal to nothing: to ask raises, as with an array."""

    def __eq__(self, other: object) -> bool:
        raise ValueError("ambiguous")

    __hash__ = object.__hash__


async def test_a_variable_may_hold_what_can_not_be_compared(open_operator: OpenOperator) -> None:
    """Nobody else's `==` may fail a call."""
    held: ContextVar[Any] = ContextVar("held")
    base = _Awkward()
    held.set(base)
    seen: list[Any] = []

    async def fn(value: str) -> list[str]:
        seen.append(held.get())
        held.set(_Awkward())
        return [value]

    async with open_operator(OperatorConfig(capacity=1), fn, Source(*"abc")) as results:
        assert [each.value async for each in results] == list("abc")

    assert [one is base for one in seen] == [True] * 3


async def test_a_variable_that_is_set_and_reset_is_no_difference(
    open_operator: OpenOperator,
) -> None:
    """As what traces calls does, which begins a span and ends it."""
    fn = Looking()

    async def traced(value: str) -> list[str]:
        fn.seen.append(REQUEST.get())
        token = REQUEST.set("span")
        try:
            await anyio.sleep(1)
        finally:
            REQUEST.reset(token)
        return [value]

    before = copy_context()
    async with open_operator(OperatorConfig(), traced, Source(*"abc")) as results:
        assert [each.value async for each in results] == list("abc")

    assert fn.seen == ["opened"] * 3
    assert copy_context()[REQUEST] == before[REQUEST]
