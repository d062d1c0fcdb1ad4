"""The callback form: who completes what, when, from where, and what is raised besides."""

import asyncio
import itertools
import threading
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from operators import Callbacks, Source, block, failure_of, in_threads, read_all, read_timed

from asyncwait.spec import (
    CallFailed,
    InvalidConfig,
    InvalidResult,
    OpenOperator,
    OperatorConfig,
    Record,
    ResultFuture,
)

pytestmark = pytest.mark.anyio

WAYS: dict[str, Callable[[ResultFuture], None]] = {
    "complete": lambda result: result.complete(["completed"]),
    "with": lambda result: result.complete_with(lambda: ["supplied"]),
    "exceptionally": lambda result: result.complete_exceptionally(LookupError("given")),
}
ORDERS = list(itertools.permutations(WAYS))


async def outcome_of(results: Any) -> Any:
    """The output of a record, or the cause of its failure."""
    try:
        return (await anext(results)).value
    except CallFailed as error:
        return repr(error.__cause__)


def expected(order: tuple[str, ...]) -> str:
    """The outcome of a record on which the first way counts."""
    outcomes = {"complete": "completed", "with": "supplied"}
    return outcomes.get(order[0], "LookupError('given')")


@pytest.mark.parametrize("how", ["complete", "with"])
async def test_what_a_call_raises_after_its_completion_fails_the_operator(
    open_operator: OpenOperator, how: str
) -> None:
    """An exception that a call raises never vanishes (FAIL-1)."""
    reason = ValueError("after")

    def completes_and_raises(value: str, result: ResultFuture) -> None:
        WAYS[how](result)
        raise reason

    fn = Callbacks(completes_and_raises)
    async with open_operator(OperatorConfig(), fn, Source("a", "b")) as results:
        error = await failure_of(results)

    assert type(error) is CallFailed
    assert str(error) == "Record 'a': the call failed: ValueError('after')"
    assert error.__cause__ is reason
    assert list(fn.futures) == ["a"]


async def test_a_call_that_is_completed_with_an_error_and_raises_another_fails_by_one_of_them(
    open_operator: OpenOperator,
) -> None:
    """Both belong to the record, and come in one instant."""
    given, raised = ValueError("given"), ValueError("raised")

    def fails_twice(value: str, result: ResultFuture) -> None:
        result.complete_exceptionally(given)
        raise raised

    async with open_operator(OperatorConfig(), Callbacks(fails_twice), Source("a")) as results:
        error = await failure_of(results)

    assert type(error) is CallFailed
    assert error.__cause__ in {given, raised}


async def test_what_a_call_raises_after_its_deadline_is_nobodys_failure(
    open_operator: OpenOperator,
) -> None:
    """The deadline has decided the record."""

    def blocks_and_raises(value: str, result: ResultFuture) -> None:
        block(5)
        raise ValueError(value)

    fn: Any = Callbacks(blocks_and_raises)
    fn.timeout = lambda value: [value.upper()]
    async with open_operator(OperatorConfig(timeout=3), fn, Source("a")) as results:
        assert await read_timed(results) == [(5, "A")]


async def test_a_cancellation_that_a_call_makes_up_is_an_error(
    open_operator: OpenOperator,
) -> None:
    """Nobody has cancelled it (FAIL-5)."""
    reason = asyncio.CancelledError("made up")

    def raises(value: str, result: ResultFuture) -> None:
        raise reason

    async with open_operator(OperatorConfig(), Callbacks(raises), Source("a")) as results:
        error = await failure_of(results)

    assert type(error) is CallFailed
    assert error.__cause__ is reason


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
async def test_the_first_completion_counts_in_every_order_inside_the_call(
    open_operator: OpenOperator, order: tuple[str, ...]
) -> None:
    """All others are ignored in silence (RES-4)."""

    def all_ways(value: str, result: ResultFuture) -> None:
        for way in order:
            WAYS[way](result)

    async with open_operator(OperatorConfig(), Callbacks(all_ways), Source("a")) as results:
        assert await outcome_of(results) == expected(order)


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
@pytest.mark.parametrize("threads", [False, True], ids=["on the loop", "from threads"])
async def test_the_first_completion_counts_in_every_order_after_the_call(
    open_operator: OpenOperator, order: tuple[str, ...], *, threads: bool
) -> None:
    """Also if each comes from a thread of its own, in one instant."""
    fn = Callbacks()

    async with open_operator(OperatorConfig(), fn, Source("a")) as results:
        await anyio.sleep(1)
        jobs = [lambda way=way: WAYS[way](fn.futures["a"]) for way in order]
        if threads:
            in_threads(*jobs)
        else:
            for job in jobs:
                job()
        assert await outcome_of(results) == expected(order)


async def test_a_supplier_runs_on_the_operators_loop(open_operator: OpenOperator) -> None:
    """In its thread, where the loop is known, wherever `complete_with` was called."""
    seen: list[tuple[Any, float]] = []

    def supply() -> list[str]:
        seen.append((threading.current_thread(), anyio.current_time()))
        return ["supplied"]

    fn = Callbacks()
    async with open_operator(OperatorConfig(), fn, Source("a")) as results:
        await anyio.sleep(1)
        in_threads(lambda: fn.futures["a"].complete_with(supply))
        assert seen == []
        assert await read_timed(results) == [(1, "supplied")]

    assert seen == [(threading.current_thread(), 1)]


def raising(error: BaseException) -> Callable[[], Any]:
    """A supplier that raises."""

    def supply() -> Any:
        raise error

    return supply


@pytest.mark.parametrize(
    "error", [ValueError("x"), StopIteration("x"), asyncio.CancelledError("x")], ids=repr
)
async def test_a_supplier_that_raises_is_a_failed_call(
    open_operator: OpenOperator, error: BaseException
) -> None:
    """Whatever it raises, the record is named."""
    fn = Callbacks(lambda _, result: result.complete_with(raising(error)))

    async with open_operator(OperatorConfig(), fn, Source("a")) as results:
        raised = await failure_of(results)

    assert type(raised) is CallFailed
    assert raised.record == Record("a")
    assert raised.__cause__ is error


async def test_a_supplier_that_gives_none_is_an_invalid_result(
    open_operator: OpenOperator,
) -> None:
    """It is what a call would be told."""
    supply: Any = lambda: None  # noqa: E731 - its type is the mistake

    fn = Callbacks(lambda _, result: result.complete_with(supply))
    async with open_operator(OperatorConfig(), fn, Source("a")) as results:
        raised = await failure_of(results)

    assert type(raised) is InvalidResult
    assert raised.record == Record("a")


async def test_a_supplier_whose_completion_does_not_count_is_not_asked(
    open_operator: OpenOperator,
) -> None:
    """The record is decided: there is nothing to supply."""
    fn = Callbacks()

    async with open_operator(OperatorConfig(), fn, Source("a", 5)) as results:
        await anyio.sleep(1)
        fn.futures["a"].complete(["first"])
        fn.futures["a"].complete_with(lambda: pytest.fail("nobody asked"))
        assert await read_all(results) == ["first"]
        fn.futures["a"].complete_with(lambda: pytest.fail("nobody asked"))


async def test_a_supplier_may_complete_its_own_record(open_operator: OpenOperator) -> None:
    """That is one more completion, and comes too late."""

    def invoke(value: str, result: ResultFuture) -> None:
        def supply() -> list[str]:
            result.complete(["inner"])
            return ["outer"]

        result.complete_with(supply)

    async with open_operator(OperatorConfig(), Callbacks(invoke), Source("a")) as results:
        assert await read_all(results) == ["outer"]


@pytest.mark.parametrize("given", ["line is down", None, ValueError], ids=repr)
async def test_an_error_that_is_none_is_told_so(open_operator: OpenOperator, given: Any) -> None:
    """The record fails all the same: something was wrong with it."""
    fn = Callbacks(lambda _, result: result.complete_exceptionally(given))

    async with open_operator(OperatorConfig(), fn, Source("a")) as results:
        error = await failure_of(results)

    assert type(error) is CallFailed
    assert isinstance(error.__cause__, TypeError)
    assert str(error.__cause__) == f"complete_exceptionally() takes an exception, got {given!r}"


async def test_an_answer_in_time_counts_although_the_loop_is_blocked_past_the_deadline(
    open_operator: OpenOperator,
) -> None:
    """The clock that matters is the call's, and it stopped when the call answered (TIME-10)."""

    def answers_and_blocks(value: str, result: ResultFuture) -> None:
        in_threads(lambda: result.complete([value]))
        block(5)

    fn = Callbacks(answers_and_blocks)
    async with open_operator(OperatorConfig(timeout=3), fn, Source("a")) as results:
        assert await read_timed(results) == [(5, "a")]
        assert results.statistics().timeouts == 0


async def test_an_answer_in_time_counts_although_somebody_else_blocks_the_loop(
    open_operator: OpenOperator,
) -> None:
    """Also an error, and also one that comes from a thread."""
    fn = Callbacks()

    async with open_operator(OperatorConfig(timeout=3), fn, Source("a", "b")) as results:
        await anyio.sleep(1)
        in_threads(
            lambda: fn.futures["a"].complete_with(lambda: ["a"]),
            lambda: fn.futures["b"].complete_exceptionally(ValueError("b")),
        )
        block(5)
        error = await failure_of(results)

    assert type(error) is CallFailed
    assert error.record == Record("b")


async def test_a_late_answer_does_not_count_although_nobody_has_looked_at_the_clock(
    open_operator: OpenOperator,
) -> None:
    """At its deadline the record is decided, whether the operator was busy or not (TIME-6)."""
    fn: Any = Callbacks()
    fn.timeout = lambda value: [value.upper()]

    async with open_operator(OperatorConfig(timeout=3), fn, Source("a")) as results:
        await anyio.sleep(1)
        block(5)
        in_threads(lambda: fn.futures["a"].complete(["late"]))
        assert await read_timed(results) == [(6, "A")]


async def test_a_coroutine_function_is_no_callback_form(open_operator: OpenOperator) -> None:
    """Nobody would await it."""

    class Mixed:
        async def async_invoke(self, value: str, result: ResultFuture) -> None:
            result.complete([value])

    with pytest.raises(InvalidConfig, match=r"^fn\.async_invoke must be a plain function: "):
        open_operator(OperatorConfig(), Mixed(), Source("a"))
