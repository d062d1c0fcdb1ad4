"""Rows of a call host that share calls, on the virtual clock."""

import asyncio
from typing import Any

import pytest
from carried import Hosted, told, visit
from msgspec.structs import replace

from asyncwait.spec import Cache, Retry

pytestmark = pytest.mark.anyio


class Service:
    """Answers after a second with how often it was asked; notes whose calls were cancelled."""

    def __init__(self) -> None:
        self.asked = self.cancelled = 0
        self.fails = self.is_closed = False

    async def __call__(self, name: str) -> dict[str, str]:
        self.asked += 1
        number = self.asked
        try:
            await asyncio.sleep(1)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.fails:
            raise OSError(f"{number}")
        return {"told": f"{number} {name}"}

    def close(self) -> None:
        """Take note; a plain function will do."""
        self.is_closed = True


KEPT = Cache(max_keys=10, ttl=60)


async def test_rows_with_equal_values_share_a_call_and_each_goes_out_as_its_own(
    hosted: Hosted,
) -> None:
    service = Service()
    made, host = hosted(service, given="name", cache=KEPT, budget=5)
    service.fails = True
    first, second = visit(made, 0, 1), visit(made, 2, lane="1")
    failed = await asyncio.gather(host.visit(first), host.visit(second))
    no = {each: f"row id={each}: the call failed: OSError('1')" for each in range(3)}
    assert told(made, failed[0]) | told(made, failed[1]) == no
    service.fails = False
    answers = await asyncio.gather(host.visit(first), host.visit(second))
    assert told(made, answers[0]) | told(made, answers[1]) == {
        each: [{"id": each, "told": "2 a"}] for each in range(3)
    }
    assert told(made, await host.visit(visit(made, 3))) == {3: [{"id": 3, "told": "2 a"}]}
    await host.aclose()
    assert (service.asked, service.is_closed) == (2, True)


async def test_a_shared_call_goes_on_while_a_row_of_it_is_wanted(hosted: Hosted) -> None:
    service = Service()
    made, host = hosted(service, given="name", cache=KEPT)
    await host.visit(visit(made, 0, 1))
    await host.visit(visit(made, 1))
    await asyncio.sleep(1)
    assert told(made, await host.visit(visit(made, 1))) == {1: [{"id": 1, "told": "1 a"}]}
    assert (service.asked, service.cancelled) == (1, 0)


async def test_a_shared_call_of_which_no_row_is_wanted_is_cancelled(hosted: Hosted) -> None:
    service = Service()
    options: dict[str, Any] = {"capacity": 1, "retry": Retry(initial=0.1)}
    made, host = hosted(service, given="name", cache=KEPT, **options)
    await host.visit(visit(made, 0))
    await host.visit(visit(made))
    await asyncio.sleep(0.001)
    assert service.cancelled == 1
    await host.visit(visit(made, 5))
    assert service.asked == 2


@pytest.mark.parametrize(("cache", "calls"), [(KEPT, 3), (replace(KEPT, missing_ttl=60), 1)])
async def test_nothing_is_kept_of_what_gave_no_rows(
    hosted: Hosted, cache: Cache, calls: int
) -> None:
    asked: list[str] = []

    async def none(name: str) -> list[Any]:
        asked.append(name)
        return []

    made, host = hosted(none, given="name", cache=cache, many=True)
    for number in range(3):
        assert told(made, await host.visit(visit(made, number))) == {number: []}
    assert len(asked) == calls


async def test_what_gets_old_is_read_again_ahead_and_given_where_that_fails(hosted: Hosted) -> None:
    service = Service()
    cache = Cache(max_keys=10, ttl=10, refresh_ahead=0.5, stale_if_error=20)
    made, host = hosted(service, given="name", cache=cache, budget=5)

    async def at(number: int) -> Any:
        await asyncio.sleep(number - asyncio.get_running_loop().time())
        return [*told(made, await host.visit(visit(made, number))).values()]

    for number, expected in ((2, "1 a"), (6, "1 a"), (8, "1 a"), (11, "2 a"), (20, "2 a")):
        service.fails = number == 20
        assert await at(number) == [[{"id": number, "told": expected}]]
    assert await at(50) == ["row id=50: the call failed: OSError('4')"]
    assert service.asked == 4


async def test_a_row_without_a_key_has_a_call_of_its_own(hosted: Hosted) -> None:
    service = Service()
    cache = replace(KEPT, key=lambda _: None)
    made, host = hosted(service, given="name", cache=cache, budget=5)
    await host.visit(visit(made, 0, 1))
    assert service.asked == 2
