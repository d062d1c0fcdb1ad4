"""How fast a task calls, on the virtual clock, against a service that is made up."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from asyncwait.backends.pool import unordered_wait
from asyncwait.backends.spark.frame._pace import (
    Ceilings,
    Pace,
    PacedBlockingFunction,
    PacedFunction,
    PacedSource,
    Pacer,
    says_too_many,
)
from asyncwait.backends.spark.frame._rows import InputRow
from asyncwait.backends.threads import ordered_wait as in_threads
from asyncwait.conformance.harness import SpinWatch, run_virtual
from asyncwait.spec import InvalidConfig, Retry, RetryAfter


class Service:
    """Serves so many calls a second, in bursts of no more than 200 ms, and refuses the others.

    Args:
        rate: calls a second.
        latency: seconds of a call that is served; one that is refused takes a fifth of it.
    """

    def __init__(self, rate: float, latency: float) -> None:
        self.rate = self._allowance = rate
        self._latency = latency
        self._asked_at = 0.0
        self.served: list[float] = []
        self.refused = 0

    async def __call__(self, row: InputRow) -> list[Any]:
        """Serve a call, or ask it to come again."""
        now = asyncio.get_running_loop().time()
        come_again = self.come_again(now)
        self._asked_at = now
        if come_again:
            self.refused += 1
            await asyncio.sleep(self._latency / 5)
            raise RetryAfter(come_again)
        self.served.append(now)
        await asyncio.sleep(self._latency)
        return [row.value]

    def come_again(self, now: float) -> float:
        """In how many seconds to come again; 0 for a call that is served."""
        earned = (now - self._asked_at) * self.rate
        self._allowance = min(0.2 * self.rate, self._allowance + earned)
        if self._allowance < 1:
            return 0.2
        self._allowance -= 1
        return 0


class WindowService(Service):
    """Serves so many calls in each whole second, and none for the rest of it."""

    def come_again(self, now: float) -> float:
        """In how many seconds to come again."""
        if int(now) != int(self._asked_at):
            self._allowance = self.rate
        self._allowance -= 1
        return 0 if self._allowance >= 0 else 1 - now % 1


class Rows:
    """As many rows as are wanted, as a partition has them."""

    def __init__(self, count: int) -> None:
        self._rows = iter([InputRow(number, None, number, str) for number in range(count)])
        self.closed = False

    def __aiter__(self) -> AsyncIterator[InputRow]:
        return self

    async def __anext__(self) -> InputRow:
        for row in self._rows:
            return row
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Note it."""
        self.closed = True

    def join(self) -> None:
        """Wait for nobody."""


def run(service: Any, pace: Pace, rows: Rows, **options: Any) -> Sequence[Any]:
    """Call `service` for `rows` at this pace; return what comes out."""

    async def main(_: SpinWatch) -> list[Any]:
        pacer = Pacer(pace)
        source, fn = PacedSource(rows, pacer), PacedFunction(service, pacer)
        asked = {"capacity": pace.most, "many": True, "retry": Retry(max_attempts=30), **options}
        async with unordered_wait(source, fn, **asked) as results:
            return [value async for value in results]

    return run_virtual(main)


@pytest.mark.parametrize("kind", [Service, WindowService])
@pytest.mark.parametrize(("rate", "latency"), [(200, 0.05), (50, 0.5), (100, 0.1), (300, 0.3)])
def test_an_adaptive_task_settles_at_the_limit_of_the_service(
    kind: type[Service], rate: int, latency: float
) -> None:
    """Within a tenth, and without a storm: fewer than one call in fifteen is refused."""
    service = kind(rate, latency)
    count = 30 * rate
    assert sorted(run(service, Pace(adaptive=True), Rows(count))) == list(range(count))

    late = service.served[count // 4 :]
    assert 0.9 <= len(late) / (late[-1] - late[0]) / rate <= 1.1
    assert service.refused < count / 15


@pytest.mark.parametrize(("before", "after"), [(100, 400), (400, 100)])
def test_a_service_that_bears_more_or_less_than_before_is_followed(before: int, after: int) -> None:
    """From ten seconds after it has changed, within a tenth."""

    class Changing(Service):
        def come_again(self, now: float) -> float:
            self.rate = before if now < 10 else after
            return super().come_again(now)

    service = Changing(before, 0.1)
    run(service, Pace(adaptive=True), Rows(10 * before + 20 * after))

    late = [at for at in service.served if 20 <= at < 28]
    assert len(late) == pytest.approx(8 * after, rel=0.1)


def test_a_service_that_bears_everything_is_given_the_capacity() -> None:
    """After a few rounds, each with twice as many calls as the one before."""
    service = Service(1e9, 0.1)
    run(service, Pace(adaptive=True, most=64), Rows(2000))
    in_full = service.served[1000:1640]
    assert len(in_full) / (in_full[-1] - in_full[0]) == pytest.approx(640, rel=0.01)
    assert service.served[0] == 0
    assert sum(at < 0.1 for at in service.served) == 4


def test_no_more_calls_begin_in_a_second_than_are_allowed() -> None:
    """Whatever the capacity; they are spread evenly, and no deadline runs before."""
    service = Service(1e9, 0.01)
    run(service, Pace(per_second=10), Rows(50), timeout=0.05)
    assert service.served == pytest.approx([number / 10 for number in range(50)])


def test_a_further_attempt_is_one_of_the_calls_that_are_counted() -> None:
    """It waits for a turn, as rows do."""
    begun: list[float] = []
    tried: set[int] = set()

    async def fn(row: InputRow) -> list[Any]:
        begun.append(asyncio.get_running_loop().time())
        if row.value not in tried:
            tried.add(row.value)
            raise LookupError
        return [row.value]

    rows = Rows(5)
    run(fn, Pace(per_second=10), rows, retry=Retry(initial=0.001))
    assert begun == pytest.approx([number / 10 for number in range(10)])
    assert rows.closed


def test_functions_that_block_keep_the_pace_too() -> None:
    """Their further attempts wait in their threads."""
    begun: list[int] = []
    refused: list[int] = []

    def fn(row: InputRow) -> list[Any]:
        begun.append(row.value)
        if row.value % 3 == 0 and row.value not in refused:
            refused.append(row.value)
            raise RetryAfter(0)
        return [row.value]

    async def main() -> list[Any]:
        pacer = Pacer(Pace(per_second=2000, adaptive=True, most=8))
        source: Any = PacedSource(Rows(30), pacer)
        function: Any = PacedBlockingFunction(fn, pacer)
        retry = Retry(max_attempts=5)
        async with in_threads(source, function, capacity=8, many=True, retry=retry) as results:
            return [value async for value in results]

    assert asyncio.run(main()) == list(range(30))
    assert len(begun) == 40


class Refusal(Exception):
    """An error as HTTP clients make it."""

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (RetryAfter(1), True),
        (Refusal(status=429), True),
        (Refusal(status_code=429), True),
        (Refusal(code=429), True),
        (Refusal(response=Refusal(status_code=429)), True),
        (Refusal(status=503), False),
        (ValueError(429), False),
    ],
)
def test_a_service_says_too_many_in_several_ways(error: Exception, says: bool) -> None:  # noqa: FBT001 - of a table
    """As the clients that people use have it."""
    assert says_too_many(error) is says


def test_each_task_has_its_share_of_the_ceilings() -> None:
    """Of calls at a time no more than its capacity."""
    capacity, pace = Ceilings(20, 30, False, 4).share(None, 100)
    assert (capacity, pace) == (5, Pace(7.5, False, 5))
    assert Ceilings(1000, None, True, 4).share(None, 100) == (100, Pace(None, True, 100))
    assert Ceilings(None, None, False, None).share(None, 7) == (7, Pace(most=7))


@pytest.mark.parametrize(
    ("ceilings", "name"),
    [
        ((3, None, False, 4), "max_in_flight"),
        ((0, None, False, 4), "max_in_flight"),
        ((True, None, False, 4), "max_in_flight"),
        ((None, 0, False, 4), "calls_per_second"),
        ((None, 5, False, 0), "max_tasks"),
        ((None, 5, 1, 4), "adaptive"),
        ((None, 5, False, None), "max_tasks"),
    ],
)
def test_a_ceiling_that_is_none_is_refused(ceilings: Any, name: str) -> None:
    """By name; the number of tasks has to be given where the session does not tell it."""
    with pytest.raises(InvalidConfig, match=rf"^{name} must be "):
        Ceilings(*ceilings).share(None, 100)
