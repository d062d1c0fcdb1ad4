"""Lookups that share a request: who has it, who gives it up, and who begins another one."""

from contextvars import ContextVar
from typing import Any

import anyio
import pytest
from lookups import Scripted, come_in_turn, counts, outcome, outcomes

from asyncwait.backends.lookup import open_table
from asyncwait.spec import Batch, Cache, CallTimedOut, Retry

pytestmark = pytest.mark.anyio


class Hangs(Scripted):
    def __init__(self, times: int) -> None:
        super().__init__()
        self._times = times

    async def get_many(self, keys: Any) -> dict[Any, Any]:
        self.takes = 99.0 if len(self.asked) < self._times else 1.0
        return await super().get_many(keys)


async def test_lookups_share_one_request() -> None:
    table = Scripted()

    async with open_table(table) as opened:
        found = await outcomes(opened, "a", "a", "a")
        assert counts(opened) == {"shared": 2, "loads": 1}
        async with anyio.create_task_group() as group:
            group.start_soon(opened.get_many, ["a", "b"])
            await anyio.sleep(0.5)
            group.start_soon(opened.get_many, ["b", "c"])
        assert counts(opened) == {"shared": 3, "loads": 4}

    assert found == [(1, ["a"])] * 3
    assert table.asked == [(0, ["a"]), (1, ["a", "b"]), (1.5, ["c"])]


async def test_a_waiter_that_is_late_does_not_end_the_request_of_others() -> None:
    table = Scripted()

    async with open_table(table, timeout=1.2) as opened:
        async with anyio.create_task_group() as group:
            with anyio.move_on_after(0.5):
                group.start_soon(outcomes, opened, "a")
                await anyio.sleep(0.1)
                await opened.get("a")
            assert await outcome(opened, "a") == (1, ["a"])
        table.takes = 9
        table.log.clear()
        late = await outcomes(opened, "b", "b")
        assert counts(opened) == {"shared": 3, "loads": 2}

    expected = "key 'b': the table gave no answer within 1.2 s"
    assert late == [(2.2, expected)] * 2
    assert table.log == [(1, ["b"]), "cancelled", "close"]


@pytest.mark.parametrize("batch", [None, Batch(max_wait=0, in_flight=1)])
async def test_a_request_that_was_late_for_somebody_is_shared_no_more(batch: Batch | None) -> None:
    table = Hangs(times=1)

    async with open_table(table, timeout=3, batch=batch) as opened:
        found = await come_in_turn(opened, 1.25, "aaaaaa")

    late = "key 'a': the table gave no answer within 3 s"
    assert found[:3] == [(3, late), (4.25, late), (5.5, late)]
    begun = 3.75 if batch is None else 5.5  # What hangs has its place until all have left it.
    assert [rows for _, rows in found[3:]] == [["a"]] * 3
    assert found[3] == (begun + 1, ["a"])
    assert [when for when, _ in table.asked[:2]] == [0, begun]
    assert table.log.count("cancelled") == 1


async def test_a_request_that_has_no_place_yet_is_shared_whoever_gives_up() -> None:
    table = Hangs(times=1)
    batch = Batch(max_wait=0, in_flight=1)

    async with open_table(table, timeout=2.875, batch=batch) as opened:
        found = await come_in_turn(opened, 0.75, "zazaaa")

    assert found[4:] == [(5.375, ["a"])] * 2
    assert table.asked == [(0, ["z"]), (4.375, ["a"])]


async def test_a_request_that_was_cancelled_has_its_place_until_it_has_ended() -> None:
    table = Scripted()
    table.clean_up = 2

    async with open_table(table, batch=Batch(max_wait=0, in_flight=1)) as opened:
        with anyio.move_on_after(0.5):
            await opened.get("a")
        assert await outcome(opened, "b") == (3.5, ["b"])

    assert table.log[1:4] == [(0, ["a"]), "cancelled", (2.5, ["b"])]


async def test_an_attempt_that_was_late_begins_another_request() -> None:
    table = Hangs(times=1)
    retry = Retry(max_attempts=2, initial=0.5, attempt_timeout=2)

    async with open_table(table, retry=retry) as opened:
        found = await come_in_turn(opened, 0.75, "aa")

    assert found == [(3.5, ["a"])] * 2
    assert table.asked == [(0, ["a"]), (2.5, ["a"])]


async def test_a_request_that_is_young_is_shared_whoever_gives_up() -> None:
    table = Scripted()
    table.trouble = OSError("down")

    async with (
        open_table(table, retry=Retry(initial=1), timeout=2.5) as opened,
        anyio.create_task_group() as group,
    ):
        group.start_soon(outcome, opened, "a")
        await anyio.sleep(1.5)
        table.trouble = None
        table.takes = 2
        await anyio.sleep(0.75)
        group.start_soon(outcome, opened, "a")
        await anyio.sleep(0.5)
        assert await outcome(opened, "a") == (4, ["a"])

    assert table.asked == [(0, ["a"]), (2, ["a"])]


async def test_what_comes_of_a_request_that_was_late_is_not_kept() -> None:
    table = Scripted(a=["new"])
    table.takes = 4
    retry = Retry(max_attempts=2, initial=0.25, attempt_timeout=3)

    async def change() -> None:
        await anyio.sleep(3)
        table.takes = 0.25
        await anyio.sleep(0.75)
        table.rows["a"] = ["old"]

    async with open_table(table, cache=Cache(9, 60), retry=retry) as opened:
        async with anyio.create_task_group() as group:
            group.start_soon(change)
            found = await come_in_turn(opened, 1.5, "aa")
        assert opened.peek("a") == ("new",)

    assert found == [(3.5, ["new"]), (4, ["old"])]


async def test_a_refresh_that_hangs_is_given_up_by_who_waits_for_it() -> None:
    table = Scripted()

    async with open_table(table, cache=Cache(9, 10, refresh_ahead=0.5), timeout=3) as opened:
        await opened.get("a")
        await anyio.sleep(8)
        table.takes = 99
        opened.peek("a")
        await anyio.sleep(1)
        table.takes = 1
        assert await outcome(opened, "a") == (13, "key 'a': the table gave no answer within 3 s")
        assert await outcome(opened, "a") == (14, ["a"])
        assert "cancelled" in table.log

    assert table.log == ["open", (0, ["a"]), (9, ["a"]), (13, ["a"]), "cancelled", "close"]


async def test_a_request_is_cancelled_when_nobody_waits_and_begun_anew() -> None:
    table = Scripted()
    table.clean_up = 0.3

    async with open_table(table) as opened:
        with anyio.move_on_after(0.5):
            await opened.get("a")
        assert await outcome(opened, "a") == (1.5, ["a"])

    assert table.log == ["open", (0, ["a"]), (0.5, ["a"]), "cancelled", "close"]


async def test_keys_that_gather_are_given_up_with_those_that_wait() -> None:
    table = Scripted()
    async with open_table(table, timeout=0.5, batch=Batch(max_wait=2)) as opened:
        with pytest.raises(CallTimedOut):
            await opened.get("a")
    batch = Batch(max_size=2, max_wait=2)
    async with open_table(table, batch=batch) as opened, anyio.create_task_group() as group:
        for key in "abc":
            group.start_soon(opened.get, key)

    assert [len(keys) for _, keys in table.asked] == [2, 1]


async def test_requests_begin_in_the_context_of_opening() -> None:
    variable = ContextVar("variable", default="unset")
    seen: list[str] = []

    class Looks(Scripted):
        async def get_many(self, keys: Any) -> dict[Any, Any]:
            seen.append(variable.get())
            variable.set("table")
            return {}

    variable.set("opening")
    async with open_table(Looks()) as opened:
        variable.set("lookup")
        await opened.get(1)
        await opened.get(1)
        assert variable.get() == "lookup"

    assert seen == ["opening", "opening"]
