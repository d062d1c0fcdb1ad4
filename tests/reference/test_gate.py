"""The gate of the reference: what no scenario can show, and what several operators share."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import pytest

from asyncwait.conformance.harness import run_virtual
from asyncwait.reference import open_operator
from asyncwait.spec import (
    Cache,
    CallFailed,
    InvalidConfig,
    OperatorConfig,
    OperatorError,
    Record,
    Retry,
)
from asyncwait.spec.limits import (
    Adaptive,
    Breaker,
    BreakerOpen,
    Budget,
    BudgetSpent,
    Cost,
    CostMistold,
    CostUnknown,
    InFlight,
    Limit,
)


class Played:
    def __init__(self) -> None:
        self.results: list[Any] = []
        self.starts: list[tuple[Any, int]] = []
        self.error: BaseException | None = None


async def _values(values: Any) -> AsyncIterator[Record]:
    for value in values:
        yield value if isinstance(value, Record) else Record(value)


async def _play(config: OperatorConfig, values: Any, fn: Callable[[Any], Any]) -> Played:
    played, began = Played(), anyio.current_time()

    async def noted(value: Any) -> Any:
        played.starts.append((value, round((anyio.current_time() - began) * 1000)))
        return await fn(value)

    try:
        noted.__dict__.update(fn.__dict__)
        async with open_operator(config, noted, _values(values)) as results:
            async for each in results:
                assert isinstance(each, Record)
                played.results.append(each.value)
    except Exception as error:
        played.error = error
    return played


def _played(values: Any, fn: Callable[[Any], Any], **options: Any) -> Played:
    async def main(_spin: Any) -> Any:
        return await _play(OperatorConfig(**options), values, fn)

    played: Played = run_virtual(main, "asyncio")
    return played


async def _long(value: Any) -> list[Any]:
    await anyio.sleep(1)
    return [value]


async def _slow(value: Any) -> list[Any]:
    await anyio.sleep(0.05)
    return [value]


@pytest.mark.parametrize(
    ("limit", "fn", "second"),
    [(InFlight(1), _slow, 50), (Limit(calls=1, per=0.2, latency=0), _long, 200)],
    ids=["in-flight", "window"],
)
def test_two_operators_share_a_limit_object(limit: Any, fn: Any, second: int) -> None:
    async def main(_spin: Any) -> Any:
        found: list[Any] = []

        async def one(name: str) -> None:
            found.extend((await _play(OperatorConfig(limits=[limit]), [name], fn)).starts)

        async with anyio.create_task_group() as group:
            group.start_soon(one, "a")
            group.start_soon(one, "b")
        return found

    assert sorted(at for _, at in run_virtual(main, "asyncio")) == [0, second]


def test_a_budget_stays_spent_for_the_next_operator() -> None:
    budget = Budget(2)

    first = _played("ab", _slow, limits=[budget])
    second = _played("cd", _slow, limits=[budget])

    assert first.results == ["a", "b"]
    assert isinstance(second.error, BudgetSpent)
    assert second.error.stopped == ("c",)
    assert second.starts == []


@pytest.mark.parametrize("inputs", ["ab", "abc"], ids=["nothing-waits", "a-record-waits"])
def test_a_spent_budget_reports_a_record_before_its_back_off_is_over(inputs: str) -> None:
    began, told = [0.0], list[tuple[float, Any]]()

    async def fn(value: str) -> list[str]:
        began[0] = began[0] or anyio.current_time()
        await anyio.sleep(2 if value == "b" else 1)
        raise ConnectionError

    def failure(value: str, error: OperatorError) -> list[str]:
        told.append((anyio.current_time() - began[0], error.__cause__))
        return [value.upper()]

    fn.failure = failure  # type: ignore[attr-defined]
    played = _played(inputs, fn, limits=[Budget(2, then="stop")], retry=Retry(initial=60))

    assert (played.results, played.error) == (["A", "B"], None)
    assert [at for at, _ in told] == pytest.approx([1, 2])
    assert {type(cause) for _, cause in told} == {BudgetSpent}
    assert {type(cause.__cause__) for _, cause in told} == {ConnectionError}


def test_a_hit_needs_no_permit_and_a_load_needs_one() -> None:
    cache = Cache(9, 99)
    played = _played("abab", _slow, limits=[InFlight(1)], cache=cache, timeout=0.08)

    assert played.starts == [("a", 0), ("b", 50)]
    assert sorted(played.results) == ["a", "a", "b", "b"]
    assert played.error is None


@pytest.mark.parametrize("used", [-1, float("nan"), "1", {"cost": None}], ids=repr)
def test_an_invalid_cost_fails_the_record_without_another_attempt(used: Any) -> None:
    async def fn(value: Any) -> Any:
        return Cost([value], used)

    played = _played("a", fn, limits=[Budget(9, "cost", float)], retry=Retry(initial=0.01))
    told = _played([1], fn, limits=[Budget(9, "cost", float)], retry=Retry(initial=0.01))

    assert isinstance(played.error, CallFailed)
    assert isinstance(played.error.__cause__, CostUnknown)
    assert isinstance(told.error, CallFailed)
    assert isinstance(told.error.__cause__, CostMistold)
    assert len(told.starts) == 1


def test_a_stream_ends_when_a_breaker_was_open_for_too_long() -> None:
    async def fn(_value: Any) -> Any:
        raise ConnectionError

    breaker = Breaker(failures=1, over=9, rest=0.1, longest=0.25)
    played = _played("a", fn, limits=[breaker], retry=Retry(max_attempts=9, initial=0.01))

    assert isinstance(played.error, BreakerOpen)
    assert [at for _, at in played.starts] == [0, 100, 200]


@pytest.mark.parametrize("limit", [Adaptive(), Budget(2, path="costs")], ids=["adaptive", "file"])
def test_what_the_reference_does_not_count_is_refused(limit: Any) -> None:
    played = _played("a", _slow, limits=[limit])

    assert isinstance(played.error, InvalidConfig)
