"""Promises of an operator that no rule of the suite judges."""

from collections.abc import AsyncIterator, Generator, Iterator
from contextvars import ContextVar
from typing import Any

import anyio
import pytest
from operators import EVERY, Sleeper, Source, echo, failure_of, read_all, shown, turns

from asyncwait.backends import threads
from asyncwait.spec import (
    CallFailed,
    InvalidConfig,
    OpenOperator,
    OperatorConfig,
    Record,
    Retry,
)

pytestmark = pytest.mark.anyio

REQUEST: ContextVar[str] = ContextVar("REQUEST", default="none")


@pytest.fixture(autouse=True)
def _opened() -> Generator[None]:
    token = REQUEST.set("opened")
    yield
    REQUEST.reset(token)


@pytest.mark.parametrize("name", ["config", "fn", "elements", "restore"])
@pytest.mark.parametrize("operator", [*EVERY, "threads"])
def test_a_wrong_argument_is_refused_by_name(operator: str, name: str) -> None:
    opens: Any = {**EVERY, "threads": threads.open_operator}[operator]
    arguments: dict[str, Any] = {"config": OperatorConfig(), "fn": echo, "elements": Source("a")}

    with pytest.raises(InvalidConfig, match=f"^{name} must be "):
        opens(**arguments | {name: "something else"})


@pytest.mark.all_profiles
@pytest.mark.parametrize("attempts", [1, 2])
async def test_a_copy_that_raises_is_a_failed_call(
    open_operator: OpenOperator, attempts: int
) -> None:
    reason = ValueError("no copy")
    errors = [reason]

    def copy(value: str) -> str:
        if errors:
            raise errors.pop()
        return value

    config = OperatorConfig(copy=copy, retry=Retry(max_attempts=attempts))
    async with open_operator(config, echo, Source("a")) as results:
        if attempts > 1:
            assert await read_all(results) == ["a"]
            return
        error: Any = await failure_of(results)
    assert (type(error), error.record, error.__cause__) == (CallFailed, Record("a"), reason)


@pytest.mark.parametrize("is_left", [False, True])
async def test_a_source_has_one_context_which_the_consumer_does_not_see(
    open_operator: OpenOperator, *, is_left: bool
) -> None:
    seen: list[str] = []

    async def source() -> AsyncIterator[Record]:
        token = REQUEST.set("source")
        try:
            for name in "ab":
                yield Record(name)
                seen.append(REQUEST.get())
        finally:
            REQUEST.reset(token)
            seen.append("closed")

    async with open_operator(OperatorConfig(capacity=1), echo, source()) as results:
        async for _ in results:
            assert REQUEST.get() == "opened"
            if is_left:
                break

    assert {*seen[:-1]} <= {"source"}
    assert seen[-1] == "closed"


class Once(list[Any]):
    """A list of results that may be read once."""

    def __iter__(self) -> Iterator[Any]:
        assert not hasattr(self, "is_read")
        self.is_read = True
        return super().__iter__()


async def test_a_list_of_results_is_read_once_and_may_be_filled_again(
    open_operator: OpenOperator,
) -> None:
    held: list[Once] = []

    async def fn(value: str) -> list[Any]:
        await anyio.sleep(float(value))
        for past in held:
            past[:] = ["filled again"]
        held.append(Once([value]))
        return held[-1]

    async with open_operator(OperatorConfig(), fn, Source("3", "1", "2")) as results:
        assert await read_all(results) == ["3", "1", "2"]


@pytest.mark.all_profiles
async def test_a_key_that_is_equal_to_nothing_is_the_same_key_as_itself(
    open_operator: OpenOperator,
) -> None:
    nan, seen = float("nan"), list[str]()

    async def fn(value: str) -> list[str]:
        seen.append(value)
        await anyio.sleep(1)
        seen.append(f"{value} ended")
        return [value]

    records = [Record(value, key=nan) for value in "ab"]
    async with open_operator(OperatorConfig("key-ordered"), fn, Source(*records)) as results:
        assert await read_all(results) == ["a", "b"]
    assert seen == ["a", "a ended", "b", "b ended"]


@pytest.mark.all_profiles
async def test_a_predicate_is_asked_once_about_each_outcome_that_may_be_repeated(
    open_operator: OpenOperator,
) -> None:
    asked: list[object] = []

    async def fn(value: str) -> list[str]:
        raise ValueError(value)

    def on_error(error: BaseException) -> bool:
        asked.append(error)
        return True

    config = OperatorConfig(retry=Retry(max_attempts=3, on_error=on_error))
    async with open_operator(config, fn, Source("a")) as results:
        await failure_of(results)
    assert len(asked) == len({*map(id, asked)}) == 2


@pytest.mark.parametrize("late", range(7))
async def test_a_wait_that_is_cancelled_at_any_turn_loses_nothing(
    open_operator: OpenOperator, late: int
) -> None:
    values = [f"r{number}" for number in range(1, 8)]
    got: list[Any] = []
    began = anyio.current_time()

    async def cancel(scope: anyio.CancelScope, due: float) -> None:
        await anyio.sleep_until(due)
        await turns(late)
        scope.cancel()

    config = OperatorConfig(capacity=len(values))
    async with (
        open_operator(config, Sleeper(), Source(*values)) as results,
        anyio.create_task_group() as group,
    ):
        for number in range(1, 8):
            with anyio.CancelScope() as scope:
                group.start_soon(cancel, scope, began + number)
                got.append(shown(await anext(results)))
        got += await read_all(results)
    assert got == values
