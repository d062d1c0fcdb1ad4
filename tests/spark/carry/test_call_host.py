"""The calls that a host holds, shares and answers for, on the virtual clock."""

import asyncio
from typing import Any

import pytest
from carried import Hosted, Service, told, visit, work
from msgspec.structs import replace

from asyncwait.backends.services import Adaptive
from asyncwait.backends.spark.carry._host import Answer, Asked, read_answer
from asyncwait.backends.spark.carry._serve import HostServer
from asyncwait.backends.spark.frame._limits import Kept
from asyncwait.backends.spark.progress._wire import LENGTH, packed
from asyncwait.spec import Batch, Cache, Retry
from asyncwait.spec.carry import Failed

pytestmark = pytest.mark.anyio


def out(number: int) -> list[dict[str, Any]]:
    return [{"id": number, "told": f"{number}!"}]


async def test_a_call_goes_on_between_visits_and_its_result_is_kept(hosted: Hosted) -> None:
    service = Service()
    made, host = hosted(service)
    assert told(made, await host.visit(visit(made, 0, 2))) == {0: out(0)}
    await asyncio.sleep(5)
    for _ in range(2):
        assert told(made, await host.visit(visit(made, 0, 2))) == {0: out(0), 2: out(2)}
    assert await host.visit(visit(made)) == []
    assert service.asked == [0, 2]


async def test_what_no_visit_wants_is_cancelled(hosted: Hosted) -> None:
    service = Service()
    made, host = hosted(service)
    await host.visit(visit(made, 50, 60))
    await host.visit(visit(made, 60))
    await asyncio.sleep(0.001)
    assert service.ended == [50]
    await host.aclose()
    assert service.ended == [50, 60]


async def test_rows_share_calls_and_each_has_its_own_results(hosted: Hosted) -> None:
    asked: list[list[int]] = []

    async def many(rows: Any) -> Any:
        asked.append([row.id for row in rows])
        return [[{"told": "a"}, {"told": "b"}][: row.id] for row in rows]

    made, host = hosted(many, many=True, batch=Batch(max_size=4, max_wait=0.01))
    both = await asyncio.gather(host.visit(visit(made, 0, 1)), host.visit(visit(made, 2, lane="1")))
    assert asked == [[0, 1, 2]]
    assert [len(each) for answer in both for each in told(made, answer).values()] == [0, 1, 2]


@pytest.mark.parametrize("budget", [0.0, 0.2])
async def test_a_host_whose_function_does_not_open_says_so(hosted: Hosted, budget: float) -> None:
    class Closed:
        async def open(self) -> None:
            raise OSError("no service")

        async def __call__(self, row: Any) -> Any:
            return {"told": str(row.id)}

    made, host = hosted(Closed, budget=budget)
    if not budget:
        assert await host.visit(visit(made, 1)) == []
        await asyncio.sleep(0.1)
    for _ in range(2):
        with pytest.raises(Exception, match="no service"):
            await host.visit(visit(made, 1))


async def told_twice(row: Any) -> Any:
    return [{"told": "a"}] * 2 if row.id else [{"wrong": 1}]


async def told_in_batches(rows: Any) -> Any:
    return [await told_twice(row) for row in rows]


async def test_what_does_not_fit_fails_its_row_alone(hosted: Hosted) -> None:
    batch = Batch(max_size=4, max_wait=0.01)
    for options in ({}, {"batch": batch}):
        fn = told_in_batches if options else told_twice
        made, host = hosted(fn, many=True, on_error="skip", **options)
        answer = told(made, await host.visit(visit(made, 0, 1)))
        assert {each: len(rows) for each, rows in answer.items()} == {0: 0, 1: 2}


async def test_a_handler_that_fails_fails_its_row_alone(hosted: Hosted) -> None:
    async def fails(row: Any) -> Any:
        if row.id == 1:
            raise ValueError
        return {"told": "!"}

    made, host = hosted(fails, on_error=lambda *_: 1 / 0)
    answer = told(made, await host.visit(visit(made, 1, 2)))
    assert "ZeroDivisionError" in answer[1]
    assert told(made, await host.visit(visit(made, 2))) == {2: [{"id": 2, "told": "!"}]}


class _Untold(Exception):
    @property
    def __notes__(self) -> list[str]:  # type: ignore[override]
        raise RuntimeError("notes")


@pytest.mark.parametrize("error", [_Untold("\ud800"), ValueError("x" * 1_000_000)])
async def test_a_failure_is_told_whatever_its_traceback(hosted: Hosted, error: Exception) -> None:
    async def fails(_: Any) -> Any:
        raise error

    made, host = hosted(fails)
    ((_, outcome),) = await host.visit(visit(made, 1))
    assert isinstance(outcome, Failed)
    assert len(outcome.reason.encode()) < 30_000
    assert not host.is_broken


async def test_what_nobody_wants_is_not_called_again(hosted: Hosted) -> None:
    asked: list[tuple[int, float]] = []

    async def raises_late(row: Any) -> dict[str, str]:
        asked.append((row.id, asyncio.get_running_loop().time()))
        if row.id == 1:
            try:
                await asyncio.sleep(100)
            finally:
                raise ValueError("while it is cleaned up")
        return {"told": "well"}

    made, host = hosted(raises_late, capacity=1, retry=Retry(initial=100))
    await host.visit(visit(made, 1))
    await host.visit(visit(made, 2))
    assert [number for number, at in asked if at < 50] == [1, 2]


async def test_a_turn_that_nobody_wants_any_more_is_another_row_s(hosted: Hosted) -> None:
    service = Service()
    made, host = hosted(service, kept=Kept((Adaptive(1),)))
    await host.visit(visit(made, 50, 60))
    await host.visit(visit(made, 0))
    await asyncio.sleep(1)
    assert told(made, await host.visit(visit(made, 0))) == {0: out(0)}
    assert service.asked == [50, 0]


async def test_closing_waits_for_no_back_off(hosted: Hosted) -> None:
    async def fails(_: Any) -> Any:
        raise ValueError("no")

    made, host = hosted(fails, retry=Retry(initial=3000, cap=3000))
    await host.visit(visit(made, 1))
    await host.visit(visit(made))
    before = asyncio.get_running_loop().time()
    await host.aclose()
    assert asyncio.get_running_loop().time() - before < 1


class Connection:
    def __init__(self) -> None:
        self.written = bytearray()
        self.write = self.written.extend

    async def drain(self) -> None:
        """Take more."""

    def close(self) -> None:
        """Take no more."""

    async def asks(self, server: HostServer, asked: Asked) -> Answer:
        reader = asyncio.StreamReader()
        reader.feed_data(packed(asked))
        answers = asyncio.create_task(server.answer(reader, self))  # type: ignore[arg-type]
        while not self.written:
            await asyncio.sleep(0.001)
        reader.feed_eof()
        await answers
        return read_answer(self.written[LENGTH.size :])


GAPS = {"first": ((), 60), "none": ((0,), 1), "long": ((90_000, 0), 270), "back": ((90_000, 10), 1)}


@pytest.mark.parametrize("case", GAPS)
async def test_a_lease_is_longer_than_the_time_between_visits(hosted: Hosted, case: str) -> None:
    gaps, expected = GAPS[case]
    made, host = hosted(Service(), lease=1.0)
    server = HostServer(made, host)
    for gap in gaps:
        await Connection().asks(server, Asked(visit(made, 0), gap))
    before = asyncio.get_running_loop().time()
    await server.until_over()
    assert asyncio.get_running_loop().time() - before == pytest.approx(expected, abs=0.01)


async def test_an_answer_that_can_not_be_sent_is_told() -> None:
    class Broken:
        figures = tuple

        async def visit(self, _visit: Any) -> Any:
            return [("\ud800", b"")]

    made = work(Service())
    server = HostServer(made, Broken())  # type: ignore[arg-type]
    said = await Connection().asks(server, Asked(visit(made, 1)))
    assert "UnicodeEncodeError" in str(said.broken)
    await server.until_over()


async def test_an_error_of_one_visit_is_nothing_to_other_lanes() -> None:
    class Odd:
        is_broken = False
        figures = tuple

        async def visit(self, asked: Any) -> Any:
            if len(asked.wanted) == 1:
                raise KeyError("a row that can't be read")
            return []

    made = work(Service())
    server = HostServer(made, Odd())  # type: ignore[arg-type]
    said = await Connection().asks(server, Asked(visit(made, 1)))
    assert "can't be read" in str(said.broken)
    assert (await Connection().asks(server, Asked(visit(made, 1, 2)))).broken is None


class SharedService:
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
    service = SharedService()
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
    service = SharedService()
    made, host = hosted(service, given="name", cache=KEPT)
    await host.visit(visit(made, 0, 1))
    await host.visit(visit(made, 1))
    await asyncio.sleep(1)
    assert told(made, await host.visit(visit(made, 1))) == {1: [{"id": 1, "told": "1 a"}]}
    assert (service.asked, service.cancelled) == (1, 0)


async def test_a_shared_call_of_which_no_row_is_wanted_is_cancelled(hosted: Hosted) -> None:
    service = SharedService()
    options: dict[str, Any] = {"capacity": 1, "retry": Retry(initial=0.1)}
    made, host = hosted(service, given="name", cache=KEPT, **options)
    await host.visit(visit(made, 0))
    await host.visit(visit(made))
    await asyncio.sleep(0.001)
    assert service.cancelled == 1
    await host.visit(visit(made, 5))
    assert service.asked == 2


async def test_a_row_without_a_key_has_a_call_of_its_own(hosted: Hosted) -> None:
    service = SharedService()
    cache = replace(KEPT, key=lambda _: None)
    made, host = hosted(service, given="name", cache=cache, budget=5)
    await host.visit(visit(made, 0, 1))
    assert service.asked == 2
