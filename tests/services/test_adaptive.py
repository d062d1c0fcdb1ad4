"""The search for what a service bears, on the virtual clock, against made-up services."""

import asyncio
from typing import Any

import pytest

from asyncwait.backends.pool import unordered_wait
from asyncwait.backends.services import Adaptive
from asyncwait.conformance.harness import SpinWatch, run_virtual
from asyncwait.spec import Retry, RetryAfter


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


def run(service: Any, limit: Adaptive, count: int) -> list[int]:
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
    assert sorted(run(service, Adaptive(), count)) == list(range(count))

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
    run(service, Adaptive(), 10 * before + 20 * after)

    late = [at for at in service.served if 20 <= at < 28]
    assert len(late) == pytest.approx(8 * after, rel=0.1)


def test_a_service_that_bears_everything_is_given_the_capacity() -> None:
    service = Service(1e9, 0.1)
    run(service, Adaptive(64), 2000)
    in_full = service.served[1000:1640]
    assert len(in_full) / (in_full[-1] - in_full[0]) == pytest.approx(640, rel=0.01)
    assert service.served[0] == 0
    assert sum(at < 0.1 for at in service.served) == 4
