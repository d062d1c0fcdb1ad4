"""When calls start under limits, and the search for what a service bears, on the virtual clock."""

import asyncio
from functools import partial
from itertools import count
from typing import Any

import anyio
import pytest
from counting import Counting, run
from operators import PLAIN_FORMS

from asyncwait.backends import pool
from asyncwait.backends.pool import unordered_wait
from asyncwait.backends.services import (
    Adaptive,
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
from asyncwait.conformance.harness import SpinWatch, run_virtual
from asyncwait.spec import (
    Cache,
    CallFailed,
    OperatorConfig,
    OperatorError,
    Record,
    Retry,
    RetryAfter,
    Watermark,
)

LOOPS = pytest.mark.parametrize("loop", ["asyncio", "trio"])
FORMS = pytest.mark.parametrize("form", PLAIN_FORMS.values(), ids=PLAIN_FORMS)


def test_an_error_may_tell_its_cost() -> None:
    async def ask(value: int) -> Cost[int]:
        if value == 0:
            error = ValueError(value)
            error.cost = Cost(None, {"USD": 4})  # type: ignore[attr-defined]
            raise error
        return Cost(value, {"USD": 1})

    budget = Budget(6, "USD", cost=lambda _: 1, then="stop")
    assert run(ask, range(9), limits=[budget], on_error="skip", capacity=1) == [1, 2]


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


@FORMS
def test_operators_share_a_limit_object_and_no_equal_one(form: Any) -> None:
    limits = [InFlight(5), Limit(calls=10, per=1, latency=0), Budget(20)]
    service, found = Counting(), list[int]()

    async def operate() -> None:
        async with form["unordered"](range(10), service, limits=limits) as results:
            async for value in results:
                found.append(value)

    async def main(_: object) -> list[Any]:
        return await asyncio.gather(*(operate() for _ in range(5)), return_exceptions=True)

    ended = run_virtual(main)
    assert len(found) == 20
    assert {type(error) for error in ended if error is not None} == {BudgetSpent}
    assert (service.most, service.in_any(1), len(service.came)) == (5, 10, 20)
    with pytest.raises(BudgetSpent) as raised:
        run(service, range(1), wait=form["ordered"], limits=limits)
    assert raised.value.stopped == (0,)
    assert run(service, range(1), wait=form["ordered"], limits=[Budget(20)]) == [0]


@FORMS
def test_a_hit_needs_no_permit_and_a_load_needs_one(form: Any) -> None:
    service = Counting(works=lambda: 0.05)
    options: dict[str, Any] = {"limits": [InFlight(1)], "cache": Cache(9, 99), "timeout": 0.08}
    assert run(service, [*"abab"], wait=form["ordered"], **options) == [*"abab"]
    assert service.came[1][0] - service.came[0][0] == pytest.approx(0.05)
    assert len(service.came) == 2


class Refused(Exception):
    status_code = 429


@pytest.mark.parametrize(("refused", "answers"), [("free", 10), ("charged", 5)])
def test_a_refused_call_costs_nothing_unless_it_is_charged(refused: Any, answers: int) -> None:
    calls = count()

    async def ask(value: int) -> int:
        if next(calls) % 2:
            raise Refused
        return value

    budget = Budget(1.0, "USD", cost=lambda _: 0.1, then="stop", refused=refused)
    options: dict[str, Any] = {"retry": Retry(on_error=transient, initial=0.1), "capacity": 1}
    got = run(ask, range(99), limits=[budget], on_error="skip", **options)
    assert len(got) == answers


async def is_down_for(value: int) -> int:
    if value:
        raise ConnectionError("down")
    return value


@FORMS
def test_a_breaker_that_no_call_closes_ends_the_stream(form: Any) -> None:
    breaker = Breaker(failures=3, over=10, rest=20, longest=50)
    options: dict[str, Any] = {"retry": Retry(max_attempts=99), "on_error": "skip"}
    with pytest.raises(BreakerOpen, match=r"down for|no call has succeeded"):
        run(is_down_for, range(1, 9), wait=form["ordered"], limits=[breaker], **options)


def test_the_longest_wait_of_a_limit_bounds_no_wait_for_another_one() -> None:
    limits = [InFlight(1), Limit(calls=5, per=7, latency=0, max_wait=3)]
    assert run(Counting(works=lambda: 1), range(6), limits=limits) == [*range(6)]
    with pytest.raises(CallFailed, match=r"no permit within 60 s: Limit\(calls=2") as raised:
        run(Counting(), range(3), limits=[Limit(calls=2, per=2_592_000, max_wait=60)])
    assert isinstance(raised.value.__cause__, PermitTimedOut)


@pytest.mark.parametrize("kind", [InFlight, partial(Limit, per=1)], ids=["in flight", "window"])
def test_a_key_that_comes_back_after_many_others_has_its_room(kind: Any) -> None:
    async def source() -> Any:
        for keys in (["hot"], range(300), ["hot", "hot"]):
            for key in keys:
                yield key
            await anyio.sleep(2)

    service = Counting(works=lambda: 1, costs=lambda key: key == "hot")
    run(service, source(), wait=pool.unordered_wait, limits=[kind(calls=1, by=str)])
    assert len(service.came) == 303
    assert service.in_any(1) == 1


def test_what_a_function_has_already_comes_out_though_the_budget_is_spent() -> None:
    class Half(Counting):
        def is_paid(self, value: int) -> bool:
            return value < 3 or value == 5

    service, budget = Half(), Budget(1, then="stop")
    assert run(Counting(), range(3), limits=[budget]) == [0]
    assert run(service, range(9), limits=[budget]) == [0, 1, 2]
    assert service.most == 3


def test_an_error_with_an_invalid_cost_says_that_its_estimate_is_charged() -> None:
    error = ValueError("no answer")
    error.cost = Cost(None, {"USD": -4})  # type: ignore[attr-defined]

    async def ask(_: int) -> int:
        raise error

    budget = Budget(6, "USD", cost=lambda _: 1)
    assert run(ask, range(1), limits=[budget], on_error="skip") == []
    assert [note.endswith("the estimate is charged") for note in error.__notes__] == [True]


@LOOPS
@pytest.mark.parametrize(("operator", "first"), [("pool", 2), ("reference", 1)])
@pytest.mark.parametrize("inputs", [[*"ab"], [*"abc"]], ids=["nothing-waits", "a-record-waits"])
def test_a_spent_budget_reports_a_record_before_its_back_off_is_over(
    inputs: str, operator: str, first: int, loop: str
) -> None:
    told: list[tuple[float, Any]] = []
    began: list[float] = []

    async def ask(value: str) -> str:
        began.append(anyio.current_time())
        await anyio.sleep(2 if value == "b" else 1)
        raise ConnectionError("refused")

    def dead(value: str, error: OperatorError) -> str:
        told.append((anyio.current_time() - began[0], error.__cause__))
        return value.upper()

    options: dict[str, Any] = {"limits": [Budget(2, then="stop")], "on_error": dead}
    wait = PLAIN_FORMS[operator]["ordered"]
    assert run(ask, inputs, loop, wait, retry=Retry(initial=60), **options) == ["A", "B"]
    assert [at for at, _ in told] == pytest.approx([first, 2])
    assert {type(cause) for _, cause in told} == {BudgetSpent}
    assert {type(cause.__cause__) for _, cause in told} == {ConnectionError}


def test_a_budget_that_another_operator_spends_reports_a_record_that_backs_off() -> None:
    budget = Budget(2, then="stop")

    async def ask(value: str) -> str:
        await anyio.sleep(1)
        if value == "a":
            raise ConnectionError("refused")
        return value

    async def read(value: str, after: float) -> None:
        await anyio.sleep(after)
        options: dict[str, Any] = {"limits": [budget], "retry": Retry(initial=60)}
        async with pool.ordered_wait([value], ask, on_error="skip", **options) as results:
            async for _ in results:
                pass

    async def main(_: object) -> float:
        began = anyio.current_time()
        await asyncio.gather(read("a", 0), read("b", 5))
        return anyio.current_time() - began

    assert run_virtual(main) == pytest.approx(6)


def test_a_record_backs_off_while_a_refund_may_pay_for_its_next_call() -> None:
    failing = {"a"}

    async def ask(value: str) -> Cost[str]:
        if value in failing:
            failing.discard(value)
            raise ConnectionError("refused")
        await anyio.sleep(1)
        return Cost(value, 1)

    budget = Budget(12, "USD", cost=lambda value: 2 if value == "a" else 10, then="stop")
    assert run(ask, [*"ab"], limits=[budget], retry=Retry(initial=3)) == ["a", "b"]


def test_calls_that_wait_for_abandoned_calls_alone_are_named() -> None:
    async def ask(value: int) -> int:
        try:
            await anyio.sleep(60 if value == 1 else 1)
        except asyncio.CancelledError:
            await anyio.sleep(60)
        return value

    options: dict[str, Any] = {"timeout": 5, "on_error": lambda value, _: -value}
    with pytest.warns(RuntimeWarning, match=r"InFlight.* only 1 abandoned call\(s\)"):
        assert run(ask, range(4), limits=[InFlight(1)], **options) == [0, -1, 2, 3]


def test_a_line_that_leaves_a_meter_lets_the_lines_behind_it_go_on() -> None:
    tokens, starts = Limit(cost=lambda v: v[1], up_to=100, per=3600, latency=1), []
    failing = {"retried"}

    async def ask(value: tuple[str, int, float]) -> tuple[str, int, float]:
        starts.append((value[0], anyio.current_time()))
        await anyio.sleep(value[2])
        if value[0] in failing:
            failing.discard(value[0])
            raise ConnectionError("refused")
        return value

    async def read(after: float, values: Any, **options: Any) -> None:
        await anyio.sleep(after)
        async with pool.ordered_wait(values, ask, **options) as results:
            assert [value async for value in results] == values

    async def main(_: object) -> float:
        began = anyio.current_time()
        long = [("retried", 10, 5), ("a", 10, 1800), ("b", 10, 2000), ("big", 90, 5)]
        limits, retry = [tokens, InFlight(2)], Retry(initial=20, jitter=0)
        one = read(0, long, limits=limits, retry=retry)
        await asyncio.gather(one, read(10, [("cheap", 1, 1)], limits=[tokens]))
        return began

    began = run_virtual(main)
    assert dict(starts)["cheap"] - began == pytest.approx(25)


def test_an_error_whose_properties_raise_leaves_its_permit() -> None:
    class Unready(Exception):
        @property
        def response(self) -> Any:
            raise RuntimeError("the response is not there yet")

    async def ask(_: int) -> int:
        raise Unready

    assert run(ask, range(4), limits=[InFlight(1)], on_error="skip") == []


class Service:
    def __init__(self, rate: float, latency: float) -> None:
        self.rate = self._allowance = rate
        self._latency = latency
        self._asked_at = 0.0
        self.served: list[float] = []
        self.refused = 0

    async def __call__(self, value: int) -> int:
        now = asyncio.get_running_loop().time()
        come_again = self.come_again(now)
        self._asked_at = now
        if come_again:
            self.refused += 1
            await asyncio.sleep(self._latency / 5)
            raise RetryAfter(come_again)
        self.served.append(now)
        await asyncio.sleep(self._latency)
        return value

    def come_again(self, now: float) -> float:
        earned = (now - self._asked_at) * self.rate
        self._allowance = min(0.2 * self.rate, self._allowance + earned)
        if self._allowance < 1:
            return 0.2
        self._allowance -= 1
        return 0


class WindowService(Service):
    def come_again(self, now: float) -> float:
        if int(now) != int(self._asked_at):
            self._allowance = self.rate
        self._allowance -= 1
        return 0 if self._allowance >= 0 else 1 - now % 1


def settled(service: Any, limit: Adaptive, count: int) -> list[int]:
    async def main(_: SpinWatch) -> list[int]:
        retry = Retry(max_attempts=30)
        async with unordered_wait(range(count), service, retry=retry, limits=[limit]) as results:
            return [value async for value in results]

    return run_virtual(main)


@pytest.mark.parametrize("kind", [Service, WindowService])
@pytest.mark.parametrize(("rate", "latency"), [(200, 0.05), (50, 0.5), (100, 0.1), (300, 0.3)])
def test_a_search_settles_at_the_limit_of_the_service(
    kind: type[Service], rate: int, latency: float
) -> None:
    service = kind(rate, latency)
    count = 30 * rate
    assert sorted(settled(service, Adaptive(), count)) == list(range(count))

    late = service.served[count // 4 :]
    assert 0.9 <= len(late) / (late[-1] - late[0]) / rate <= 1.1
    assert service.refused < count / 15


@pytest.mark.parametrize(("before", "after"), [(100, 400), (400, 100)])
def test_a_service_that_bears_more_or_less_than_before_is_followed(before: int, after: int) -> None:
    class Changing(Service):
        def come_again(self, now: float) -> float:
            self.rate = before if now < 10 else after
            return super().come_again(now)

    service = Changing(before, 0.1)
    settled(service, Adaptive(), 10 * before + 20 * after)

    late = [at for at in service.served if 20 <= at < 28]
    assert len(late) == pytest.approx(8 * after, rel=0.1)


def test_a_service_that_bears_everything_is_given_the_capacity() -> None:
    service = Service(1e9, 0.1)
    settled(service, Adaptive(64), 2000)
    in_full = service.served[1000:1640]
    assert len(in_full) / (in_full[-1] - in_full[0]) == pytest.approx(640, rel=0.01)
    assert service.served[0] == 0
    assert sum(at < 0.1 for at in service.served) == 4
