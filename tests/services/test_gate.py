"""When calls start under limits, with calls of seconds to an hour, on the virtual clock."""

import asyncio
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from counting import Counting, run

from asyncwait.backends import pool
from asyncwait.backends.services import (
    Breaker,
    BreakerOpen,
    Budget,
    BudgetSpent,
    Cost,
    InFlight,
    Limit,
    PermitTimedOut,
    transient,
)
from asyncwait.conformance.harness import run_virtual
from asyncwait.spec import Batch, Cache, OperatorConfig, OperatorError, Record, Retry, Watermark

LOOPS = pytest.mark.parametrize("loop", ["asyncio", "trio"])


class Service:
    """A service that notes the starts of calls, in seconds.

    Args:
        takes: duration of a call for a value.
        fails: returns the error of the call with this number, or None.
    """

    def __init__(
        self,
        takes: Callable[[Any], float] = lambda _: 1,
        fails: Callable[[int], BaseException | None] = lambda _: None,
    ) -> None:
        self._takes, self._fails = takes, fails
        self.starts: list[tuple[float, Any]] = []
        self.began: float | None = None

    async def __call__(self, value: Any) -> Any:
        """Serve a call."""
        now = anyio.current_time()
        self.began = now if self.began is None else self.began
        self.starts.append((round(now - self.began, 6), value))
        error = self._fails(len(self.starts))
        await anyio.sleep(self._takes(value))
        if error is not None:
            raise error
        return value

    def at(self) -> list[float]:
        """The starts alone."""
        return [at for at, _ in self.starts]


class Refused(Exception):
    """A refusal of a service that is called too often."""

    status_code = 429


@LOOPS
def test_calls_longer_than_the_window_use_the_whole_rate(loop: str) -> None:
    """A call counts until `per` after its start plus the latency, however long it takes."""
    service = Service(lambda _: 10)
    run(service, range(20), loop, limits=[Limit(calls=5, per=1, latency=0.25)])
    assert service.at() == pytest.approx([1.25 * (number // 5) for number in range(20)])


@pytest.mark.parametrize(("refused", "answers"), [("free", 10), ("charged", 5)])
def test_a_refused_call_costs_nothing_unless_it_is_charged(refused: Any, answers: int) -> None:
    """No provider bills a 429."""
    service = Service(fails=lambda number: Refused() if number % 2 == 0 else None)
    budget = Budget(1.0, "USD", cost=lambda _: 0.1, then="stop", refused=refused)
    options: dict[str, Any] = {"retry": Retry(on_error=transient, initial=0.1), "capacity": 1}
    got = run(service, range(99), limits=[budget], on_error="skip", **options)
    assert len(got) == answers


def test_an_error_may_tell_its_cost() -> None:
    """By a `Cost` as its attribute `cost`."""

    async def ask(value: int) -> Cost[int]:
        if value == 0:
            error = ValueError(value)
            error.cost = Cost(None, {"USD": 4})  # type: ignore[attr-defined]
            raise error
        return Cost(value, {"USD": 1})

    budget = Budget(6, "USD", cost=lambda _: 1, then="stop")
    assert run(ask, range(9), limits=[budget], on_error="skip", capacity=1) == [1, 2]


def test_a_service_that_stays_down_ends_the_stream() -> None:
    service = Service(fails=lambda _: ConnectionError("down"))
    breaker = Breaker(failures=3, over=10, rest=20, longest=50)
    options: dict[str, Any] = {"retry": Retry(max_attempts=99), "on_error": "skip"}
    with pytest.raises(BreakerOpen, match="down for"):
        run(service, range(8), limits=[breaker], **options)


@LOOPS
def test_a_wait_for_a_limit_may_be_bounded(loop: str) -> None:
    service, errors = Service(), []

    def late(value: int, error: OperatorError) -> int:
        errors.append(error.__cause__)
        return -value

    limits = [Limit(calls=2, per=2_592_000, max_wait=60)]
    assert run(service, range(4), loop, limits=limits, on_error=late) == [0, 1, -2, -3]
    assert [type(error) for error in errors] == [PermitTimedOut] * 2
    assert "no permit within 60 s: Limit(calls=2" in str(errors[0])


def test_no_watermark_comes_out_behind_a_record_that_a_budget_left_out() -> None:
    async def elements() -> Any:
        for element in (Record(0), Record(1), Watermark(5), Record(2), Watermark(9)):
            yield element

    async def fn(value: int) -> list[int]:
        await anyio.sleep(1)
        return [value]

    async def main(config: OperatorConfig) -> list[Any]:
        async with pool.open_operator(config, fn, elements()) as results:
            return [element async for element in results]

    for capacity in (2, 8):
        for mode in ("ordered", "unordered"):
            limits = [Budget(1, then="stop")]
            config = OperatorConfig(mode, capacity, limits=limits)  # type: ignore[arg-type]
            assert run_virtual(lambda _, config=config: main(config)) == [Record(0)]


def test_many_keys_leave_no_trace_and_exceed_no_limit() -> None:
    running: dict[Any, int] = {}
    most = 0

    async def ask(value: Any) -> Any:
        nonlocal most
        running[value] = running.get(value, 0) + 1
        most = max(most, running[value])
        await anyio.sleep(1 if value == "hot" else 0.001)
        running[value] -= 1
        return value

    async def source() -> Any:
        yield "hot"
        await anyio.sleep(2)
        for key in range(300):
            yield key
        await anyio.sleep(1)
        for _ in range(2):
            yield "hot"
        await anyio.sleep(1.5)
        yield "hot"

    for limit in (
        InFlight(1, by=lambda value: value),
        Limit(calls=9, per=1, by=lambda value: value),
    ):
        most = 0
        got = run(ask, source(), wait=pool.unordered_wait, limits=[limit])
        assert (len(got), most == 1) == (304, isinstance(limit, InFlight))


def test_a_wait_for_another_limit_is_not_bounded() -> None:
    limits = [InFlight(1), Limit(calls=5, per=7, latency=0, max_wait=3)]
    assert run(Service(), range(6), limits=limits) == [*range(6)]


def test_a_breaker_probes_after_a_quiet_time() -> None:
    async def ask(value: int) -> int:
        if value == 0:
            raise ConnectionError("down")
        return value

    async def source() -> Any:
        yield 0
        await anyio.sleep(3600)
        yield 1

    breaker = Breaker(failures=1, over=10, rest=5, longest=20)
    assert run(ask, source(), limits=[breaker], on_error="skip") == [1]


def test_what_a_function_has_already_comes_out_though_the_budget_is_spent() -> None:
    class Half(Service):
        def is_paid(self, value: int) -> bool:
            return value < 3 or value == 5

    budget = Budget(1, then="stop")
    assert run(Service(), range(3), limits=[budget]) == [0]
    service = Half()
    assert run(service, range(9), limits=[budget]) == [0, 1, 2]
    assert service.at() == [0, 0, 0]


def test_operators_share_a_limit_object_and_no_equal_one() -> None:
    limits, service = [InFlight(5), Budget(20)], Counting()

    async def operate() -> int:
        async with pool.unordered_wait(range(10), service, limits=limits) as results:
            return len([value async for value in results])

    async def main(_: object) -> list[Any]:
        return await asyncio.gather(*(operate() for _ in range(5)), return_exceptions=True)

    ended = run_virtual(main)
    assert sum(count for count in ended if isinstance(count, int)) == 20
    assert sum(isinstance(error, BudgetSpent) for error in ended) == 3
    assert (service.most, len(service.came)) == (5, 20)
    with pytest.raises(BudgetSpent):
        run(service, range(1), limits=limits)
    assert run(service, range(1), limits=[Budget(20)]) == [0]


@LOOPS
@pytest.mark.parametrize(
    ("options", "values", "expected"),
    [
        (
            {"batch": Batch(max_size=5, in_flight=8), "timeout": 1.5, "on_error": "skip"},
            range(40),
            {"batches": 4, "calls": 20},
        ),
        (
            {"cache": Cache(99, ttl=60)},
            [number % 20 for number in range(40)],
            {"calls": 40, "loads": 20, "shared": 20},
        ),
    ],
    ids=["batch", "cache"],
)
def test_figures_count_no_call_that_waits(
    options: Any, values: Any, expected: dict[str, int], loop: str
) -> None:
    async def fn(values: Any) -> Any:
        await anyio.sleep(1)
        return values

    async def main(_: object) -> Any:
        options.update(limits=[InFlight(2)], capacity=40)
        async with pool.ordered_wait(values, fn, **options) as results:
            await anext(results)
            return results.statistics()

    told = run_virtual(main, loop)
    assert {name: getattr(told, name) for name in expected} == expected
