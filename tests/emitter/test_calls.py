"""How the function is called: in which order, in which context, and who learns what it gave."""

import asyncio
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

import anyio
import pytest
from operators import Callbacks, Sleeper, Source, failure_of, in_threads, read_timed

from asyncwait.backends.emitter import open_operator, ordered_wait, unordered_wait
from asyncwait.spec import OperatorConfig, Record, TooManyAbandonedCalls

pytestmark = pytest.mark.anyio

PLACE: ContextVar[str] = ContextVar("PLACE", default="nowhere")


async def test_calls_begin_in_the_order_of_their_records() -> None:
    """On trio too, which begins tasks in any order."""
    began: list[int] = []

    async def fn(value: int) -> list[int]:
        began.append(value)
        await anyio.sleep(1)
        return [value]

    source = Source(*map(Record, range(50)))
    async with open_operator(OperatorConfig("unordered", 50), fn, source) as results:
        assert len([element async for element in results]) == 50

    assert began == list(range(50))


async def test_each_call_sees_the_context_in_which_the_operator_was_opened() -> None:
    """What a call sets, or the body sets later, no call sees."""
    seen: list[str] = []

    async def fn(value: str) -> list[str]:
        seen.append(PLACE.get())
        PLACE.set(value)
        return [value]

    token = PLACE.set("opened")
    async with open_operator(OperatorConfig(), fn, Source("a", 1, "b", 1, "c")) as results:
        PLACE.set("body")
        out = [element async for element in results]
    assert PLACE.get() == "body"
    PLACE.reset(token)

    assert out == [Record("a"), Record("b"), Record("c")]
    assert seen == ["opened"] * 3


async def test_an_answer_from_a_thread_wakes_the_emitter() -> None:
    """At once, and the first one counts."""
    fn = Callbacks()

    async with open_operator(OperatorConfig(), fn, Source("a", "b")) as results:
        await anyio.sleep(1)
        in_threads(
            lambda: fn.futures["b"].complete(["b1"]),
            lambda: fn.futures["a"].complete_with(lambda: ["a1", "a2"]),
            lambda: fn.futures["a"].complete(["a3"]),
        )
        assert await read_timed(results) == [(1, "a1"), (1, "a2"), (1, "b1")]


async def test_a_cancelled_call_that_makes_up_a_cancellation_ends_nothing_else() -> None:
    """On asyncio no scope takes such an error for its own; the operator goes on."""

    class Stubborn(Sleeper):
        async def __call__(self, value: str) -> list[str]:
            with suppress(anyio.get_cancelled_exc_class()):
                return await super().__call__(value)
            raise asyncio.CancelledError(value)

        def timeout(self, value: str) -> list[str]:
            return [f"no {value}"]

    config = OperatorConfig(timeout=2)
    async with open_operator(config, Stubborn(), Source("a9", 5, "b1")) as results:
        assert await read_timed(results) == [(2, "no a9"), (6, "b1")]


async def test_too_many_calls_that_run_on_are_told_with_their_number() -> None:
    """No record is to blame, and the message says what may be."""
    fn: Any = Sleeper()
    fn.clean_up = 50
    fn.timeout = lambda value: [value]

    config = OperatorConfig("ordered", 1, 1)
    async with open_operator(config, fn, Source("a9", "b9", "c9")) as results:
        error = await failure_of(results)

    assert type(error) is TooManyAbandonedCalls
    assert str(error) == (
        "2 cancelled calls run on, and the capacity is 1; does fn swallow its cancellation?"
    )


@pytest.mark.parametrize(
    ("wait", "expected"), [(ordered_wait, [3, 1, 2]), (unordered_wait, [1, 2, 3])]
)
async def test_plain_values_come_out_in_either_mode(wait: Any, expected: list[int]) -> None:
    """Without any elements."""

    async def fn(value: int) -> int:
        await anyio.sleep(value)
        return value

    async with wait([3, 1, 2], fn) as results:
        assert [result async for result in results] == expected
