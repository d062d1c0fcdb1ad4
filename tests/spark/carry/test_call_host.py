"""The calls that a host holds, on the virtual clock."""

import asyncio
from typing import Any

import pytest
from carried import Hosted, Service, told, visit, work
from msgspec.structs import replace

from asyncwait.backends.services import Adaptive
from asyncwait.backends.spark.carry._host import CallHost
from asyncwait.backends.spark.frame._limits import Kept
from asyncwait.spec import Batch, Retry
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


class Word(str):
    """A text of a class of its own, as parsers give them."""

    __slots__ = ()


async def test_a_result_of_a_class_of_its_own_is_what_its_base_would_be(hosted: Hosted) -> None:

    async def parsed(_row: Any) -> Any:
        return {"told": Word("a")}

    made, host = hosted(parsed)
    assert told(made, await host.visit(visit(made, 1))) == {1: [{"id": 1, "told": "a"}]}


async def test_nothing_is_kept_of_lanes_that_wait_for_nothing(hosted: Hosted) -> None:
    made, host = hosted(Service())
    for lane in ("0", "1"):
        await host.visit(visit(made, 0, lane=lane))
    assert host._rows == {}


async def test_no_keys_of_a_dict_pass_for_rows(hosted: Hosted) -> None:
    async def gives_a_dict(_: Any) -> Any:
        return {}

    made, host = hosted(gives_a_dict, many=True)
    ((_, outcome),) = await host.visit(visit(made, 1))
    assert isinstance(outcome, Failed)
    assert "expected an iterable of results, got {} (dict)" in outcome.reason


class _Untold(Exception):
    @property
    def __notes__(self) -> list[str]:  # type: ignore[override]
        raise RuntimeError("notes")


@pytest.mark.parametrize("error", [_Untold("no"), ValueError("x" * 1_000_000)])
async def test_a_failure_is_told_whatever_its_traceback(hosted: Hosted, error: Exception) -> None:
    async def fails(_: Any) -> Any:
        raise error

    made, host = hosted(fails)
    ((_, outcome),) = await host.visit(visit(made, 1))
    assert isinstance(outcome, Failed)
    assert len(outcome.reason) < 30_000
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


async def test_a_row_without_a_key_is_named_by_what_it_holds() -> None:
    async def fails(row: Any) -> Any:
        raise OSError

    made = work(fails)
    task = replace(made.task, shape=replace(made.task.shape, key=()))
    host = CallHost(replace(made, task=task), "h")
    said = told(made, await host.visit(visit(made, 7)))
    assert said[7].startswith("row id=7, name='a': the call failed")
    await host.aclose()


async def test_closing_waits_for_no_back_off(hosted: Hosted) -> None:
    async def fails(_: Any) -> Any:
        raise ValueError("no")

    made, host = hosted(fails, retry=Retry(initial=3000, cap=3000))
    await host.visit(visit(made, 1))
    await host.visit(visit(made))
    before = asyncio.get_running_loop().time()
    await host.aclose()
    assert asyncio.get_running_loop().time() - before < 1
