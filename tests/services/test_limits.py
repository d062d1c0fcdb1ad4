"""Limits that an operator keeps to, on the virtual clock, against made-up services."""

from collections.abc import Awaitable
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

import anyio
import pytest
from counting import Counting, run
from operators import block

from asyncwait.backends import pool
from asyncwait.backends.services import (
    Adaptive,
    Budget,
    Cost,
    CostTooLarge,
    CostUnknown,
    InFlight,
    Limit,
)
from asyncwait.conformance.harness import SpinWatch, run_virtual
from asyncwait.spec import Batch, Cache, InvalidConfig, OperatorError, Retry, Statistics

LOOPS = pytest.mark.parametrize("loop", ["asyncio", "trio"])


@LOOPS
@pytest.mark.parametrize("seed", range(5))
def test_no_window_of_the_service_ever_holds_more_than_is_allowed(loop: str, seed: int) -> None:
    random = Random(seed)
    tokens = [random.randint(1, 30) for _ in range(400)]
    service = Counting(
        lambda: random.uniform(0, 0.02), lambda: random.choice([0.001, 0.3]), tokens.__getitem__
    )
    limits = [
        Limit(calls=20, per=1),
        Limit(cost=tokens.__getitem__, up_to=200, per=1, unit="tokens"),
    ]
    assert run(service, range(400), loop, limits=limits) == list(range(400))

    assert service.in_any(1) <= 200
    at = [when for when, _ in service.came]
    assert max(sum(start <= when < start + 1 for when in at) for start in at) <= 20
    took = at[-1] - at[0]
    assert max(400 / 20, sum(tokens) / 200) / took >= 0.8


@LOOPS
def test_the_true_cost_takes_the_place_of_the_estimate(loop: str) -> None:
    begun = []

    async def fn(value: int) -> Cost[int]:
        begun.append(anyio.current_time())
        await anyio.sleep(0.1)
        return Cost(value, 10)

    limits = [Limit(cost=lambda _: 50, up_to=100, per=60)]
    assert run(fn, range(6), loop, limits=limits) == list(range(6))
    assert begun == pytest.approx([0, 0, 0.1, 0.2, 0.3, 0.4])


def test_costs_are_told_by_unit() -> None:
    """Those of limits that a `Cost` does not name stay what was thought."""

    async def fn(value: int) -> Cost[int]:
        return Cost(value, {"USD": 0.5})

    limits = [
        Limit(cost=lambda _: 1, up_to=100, per=60, unit="tokens"),
        Budget(1.0, "USD", then="stop"),
    ]
    assert run(fn, range(9), limits=limits) == [0, 1]


@LOOPS
@pytest.mark.parametrize("wait", [pool.ordered_wait, pool.unordered_wait, pool.key_ordered_wait])
def test_an_attempt_never_waits_for_a_value_that_waits_for_it(wait: Any, loop: str) -> None:
    tried: set[int] = set()

    async def fn(value: int) -> int:
        await anyio.sleep(0.01)
        if value not in tried:
            tried.add(value)
            raise LookupError(value)
        return value

    keyed = {"key": lambda _: "all"} if wait is pool.key_ordered_wait else {"capacity": 1}
    for limit in (InFlight(2), Limit(calls=2, per=1), Adaptive(2)):
        tried.clear()
        got = run(fn, range(6), loop, wait, retry=Retry(initial=1), limits=[limit], **keyed)
        assert sorted(got) == list(range(6))


def test_a_call_that_never_may_begin_fails_and_no_other() -> None:
    errors = []

    def keep(value: int, error: OperatorError) -> int:
        errors.append(error)
        return -value

    costs = {0: 5, 1: 11, 2: "a lot", 3: -1, 4: 5}
    limits = [Limit(cost=lambda value: costs[value], up_to=10, per=1, unit="tokens")]
    options: dict[str, Any] = {"on_error": keep, "retry": Retry(), "limits": limits}
    assert run(Counting(), range(5), **options) == [0, -1, -2, -3, 4]

    causes = [error.__cause__ for error in errors]
    assert [type(cause) for cause in causes] == [CostTooLarge, CostUnknown, CostUnknown]
    assert str(causes[0]) == (
        "a call for 1 costs 11 tokens, and 10 are allowed in 1 s: it would never begin"
    )
    expected = "expected a number >= 0 as the cost of 2, got 'a lot'"
    assert str(causes[1]) == f"the cost of a call is unknown: {expected}"
    assert [error.attempts for error in errors] == [1, 1, 1]


def test_numbers_of_others_are_costs_too() -> None:
    costs: list[Any] = [Decimal(2), Fraction(5, 2)]
    limits = [Limit(cost=lambda value: costs[value], up_to=5, per=1)]
    assert run(Counting(), range(2), limits=limits) == [0, 1]


@pytest.mark.parametrize(
    "shares",
    [
        {"batch": Batch(max_size=5)},
        {"cache": Cache(max_keys=99, ttl=99)},
        {"copy": lambda value: value},
    ],
)
def test_calls_that_are_not_known_when_values_are_read_wait_themselves(
    shares: dict[str, Any],
) -> None:
    begun: list[float] = []

    async def fn(value: Any) -> Any:
        begun.append(anyio.current_time())
        return value

    limits = [Limit(calls=2, per=1, latency=0), Limit(cost=float, up_to=1000, per=1)]
    assert run(fn, range(20), limits=limits, **shares) == list(range(20))
    calls = 4 if "batch" in shares else 20
    assert len(begun) == calls
    assert all(later - at >= 1 for at, later in zip(begun, begun[2:], strict=False))

    budget = Budget(2, then="stop")
    most = 10 if "batch" in shares else 2
    assert run(fn, range(20), limits=[budget], **shares) == list(range(most))


def test_a_list_holds_no_more_than_a_limit_allows_for_one_call() -> None:
    sizes: list[int] = []

    async def fn(values: list[int]) -> list[int]:
        sizes.append(len(values))
        return values

    limits = [Limit(cost=lambda _: 1, up_to=5, per=1)]
    assert run(fn, range(16), limits=limits, batch=Batch(max_size=8)) == list(range(16))
    assert sizes == [5, 5, 5, 1]


def test_a_value_whose_cost_nobody_knows_is_no_call() -> None:
    async def main(_: SpinWatch) -> Statistics:
        limit = Limit(cost=lambda value: value or None, up_to=9, per=1)
        service = Counting()
        options: Any = {"limits": [limit], "on_error": "skip"}
        async with pool.ordered_wait([0, 1, 0, 10], service, **options) as results:
            assert [value async for value in results] == [1]
            assert len(service.came) == 1
            return results.statistics()

    told = run_virtual(main)
    assert (told.calls, told.retries) == (1, 0)


def test_what_a_function_has_already_takes_no_turn() -> None:
    """It says so by `is_paid`."""

    class Half(Counting):
        def is_paid(self, value: int) -> bool:
            return value % 2 == 0

    service = Half()
    assert run(service, range(20), limits=[Budget(10)]) == list(range(20))
    assert service.most > 10


@pytest.mark.parametrize(
    ("kind", "given", "name"),
    [
        (Limit, {"per": 1}, "calls"),
        (Limit, {"calls": 1, "cost": len, "up_to": 2, "per": 1}, "calls"),
        (Limit, {"calls": 0, "per": 1}, "calls"),
        (Limit, {"calls": 1, "per": 0}, "per"),
        (Limit, {"calls": 1, "per": 1, "latency": -1}, "latency"),
        (Limit, {"cost": float, "up_to": 0, "per": 1}, "up_to"),
        (Limit, {"up_to": 1, "per": 1}, "cost"),
        (Limit, {"calls": 1, "cost": float, "per": 1}, "cost"),
        (InFlight, {"calls": True}, "calls"),
        (Adaptive, {"most": 0}, "most"),
        (Budget, {"amount": 0}, "amount"),
        (Budget, {"amount": 1, "unit": ""}, "unit"),
        (Budget, {"amount": 1, "cost": float}, "cost"),
        (Budget, {"amount": 1, "path": ""}, "path"),
        (Budget, {"amount": 1, "then": "go on"}, "then"),
    ],
)
def test_a_limit_that_is_none_is_refused(kind: Any, given: dict[str, Any], name: str) -> None:
    with pytest.raises(InvalidConfig, match=rf"^{kind.__name__}.{name} must be "):
        kind(**given)


@pytest.mark.parametrize(
    ("limits", "name"), [([], "limits"), (InFlight(1), "limits"), ([Retry()], r"limits\[0\]")]
)
def test_limits_that_are_none_are_refused(limits: Any, name: str) -> None:
    with pytest.raises(InvalidConfig, match=rf"^{name} must be "):
        run(Counting(), [], limits=limits)


@LOOPS
def test_no_attempt_is_over_while_it_waits_for_its_turn(loop: str) -> None:
    service = Counting()
    asked: list[int] = []

    async def fn(value: int) -> int:
        asked.append(value)
        if asked.count(3) == 1 and value == 3:
            await anyio.sleep_forever()
        return int(await service(value))

    async def main(_: SpinWatch) -> tuple[list[int], Statistics]:
        options: Any = {
            "limits": [Limit(calls=4, per=10)],
            "retry": Retry(max_attempts=3, initial=0.01, attempt_timeout=0.5),
        }
        async with pool.ordered_wait(range(5), fn, **options) as results:
            return [value async for value in results], results.statistics()

    out, told = run_virtual(main, loop)
    assert out == [0, 1, 2, 3, 4]
    assert (asked.count(3), told.calls, told.retries) == (2, 6, 1)


@LOOPS
def test_a_value_that_is_late_while_it_waits_for_another_turn_takes_none(loop: str) -> None:
    asked: list[int] = []

    async def fn(value: int) -> int:
        asked.append(value)
        if value == 0:
            raise ConnectionError
        return value

    options: Any = {"limits": [Limit(calls=2, per=10)], "retry": Retry(initial=0.01)}
    options |= {"timeout": 5, "on_error": "skip", "capacity": 9}
    assert run(fn, range(3), loop, **options) == [1, 2]
    assert asked == [0, 1, 2]


@LOOPS
@pytest.mark.parametrize("blocked", [5 / 16, 1 / 2])
def test_the_turn_of_an_attempt_that_never_begins_is_for_the_next(
    blocked: float, loop: str
) -> None:
    async def fn(value: int) -> int:
        if value == 0:
            await anyio.sleep(1 / 8)
            raise ValueError(value)
        await anyio.sleep(1 / 16)
        if value == 1:
            block(blocked)
        return value

    retry = Retry(initial=1 / 8)
    options: dict[str, Any] = {"retry": retry, "timeout": 1 / 2, "on_error": "skip"}
    assert run(fn, range(5), loop, limits=[InFlight(1)], **options)[-3:] == [2, 3, 4]


def test_a_plain_function_that_returns_an_awaitable_keeps_to_limits() -> None:
    service = Counting()

    async def told(value: int) -> Cost[int]:
        return Cost(await service(value), 2)

    def fn(value: int) -> Awaitable[Cost[int]]:
        return told(value)

    limits = [InFlight(3), Budget(12, "USD", then="stop")]
    assert run(fn, range(9), limits=limits) == list(range(6))
    assert service.most == 3
