"""The rules of the cache, on a clock that jumps."""

from asyncio import CancelledError
from contextvars import ContextVar
from decimal import Decimal
from typing import Any

import anyio
import pytest
from lookups import Scripted
from operators import seconds_now

from asyncwait.backends.lookup import LookupStatistics, OpenTable, open_table
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

NAN = float("nan")

CLOSED = "the table is closed; look up while the context of open_table() is open"


def counts(opened: OpenTable) -> dict[str, int]:
    """How rows were answered, all that is not 0; the sum is that of the rows."""
    figures = opened.statistics()
    names = ("hits", "shared", "loads", "stale", "null_keys")
    found = {name: value for name in names if (value := getattr(figures, name))}
    assert sum(found.values()) == figures.rows
    return found


class Hangs(Scripted):
    """A table that never answers the first requests, so many of them."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self._times = times

    async def get_many(self, keys: Any) -> dict[Any, Any]:
        """Take the time, which is too long at first."""
        self.takes = 99.0 if len(self.asked) < self._times else 1.0
        return await super().get_many(keys)


async def outcome(opened: OpenTable, key: Any) -> Any:
    """What a lookup comes to, and when."""
    try:
        rows: Any = list(await opened.get(key))
    except Exception as error:
        rows = str(error)
    return seconds_now(), rows


async def outcomes(opened: OpenTable, *keys: Any) -> list[Any]:
    """The same for several lookups, which begin together."""
    found: list[Any] = [None] * len(keys)

    async def put(place: int, key: Any) -> None:
        found[place] = await outcome(opened, key)

    async with anyio.create_task_group() as group:
        for place, key in enumerate(keys):
            group.start_soon(put, place, key)
    return found


async def test_what_is_kept_answers_without_a_request() -> None:
    """A chunk makes one request, for each missing key once; `peek` decides a hit at once."""
    table = Scripted(b=None, c=["x", "y"])

    async with open_table(table, cache=Cache(10, ttl=60)) as opened:
        assert opened.peek("a") is None
        first = await opened.get_many(["a", "c", "a"])
        peeked = opened.peek("a")
        second = await opened.get_many(["c", "b", "c"])
        assert counts(opened) == {"hits": 3, "shared": 1, "loads": 3}
        assert opened.statistics().misses == 1

    assert first == [("a",), ("x", "y"), ("a",)]
    assert peeked == ("a",)
    assert second == [("x", "y"), (), ("x", "y")]
    assert table.log == ["open", (0, ["a", "c"]), (1, ["b"]), "close"]


async def test_lookups_share_one_request() -> None:
    """Whichever of its keys others wait for."""
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
    """Each waits under its own deadline, and a cancelled one is its own affair."""
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


async def come_in_turn(opened: OpenTable, seconds: float, keys: str) -> list[Any]:
    """What lookups come to that begin one after the other, so many seconds apart."""
    found: list[Any] = [None] * len(keys)

    async def put(place: int) -> None:
        await anyio.sleep(place * seconds)
        found[place] = await outcome(opened, keys[place])

    async with anyio.create_task_group() as group:
        for place in range(len(keys)):
            group.start_soon(put, place)
    return found


@pytest.mark.parametrize("batch", [None, Batch(max_wait=0, in_flight=1)])
async def test_a_request_that_was_late_for_somebody_is_shared_no_more(batch: Batch | None) -> None:
    """Those that wait keep it; the next one begins another, which is not stuck with them."""
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
    """It is the next one that is asked; another one would only come behind it."""
    table = Hangs(times=1)
    batch = Batch(max_wait=0, in_flight=1)

    async with open_table(table, timeout=2.875, batch=batch) as opened:
        found = await come_in_turn(opened, 0.75, "zazaaa")

    assert found[4:] == [(5.375, ["a"])] * 2
    assert table.asked == [(0, ["z"]), (4.375, ["a"])]


async def test_an_attempt_that_was_late_begins_another_request() -> None:
    """Although somebody still waits for the one that hangs, and who gives up later shares it."""
    table = Hangs(times=1)
    retry = Retry(max_attempts=2, initial=0.5, attempt_timeout=2)

    async with open_table(table, retry=retry) as opened:
        found = await come_in_turn(opened, 0.75, "aa")

    assert found == [(3.5, ["a"])] * 2
    assert table.asked == [(0, ["a"]), (2.5, ["a"])]


async def test_a_request_that_is_young_is_shared_whoever_gives_up() -> None:
    """A deadline that meets a second attempt says nothing of how long that one has taken."""
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
    """It is older than what the one behind it has read; who waits for it has it all the same."""
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
    """It serves nobody, so it is cancelled, and the next one asks again."""
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
    """Whoever comes while it ends does not wait for that."""
    table = Scripted()
    table.clean_up = 0.3

    async with open_table(table) as opened:
        with anyio.move_on_after(0.5):
            await opened.get("a")
        assert await outcome(opened, "a") == (1.5, ["a"])

    assert table.log == ["open", (0, ["a"]), (0.5, ["a"]), "cancelled", "close"]


async def test_keys_that_gather_are_given_up_with_those_that_wait() -> None:
    """Nobody is asked for them, and who comes later begins anew."""
    table = Scripted()
    async with open_table(table, timeout=0.5, batch=Batch(max_wait=2)) as opened:
        with pytest.raises(CallTimedOut):
            await opened.get("a")
    batch = Batch(max_size=2, max_wait=2)
    async with open_table(table, batch=batch) as opened, anyio.create_task_group() as group:
        for key in "abc":
            group.start_soon(opened.get, key)

    assert [len(keys) for _, keys in table.asked] == [2, 1]


async def test_leaving_ends_what_is_under_way() -> None:
    """No task is left, and the table is closed behind all requests."""
    table = Scripted()

    async with anyio.create_task_group() as group:
        async with open_table(table, cache=Cache(9, 10, refresh_ahead=0.5)) as opened:
            await opened.get("a")
            await anyio.sleep(6)
            opened.peek("a")
            group.start_soon(outcomes, opened, "b")
            await anyio.sleep(0.5)
        assert seconds_now() == 7.5
        group.cancel_scope.cancel()

    assert table.log[:4] == ["open", (0, ["a"]), (7, ["a"]), (7, ["b"])]
    assert table.log[4:] == ["cancelled", "cancelled", "close"]


async def test_a_table_that_was_left_says_so() -> None:
    """Each time, whatever is kept, and nothing waits."""
    table = Scripted()
    async with open_table(table, cache=Cache(9, 60)) as opened:
        await opened.get("a")

    for key in ("a", "b", "b", None):
        assert await outcome(opened, key) == (1, CLOSED)
        with pytest.raises(RuntimeError, match=r"^the table is closed; "):
            opened.peek(key)
    assert opened.statistics().keys == 1
    assert table.log == ["open", (0, ["a"]), "close"]


@pytest.mark.parametrize("batch", [None, Batch(max_wait=0.1)])
async def test_nothing_is_begun_while_a_table_is_left(batch: Batch | None) -> None:
    """Who goes on reading is told so, old rows or not, and holds nobody up."""
    table = Scripted()
    table.clean_up = 2
    cache = Cache(9, ttl=1, stale_if_error=99)
    found: list[Any] = []

    async def read(opened: OpenTable) -> None:
        found.extend([await outcome(opened, key) for key in "abb"])

    async with anyio.create_task_group() as group:
        async with open_table(table, cache=cache, retry=Retry(max_attempts=9), batch=batch) as it:
            await it.get("a")
            await anyio.sleep(1)
            begun = seconds_now()
            group.start_soon(read, it)
            await anyio.sleep(0.5)
        assert seconds_now() == begun + 2.5

    assert found == [(begun + 2.5, CLOSED)] * 3
    assert len(table.asked) == 2
    assert table.log[-2:] == ["cancelled", "close"]


async def test_who_never_gives_up_does_not_hold_up_leaving() -> None:
    """Although nothing but its lookups lets others run."""
    table = Scripted()
    has_left = False
    refused = 0

    async def read(opened: OpenTable) -> None:
        nonlocal refused
        while not has_left:
            try:
                await opened.get(refused)
            except RuntimeError:
                refused += 1

    async with anyio.create_task_group() as group:
        async with open_table(table) as opened:
            group.start_soon(read, opened)
            await anyio.sleep(0.5)
        has_left = True

    assert refused >= 1
    assert table.log == ["open", (0, [0]), "cancelled", "close"]


async def test_a_back_off_ends_when_the_table_is_left() -> None:
    """It is not taken for one more failure, and not for the deadline."""
    table = Scripted()
    table.trouble = OSError("down")
    retry = Retry(initial=50, max_attempts=9)
    found: list[Any] = []

    async def read(opened: OpenTable) -> None:
        found.append(await outcome(opened, "a"))

    async with (
        anyio.create_task_group() as group,
        open_table(table, retry=retry, timeout=20) as opened,
    ):
        group.start_soon(read, opened)
        await anyio.sleep(3)

    assert found == [(3, CLOSED)]
    assert len(table.asked) == 1


async def test_a_failure_is_one_of_all_that_wait_and_is_never_kept() -> None:
    """It names the key of each; the next lookup asks again."""
    table = Scripted()
    table.trouble = ValueError("boom")

    async with open_table(table, cache=Cache(9, 60, 60)) as opened:
        failed = await outcomes(opened, "a", "a")
        table.trouble = None
        assert await outcome(opened, "a") == (2, ["a"])
        assert opened.statistics().failed_requests == 1

    assert failed == [(1, "key 'a': the call failed: ValueError('boom')")] * 2


async def test_a_key_fails_alone() -> None:
    """An exception as a value is the failure of that key; its cause is that very exception."""
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
    """Attempts of one key are one request, too; the error tells how many there were."""
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
    """What hangs is given up, and tried again within the deadline."""
    table = Scripted()
    table.takes = 99
    retry = Retry(max_attempts=2, initial=1, attempt_timeout=2)

    async with open_table(table, retry=retry, timeout=50) as opened:
        found = await outcome(opened, "a")

    expected = "key 'a': the call failed: TimeoutError('no answer after 2 s') (after 2 attempts)"
    assert found == (5, expected)
    assert table.asked == [(0, ["a"]), (3, ["a"])]


async def test_rows_are_good_from_the_moment_of_asking() -> None:
    """A slow answer is not good for longer than a quick one."""
    table = Scripted()
    table.takes = 4

    async with open_table(table, cache=Cache(9, ttl=10)) as opened:
        await opened.get("a")
        await anyio.sleep(5.9)
        assert opened.peek("a") == ("a",)
        await anyio.sleep(0.1)
        assert opened.peek("a") is None
        await opened.get("a")

    assert table.asked == [(0, ["a"]), (10, ["a"])]


async def test_there_are_never_more_keys_than_may_be() -> None:
    """Who was used least recently goes first."""
    table = Scripted()

    async with open_table(table, cache=Cache(2, ttl=60)) as opened:
        await opened.get_many(["a", "b"])
        await opened.get("a")
        await opened.get_many(["c", "a"])
        assert [opened.peek(key) for key in "abc"] == [("a",), None, ("c",)]
        figures = opened.statistics()
        assert (figures.keys, figures.evictions) == (2, 1)
        assert await opened.get_many(["d", "e", "f"]) == [("d",), ("e",), ("f",)]
        assert (opened.statistics().keys, opened.statistics().evictions) == (2, 4)


async def test_misses_are_kept_only_if_that_is_said() -> None:
    """And as long as that says; a row that has gone takes the kept one along."""
    table = Scripted(a=None)

    async with open_table(table, cache=Cache(9, ttl=60, missing_ttl=10)) as opened:
        await opened.get("a")
        assert opened.peek("a") == ()
        assert opened.statistics().misses == 2
        await anyio.sleep(9)
        assert opened.peek("a") is None
    async with open_table(table, cache=Cache(9, ttl=60)) as opened:
        await opened.get("a")
        assert opened.peek("a") is None


async def test_a_missing_key_may_be_asked_for_again() -> None:
    """Each time it is the table that is asked, and what stays missing is a miss."""
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


async def test_a_hit_late_in_the_life_of_its_rows_has_them_read_again() -> None:
    """It is served at once; there is one such request, and a failed one changes nothing."""
    table = Scripted()

    async with open_table(table, cache=Cache(9, ttl=10, refresh_ahead=0.5)) as opened:
        await opened.get("a")
        await anyio.sleep(5)
        table.rows["a"] = ["new"]
        assert [opened.peek("a"), opened.peek("a")] == [("a",), ("a",)]
        await anyio.sleep(2)
        assert opened.peek("a") == ("new",)
        table.trouble = OSError()
        await anyio.sleep(5)
        assert await opened.get_many(["a", "a"]) == [("new",), ("new",)]
        await anyio.sleep(2)
        assert opened.peek("a") == ("new",)
        figures = opened.statistics()

    assert table.asked == [(0, ["a"]), (6, ["a"]), (13, ["a"])]
    assert (figures.refreshes, figures.hits, figures.requests, figures.failed_requests) == (
        (2, 6, 3, 1)
    )


async def test_old_rows_may_stand_in_for_a_table_that_fails() -> None:
    """For so long, and also for one that is late; a failure is what it is afterwards."""
    table = Scripted()
    cache = Cache(9, ttl=10, stale_if_error=20)

    async with open_table(table, cache=cache, timeout=3) as opened:
        await opened.get("a")
        table.trouble = OSError("down")
        await anyio.sleep(9)
        assert await outcome(opened, "a") == (11, ["a"])
        table.takes = 99
        assert await outcome(opened, "a") == (14, ["a"])
        table.takes = 1
        with pytest.raises(CallFailed, match=r"^key 'b': "):
            await opened.get("b")
        assert counts(opened) == {"loads": 2, "stale": 2}
        await anyio.sleep(15)
        assert (await outcome(opened, "a"))[1] == "key 'a': the call failed: OSError('down')"


async def test_old_rows_stand_in_before_any_retry() -> None:
    """One failure is enough, and so is one attempt that is late."""
    table = Scripted()
    cache = Cache(9, ttl=1, stale_if_error=99)

    async with open_table(table, cache=cache, retry=Retry(attempt_timeout=3)) as opened:
        await opened.get("a")
        table.trouble = OSError("down")
        assert await outcome(opened, "a") == (2, ["a"])
        table.takes = 99
        assert await outcome(opened, "a") == (5, ["a"])

    assert table.asked == [(0, ["a"]), (1, ["a"]), (2, ["a"])]


async def test_keys_are_the_same_only_if_their_types_are() -> None:
    """To a dict of Python they are one key; so no request has two of these."""
    keys = [1, 1.0, True, Decimal(1), (1,), (True,), (1, (1.0,)), "1"]
    asked: list[Any] = []

    class Kinds(Scripted):
        async def get_many(self, keys: Any) -> dict[Any, Any]:
            asked.append(keys)
            return {key: [repr(key)] for key in keys}

    async with open_table(Kinds(), cache=Cache(99, 60)) as opened:
        for _ in range(2):
            assert await opened.get_many(keys) == [(repr(key),) for key in keys]
        assert [opened.peek(key) for key in keys] == [(repr(key),) for key in keys]
        assert counts(opened) == {"loads": len(keys), "hits": 2 * len(keys)}

    expected = [[1, (1,), (1, (1.0,)), "1"], [1.0, (True,)], [True], [Decimal(1)]]
    assert sorted(map(repr, asked)) == sorted(map(repr, expected))  # they begin together


async def test_a_key_that_no_row_can_have_is_never_asked_for() -> None:
    """Null, in whole or in part, and NaN, which is equal to nothing."""
    table = Scripted()
    keys = [None, (1, None), NAN, (1, (2, NAN))]

    async with open_table(table, cache=Cache(9, 60, 60)) as opened:
        assert await opened.get_many([*keys, 1]) == [(), (), (), (), (1,)]
        assert [opened.peek(key) for key in keys] == [()] * 4
        assert counts(opened) == {"null_keys": 8, "loads": 1}
        figures = opened.statistics()

    assert table.asked == [(0, [1])]
    assert (figures.misses, figures.keys) == (0, 1)


async def test_a_key_that_has_no_hash_is_refused() -> None:
    """By its name, and before anything is asked."""
    table = Scripted()

    async with open_table(table) as opened:
        with pytest.raises(CallFailed, match=r"^key \['a'\]: .*unhashable type: 'list'"):
            await opened.get_many(["b", ["a"]])

    assert table.asked == []


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
    """It says what came, and what is right; to repeat it would not help."""

    class Wrong(Scripted):
        async def get_many(self, keys: Any) -> Any:
            return answer

    async with open_table(Wrong(), retry=Retry()) as opened:
        with pytest.raises(InvalidResult) as caught:
            await opened.get(1)

    assert reason in str(caught.value)
    assert str(caught.value).startswith("key 1: ")


async def test_requests_begin_in_the_context_of_opening() -> None:
    """One may serve rows of anybody, and is nobody's own."""
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


async def test_figures_tell_of_requests() -> None:
    """Sizes and times; of nothing, nothing."""
    table = Scripted()

    async with open_table(table) as opened:
        assert opened.statistics() == LookupStatistics()
        await opened.get_many([1, 2, 3])
        table.takes = 3
        await opened.get(4)
        figures = opened.statistics()

    assert (figures.requests, figures.mean_batch, figures.max_batch) == (2, 2.0, 3)
    assert figures.latency_p50 == pytest.approx(2)
    assert figures.latency_p99 == pytest.approx(2.98)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_keys": 0, "ttl": 1}, "max_keys must be a whole number >= 1, got 0 (int)"),
        ({"max_keys": 1, "ttl": 0}, "ttl must be a number of seconds > 0, got 0 (int)"),
        ({"max_keys": 1, "ttl": 1, "missing_ttl": -1}, "missing_ttl must be a number of seconds"),
        ({"max_keys": 1, "ttl": 1, "refresh_ahead": 1}, "refresh_ahead must be a number above 0"),
        ({"max_keys": 1, "ttl": 1, "stale_if_error": NAN}, "stale_if_error must be a number"),
    ],
)
def test_wrong_settings_are_named(settings: Any, message: str) -> None:
    """With value and type, when they are made."""
    with pytest.raises(InvalidConfig) as caught:
        Cache(**settings)

    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cache": 5}, "cache must be a Cache, a Full or None, got 5 (int)"),
        ({"cache": Cache(1, 1, key=len)}, "cache.key must be None: a lookup is given its keys"),
        ({"timeout": 0}, "timeout must be a number of seconds > 0, or None for none, got 0"),
        ({"retry": 3}, "retry must be a Retry or None, got 3 (int)"),
        ({"batch": 3}, "batch must be a Batch or None, got 3 (int)"),
        ({"batch": Batch(split=True)}, "batch.split must be False: a table answers for each key"),
        ({"retry": Retry(on_result=any)}, "retry.on_result must be None: retry_missing says"),
        (
            {"retry_missing": Retry(attempt_timeout=1)},
            "retry_missing.attempt_timeout must be None: that of retry counts, got 1 (int)",
        ),
        (
            {"retry_missing": Retry(), "cache": Cache(1, 1, 1)},
            "missing_ttl must be None: with it a missing key would be asked for no more",
        ),
    ],
)
async def test_what_does_not_go_together_is_refused(options: Any, message: str) -> None:
    """Before the table is opened."""
    table = Scripted()
    with pytest.raises(InvalidConfig) as caught:
        async with open_table(table, **options):
            pass

    assert str(caught.value).startswith(message)
    assert table.log == []


async def test_a_deadline_that_is_met_by_nobody_names_one_key() -> None:
    """The first of the chunk."""
    table = Scripted()

    async with open_table(table, timeout=0.5) as opened:
        with pytest.raises(CallTimedOut, match=r"^key 1: .* within 0\.5 s$"):
            await opened.get_many([1, 2])


async def test_answers_that_are_there_count_at_the_deadline() -> None:
    """It names a key that has none; old rows stand in for such a key alone."""
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
    """Where there is one that has no answer."""
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


async def test_a_cancellation_that_nobody_asked_for_is_a_failure() -> None:
    """Nobody hangs because of it."""
    table = Scripted()
    table.trouble = CancelledError()

    async with open_table(table) as opened:
        with pytest.raises(CallFailed, match=r"get_many\(\) raised CancelledError, and nobody"):
            await opened.get("a")
