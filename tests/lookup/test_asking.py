"""Failures, retries, deadlines and sharing of the requests for keys; invalid answers."""

from asyncio import CancelledError
from contextvars import ContextVar
from typing import Any

import anyio
import pytest
from lookups import Scripted, come_in_turn, counts, outcome, outcomes

from asyncwait.backends.lookup import open_table
from asyncwait.spec import (
    Batch,
    Cache,
    CallFailed,
    CallTimedOut,
    InvalidConfig,
    InvalidResult,
    Retry,
    RetryAfter,
)

pytestmark = pytest.mark.anyio


async def test_a_failure_is_one_of_all_that_wait_and_is_never_kept() -> None:
    table = Scripted()
    table.trouble = ValueError("boom")

    async with open_table(table, cache=Cache(9, 60, 60)) as opened:
        failed = await outcomes(opened, "a", "a")
        table.trouble = None
        assert await outcome(opened, "a") == (2, ["a"])
        assert opened.statistics().failed_requests == 1

    assert failed == [(1, "key 'a': the call failed: ValueError('boom')")] * 2


async def test_a_key_fails_alone() -> None:
    error = KeyError("bad")
    table = Scripted(a=error)

    async with open_table(table) as opened:
        with pytest.raises(CallFailed, match=r"^key 'a': the call failed: ") as caught:
            await opened.get("a")
        assert await outcome(opened, "b") == (2, ["b"])
        with pytest.raises(CallFailed):
            await opened.get_many(["b", "a"])

    assert caught.value.__cause__ is error
    assert caught.value.record is not None
    assert caught.value.record.value == "a"


async def test_each_waiter_repeats_by_its_own_policy_and_they_share_again() -> None:
    table = Scripted(a=ValueError("a"), b=RetryAfter(5))

    async with open_table(table, retry=Retry(max_attempts=3, initial=1)) as opened:
        found = await outcomes(opened, "a", "a")
        table.log.clear()
        table.rows["b"] = RetryAfter(5)
        async with anyio.create_task_group() as group:
            group.start_soon(outcomes, opened, "b")
            await anyio.sleep(2)
            table.rows["b"] = ["late"]
        assert counts(opened) == {"shared": 1, "loads": 2}

    expected = "key 'a': the call failed: ValueError('a') (after 3 attempts)"
    assert found == [(6, expected)] * 2  # three requests, and back-offs of one and two seconds
    assert table.asked == [(6, ["b"]), (12, ["b"])]


async def test_an_attempt_may_have_a_time_of_its_own() -> None:
    table = Scripted()
    table.takes = 99
    retry = Retry(max_attempts=2, initial=1, attempt_timeout=2)

    async with open_table(table, retry=retry, timeout=50) as opened:
        found = await outcome(opened, "a")

    expected = "key 'a': the call failed: TimeoutError('no answer after 2 s') (after 2 attempts)"
    assert found == (5, expected)
    assert table.asked == [(0, ["a"]), (3, ["a"])]


async def test_a_missing_key_may_be_asked_for_again() -> None:
    table = Scripted(a=None, b=None)
    retry = Retry(max_attempts=3, initial=2, multiplier=1)

    async with open_table(table, retry_missing=retry, cache=Cache(9, 60)) as opened:
        async with anyio.create_task_group() as group:
            group.start_soon(_change, table)
            found = await opened.get_many(["a", "b", "c"])
        assert found == [("late",), (), ("c",)]
        assert counts(opened) == {"loads": 3}
        assert opened.statistics().misses == 1

    assert table.asked == [(0, ["a", "b", "c"]), (3, ["a", "b"]), (6, ["b"])]


async def _change(table: Scripted) -> None:
    await anyio.sleep(2)
    table.rows["a"] = ["late"]


async def test_answers_that_are_there_count_at_the_deadline() -> None:
    table = Scripted()
    cache = Cache(9, ttl=2, stale_if_error=99)

    async with open_table(table, timeout=3, cache=cache) as opened:
        assert await opened.get_many(["a", "b"]) == [("a",), ("b",)]
        await anyio.sleep(4)
        table.rows = {"a": ["new"], "b": ["new"]}
        async with anyio.create_task_group() as group:
            group.start_soon(opened.get, "a")
            group.start_soon(opened.get, "c")
            await anyio.sleep(0.5)
            table.takes = 99
            assert await opened.get_many(["a", "b", "c"]) == [("new",), ("b",), ("c",)]
        table.takes = 1
        async with anyio.create_task_group() as group:
            group.start_soon(opened.get, "d")
            await anyio.sleep(0.5)
            table.takes = 99
            with pytest.raises(CallTimedOut, match=r"^key 'e': "):
                await opened.get_many(["d", "e"])
        assert opened.statistics().stale == 1


@pytest.mark.parametrize("failing", [None, OSError("down")])
async def test_a_deadline_names_no_key_whose_answer_would_be_asked_for_again(failing: Any) -> None:
    table = Scripted(a=failing)
    retry = Retry(initial=1)

    async with (
        open_table(table, timeout=3, retry=retry, retry_missing=retry) as opened,
        anyio.create_task_group() as group,
    ):
        group.start_soon(outcome, opened, "a")
        await anyio.sleep(0.5)
        table.takes = 99
        with pytest.raises(CallTimedOut, match=r"^key 'b': "):
            await opened.get_many(["a", "b"])


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({1.0: [1]}, "none of this call: 1.0 (float); it was asked for 1 (int), another type"),
        ({2: [2]}, "none of this call: 2 (int); answer for the keys of the call alone"),
        ([[1]], "expected a mapping from key to rows from get_many(), got [[1]] (list)"),
        ({1: None}, "key 1: expected a sequence of rows, got None (NoneType); answer [row]"),
        ({1: "ab"}, "key 1: expected a sequence of rows, got 'ab' (str)"),
    ],
)
async def test_an_answer_that_is_none_is_named(answer: Any, reason: str) -> None:
    class Wrong(Scripted):
        async def get_many(self, keys: Any) -> Any:
            return answer

    async with open_table(Wrong(), retry=Retry()) as opened:
        with pytest.raises(InvalidResult) as caught:
            await opened.get(1)

    assert reason in str(caught.value)
    assert str(caught.value).startswith("key 1: ")


async def test_a_cancellation_that_nobody_asked_for_is_a_failure() -> None:
    table = Scripted()
    table.trouble = CancelledError()

    async with open_table(table) as opened:
        with pytest.raises(CallFailed, match=r"get_many\(\) raised CancelledError, and no code"):
            await opened.get("a")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cache": 5}, "cache must be a Cache, a Full or None, got 5 (int)"),
        ({"timeout": 0}, "timeout must be a number of seconds > 0, or None for none, got 0"),
        ({"retry": 3}, "retry must be a Retry or None, got 3 (int)"),
        ({"batch": 3}, "batch must be a Batch or None, got 3 (int)"),
        ({"batch": Batch(split=True)}, "batch.split must be False: a table answers for each key"),
        ({"retry": Retry(on_result=any)}, "retry.on_result must be None: retry_missing says"),
        (
            {"retry_missing": Retry(attempt_timeout=1)},
            "retry_missing.attempt_timeout must be None: `retry` has it, got 1 (int)",
        ),
        (
            {"retry_missing": Retry(), "cache": Cache(1, 1, 1)},
            "missing_ttl must be None: with it a missing key would be asked for no more",
        ),
    ],
)
async def test_what_does_not_go_together_is_refused(options: Any, message: str) -> None:
    table = Scripted()
    with pytest.raises(InvalidConfig) as caught:
        async with open_table(table, **options):
            pass

    assert str(caught.value).startswith(message)
    assert table.log == []


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
