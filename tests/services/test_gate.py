"""When calls start under limits, with calls of seconds to an hour, on the virtual clock."""

import asyncio
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from counting import run

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
from asyncwait.spec import OperatorConfig, OperatorError, Record, Retry, Watermark

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


@LOOPS
def test_a_call_that_hangs_stops_no_other(loop: str) -> None:
    service = Service(lambda value: 3600 if value == 0 else 0.01)
    run(service, range(6), loop, wait=pool.unordered_wait, limits=[Limit(calls=1, per=0.1)])
    assert service.at()[-1] < 1


@LOOPS
def test_a_busy_key_holds_no_permit(loop: str) -> None:
    values = [("hot", number) for number in range(20)] + [(f"k{n}", 0) for n in range(64)]
    service = Service(lambda _: 10)
    options: dict[str, Any] = {"key": lambda value: value[0], "capacity": 1000}
    run(service, values, loop, pool.key_ordered_wait, limits=[InFlight(16)], **options)
    assert service.at().count(0) == 16
    assert [at for at, value in service.starts if value[0] == "hot"] == [*range(0, 200, 10)]
    assert max(at for at, value in service.starts if value[0] != "hot") == 40


def test_one_limit_object_is_shared_by_all_operators() -> None:
    limits = [InFlight(5), Limit(calls=10, per=1), Budget(20)]
    running = most = 0

    async def ask(value: int) -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await anyio.sleep(0.01)
        running -= 1
        return value

    async def handler() -> int:
        async with pool.unordered_wait(range(10), ask, limits=limits) as results:
            return len([value async for value in results])

    async def main(_: object) -> tuple[list[Any], float]:
        began = anyio.current_time()
        counts = await asyncio.gather(*(handler() for _ in range(5)), return_exceptions=True)
        return counts, anyio.current_time() - began

    counts, took = run_virtual(main)
    assert sum(count for count in counts if isinstance(count, int)) == 20
    assert sum(isinstance(count, BudgetSpent) for count in counts) == 3
    assert (most, took > 1) == (5, True)
    with pytest.raises(BudgetSpent):
        run(ask, range(1), limits=limits[2:])
    assert run(ask, range(1), limits=[Budget(20)]) == [0]


@pytest.mark.parametrize("then", ["fail", "stop"])
def test_a_value_that_a_budget_stops_is_reported(then: Any) -> None:
    errors: list[BaseException | None] = []

    def dead(value: str, error: OperatorError) -> str:
        errors.append(error.__cause__)
        return value

    busy = {"b"}

    async def ask(value: str) -> str:
        if value in busy:
            busy.discard(value)
            raise ConnectionError("refused")
        return value.upper()

    options: dict[str, Any] = {"limits": [Budget(4, then=then)], "retry": Retry(initial=0.05)}

    async def main(_: object) -> None:
        async with pool.ordered_wait("abcdef", ask, on_error=dead, **options) as results:
            assert [await anext(results) for _ in range(4)] == ["A", "b", "C", "D"]
            with pytest.raises(StopAsyncIteration if then == "stop" else BudgetSpent) as end:
                await anext(results)
            assert then == "stop" or end.value.stopped == ("e", "f")

    run_virtual(main)
    assert [type(error) for error in errors] == [BudgetSpent]
    assert isinstance(errors[0] and errors[0].__cause__, ConnectionError)


@LOOPS
@pytest.mark.parametrize("inputs", ["ab", "abc"], ids=["nothing-waits", "a-record-waits"])
def test_a_spent_budget_reports_a_record_before_its_back_off_is_over(
    inputs: str, loop: str
) -> None:
    """It is spent for good when the last call has ended that may cost less."""
    service = Service(lambda value: 2 if value == "b" else 1, lambda _: ConnectionError("refused"))
    told: list[tuple[float, Any]] = []

    def dead(value: str, error: OperatorError) -> str:
        told.append((anyio.current_time() - (service.began or 0), error.__cause__))
        return value.upper()

    options: dict[str, Any] = {"limits": [Budget(2, then="stop")], "on_error": dead}
    assert run(service, inputs, loop, retry=Retry(initial=60), **options) == ["A", "B"]
    assert [at for at, _ in told] == pytest.approx([2, 2])
    assert {type(cause) for _, cause in told} == {BudgetSpent}
    assert {type(cause.__cause__) for _, cause in told} == {ConnectionError}


def test_a_budget_that_another_operator_spends_reports_a_record_that_backs_off() -> None:
    budget = Budget(2, then="stop")
    fails = Service(fails=lambda _: ConnectionError("refused"))

    async def other() -> None:
        await anyio.sleep(5)
        await read("b", Service())

    async def read(value: str, service: Service) -> None:
        options: dict[str, Any] = {"limits": [budget], "retry": Retry(initial=60)}
        async with pool.ordered_wait(value, service, on_error="skip", **options) as results:
            async for _ in results:
                pass

    async def main(_: object) -> float:
        began = anyio.current_time()
        await asyncio.gather(read("a", fails), other())
        return anyio.current_time() - began

    assert run_virtual(main) == pytest.approx(6)


def test_a_record_backs_off_while_a_refund_may_pay_for_its_next_call() -> None:
    """The budget is charged in full at 1 s; the call that ends then costs less."""
    failing = {"a"}

    async def ask(value: str) -> Cost[str]:
        if value in failing:
            failing.discard(value)
            raise ConnectionError("refused")
        await anyio.sleep(1)
        return Cost(value, 1)

    budget = Budget(12, "USD", cost=lambda value: 2 if value == "a" else 10, then="stop")
    assert run(ask, "ab", limits=[budget], retry=Retry(initial=3)) == ["a", "b"]


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


def test_an_error_with_an_invalid_cost_says_that_its_estimate_is_charged() -> None:
    error = ValueError("no answer")
    error.cost = Cost(None, {"USD": -4})  # type: ignore[attr-defined]

    async def ask(_: int) -> int:
        raise error

    budget = Budget(6, "USD", cost=lambda _: 1)
    assert run(ask, range(1), limits=[budget], on_error="skip") == []
    assert [note.endswith("the estimate is charged") for note in error.__notes__] == [True]


@LOOPS
def test_each_key_has_a_window_and_calls_at_a_time_of_its_own(loop: str) -> None:
    values = [("a", n) for n in range(4)] + [("b", n) for n in range(2)]
    for limit in (
        Limit(calls=2, per=10, latency=0, by=lambda value: value[0]),
        InFlight(2, by=lambda value: value[0]),
    ):
        service = Service(lambda _: 10)
        run(service, values, loop, limits=[limit])
        assert service.at() == [0, 0, 0, 0, 10, 10]


def test_a_burst_bounds_the_calls_that_start_together() -> None:
    service = Service()
    run(service, range(6), limits=[Limit(calls=10, per=10, burst=2)])
    assert service.at() == pytest.approx([0, 0, 2, 2, 4, 4])


def test_a_heavy_call_waits_for_room_that_no_light_one_takes() -> None:
    service = Service()
    weights = [1, 1, 4, 1, 1, 9, 1]
    limits = [InFlight(4, weight=weights.__getitem__)]
    assert run(service, range(7), limits=limits, on_error="skip") == [0, 1, 2, 3, 4, 6]
    assert service.starts == [(0, 0), (0, 1), (1, 2), (2, 3), (2, 4), (2, 6)]


@LOOPS
def test_a_breaker_pauses_calls_and_probes_with_one(loop: str) -> None:
    down = ConnectionError("down")
    service = Service(fails=lambda number: down if number <= 6 else None)
    options: dict[str, Any] = {"retry": Retry(max_attempts=9, initial=0.1), "capacity": 4}
    breaker = Breaker(failures=3, over=10, rest=20)
    assert run(service, range(8), loop, limits=[breaker], **options) == [*range(8)]
    assert service.at()[:8] == pytest.approx([0, 0, 0, 0, 21, 42, 63, 64])


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


def test_figures_tell_how_many_calls_wait_for_each_limit() -> None:
    async def main(_: object) -> tuple[int, ...]:
        limits = [InFlight(9), Limit(calls=2, per=100)]
        async with pool.ordered_wait(range(8), Service(), limits=limits) as results:
            await anext(results)
            return results.statistics().waiting_for_permits

    assert run_virtual(main) == (0, 6)


@LOOPS
def test_a_breaker_counts_calls_whose_time_is_over(loop: str) -> None:
    service = Service(lambda _: 0.1 if len(service.starts) > 2 else 3600)
    retry = Retry(max_attempts=5, initial=0.1, attempt_timeout=1)
    breaker = Breaker(failures=2, over=10, rest=20)
    run(service, range(2), loop, limits=[breaker], retry=retry, capacity=2)
    assert service.at() == pytest.approx([0, 0, 21, 21.1])


class Silent:
    """A function in callback form whose first call never has an outcome."""

    def __init__(self) -> None:
        self.called: list[int] = []

    def async_invoke(self, value: int, result: Any) -> None:
        """Complete all records but the first."""
        self.called.append(value)
        if value:
            result.complete([value])

    def timeout(self, value: int) -> list[int]:
        """Give a result in place of the one that is late."""
        return [-1 - value]


def test_a_call_in_callback_form_ends_with_its_record() -> None:
    async def records() -> Any:
        for value in range(3):
            yield Record(value)

    async def main(_: object) -> list[Any]:
        config, fn = OperatorConfig(timeout=5, limits=[InFlight(1)]), Silent()
        async with pool.open_operator(config, fn, records()) as results:
            return [element.value async for element in results]

    assert run_virtual(main) == [-1, 1, 2]


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


def test_no_call_starts_behind_the_first_that_a_budget_can_not_pay_for() -> None:
    called: list[int] = []

    async def ask(value: tuple[int, float]) -> Cost[int]:
        called.append(value[0])
        await anyio.sleep(1)
        return Cost(value[0], value[1])

    budget = Budget(10, "USD", cost=lambda value: value[1], then="stop")
    assert run(ask, list(enumerate([5, 9, 5, 5])), limits=[budget]) == [0]
    assert called == [0]


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


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        (Limit(cost=lambda value: value["n"], up_to=9, per=1), "`cost` of Limit raised KeyError"),
        (InFlight(9, weight=lambda value: value["n"]), "`weight` of InFlight raised KeyError"),
        (InFlight(9, by=lambda value: value["n"]), "`by` of a limit raised KeyError"),
        (InFlight(9, weight=lambda _: 10**400), "expected a number >= 0"),
    ],
)
def test_an_error_of_a_function_of_a_limit_names_it(limit: Any, said: str) -> None:
    with pytest.raises(OperatorError, match=said):
        run(Service(), [{}], limits=[limit])


def test_what_a_function_has_already_comes_out_though_the_budget_is_spent() -> None:
    class Half(Service):
        def is_paid(self, value: int) -> bool:
            return value < 3 or value == 5

    budget = Budget(1, then="stop")
    assert run(Service(), range(3), limits=[budget]) == [0]
    service = Half()
    assert run(service, range(9), limits=[budget]) == [0, 1, 2]
    assert service.at() == [0, 0, 0]
