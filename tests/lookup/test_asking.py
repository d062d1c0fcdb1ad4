"""Failures, retries, deadlines and sharing of the requests for keys; invalid answers."""

from asyncio import CancelledError
from contextvars import ContextVar
from typing import Any

import pytest
from lookups import Readable, Scripted, Timeline, outcome, play

from asyncwait.backends.lookup import Full, open_table
from asyncwait.spec import (
    Batch,
    Cache,
    CallFailed,
    InvalidConfig,
    InvalidResult,
    Retry,
    RetryAfter,
)

pytestmark = pytest.mark.anyio


A, B = ["a"], ["b"]
BOOM = "key 'a': the call failed: ValueError('boom')"
DOWN = "; the attempt before failed: OSError('down')"
HANGS, ANSWERS = {"takes": 99}, {"takes": 1}
ONE = Batch(max_wait=0, in_flight=1)
AGAIN = Retry(initial=1)
UNASKED = (
    "key 'a': the call failed: RuntimeError('get_many() raised CancelledError, and no code "
    "cancelled it')"
)


def late(key: str, seconds: float) -> str:
    return f"key {key!r}: the table gave no answer within {seconds:g} s"


def in_turn(keys: str, every: float) -> list[Any]:
    return [(place * every, key) for place, key in enumerate(keys)]


TIMELINES = {
    "a failure is one of all that wait, and is never kept": Timeline(
        [
            (0, {"trouble": ValueError("boom")}),
            (0.1, "a"),
            (0.1, "a"),
            (0.5, {"trouble": None}),
            (2, "a"),
        ],
        [(1.1, BOOM), (1.1, BOOM), (3, A)],
        [(0.1, A), (2, A)],
        {"cache": Cache(9, 60, 60)},
        {"failed_requests": 1},
    ),
    "waiters repeat, and share again": Timeline(
        [(0, {"rows": {"a": ValueError("boom")}}), (1, "a"), (1, "a")],
        [(7, f"{BOOM} (after 3 attempts)")] * 2,
        [(1, A), (3, A), (6, A)],
        {"retry": Retry(max_attempts=3, initial=1)},
        {"shared": 1, "loads": 1},
    ),
    "a key says when to come again": Timeline(
        [(0, {"rows": {"a": RetryAfter(5)}}), (1, "a"), (3, {"rows": {}})],
        [(8, A)],
        [(1, A), (7, A)],
        {"retry": AGAIN},
    ),
    "an attempt has a time of its own": Timeline(
        [(0, HANGS), (1, "a")],
        [(6, "key 'a': the call failed: TimeoutError('no answer after 2 s') (after 2 attempts)")],
        [(1, A), "cancelled", (4, A), "cancelled"],
        {"retry": Retry(max_attempts=2, initial=1, attempt_timeout=2), "timeout": 50},
    ),
    "missing keys are asked for again": Timeline(
        [(0, {"rows": {"a": None, "b": None}}), (1, ["a", "b", "c"]), (3, {"rows": {"b": None}})],
        [(8, [A, [], ["c"]])],
        [(1, ["a", "b", "c"]), (4, ["a", "b"]), (7, B)],
        {"retry_missing": Retry(max_attempts=3, initial=2, multiplier=1), "cache": Cache(9, 60)},
        {"loads": 3, "misses": 1},
    ),
    "answers that are there count at the deadline, and old rows": Timeline(
        [
            (0, ["a", "b"]),
            (4, {"rows": {"a": ["new"], "b": ["new"]}}),
            *((5, "a"), (5.1, "c"), (5.4, HANGS), (5.5, ["a", "b", "c"])),
        ],
        [(1, [A, B]), (6, ["new"]), (6.1, ["c"]), (8.5, [["new"], B, ["c"]])],
        [(0, ["a", "b"]), (5, A), (5.1, ["c"]), (5.5, B), "cancelled"],
        {"timeout": 3, "cache": Cache(9, ttl=2, stale_if_error=99)},
        {"stale": 1},
    ),
    "a deadline names a key without an answer": Timeline(
        [(0, "a"), (0.4, HANGS), (0.5, ["a", "b"])],
        [(1, A), (3.5, late("b", 3))],
        [(0, A), (0.5, B), "cancelled"],
        {"timeout": 3},
    ),
    "a deadline names no key that would be missing again": Timeline(
        [(0, {"rows": {"a": None}}), (0.1, "a"), (0.4, HANGS), (0.5, ["a", "b"])],
        [(3.1, late("a", 3)), (3.5, late("b", 3))],
        [(0.1, A), (0.5, B), (2.1, A), "cancelled", "cancelled"],
        {"timeout": 3, "retry": AGAIN, "retry_missing": AGAIN},
    ),
    "a deadline names no key that would fail again": Timeline(
        [(0, {"rows": {"a": OSError("down")}}), (0.1, "a"), (0.4, HANGS), (0.5, ["a", "b"])],
        [(3.1, late("a", 3) + DOWN), (3.5, late("b", 3))],
        [(0.1, A), (0.5, B), (2.1, A), "cancelled", "cancelled"],
        {"timeout": 3, "retry": AGAIN, "retry_missing": AGAIN},
    ),
    "a cancellation that no code asked for is a failure": Timeline(
        [(0, {"trouble": CancelledError()}), (0.1, "a")],
        [(1.1, UNASKED)],
        [(0.1, A)],
    ),
    "lookups share one request": Timeline(
        [(0, "a"), (0, "a"), (0, "a"), (1.5, ["a", "b"]), (2, ["b", "c"])],
        [(1, A), (1, A), (1, A), (2.5, [A, B]), (3, [B, ["c"]])],
        [(0, A), (1.5, ["a", "b"]), (2, ["c"])],
        {},
        {"shared": 3, "loads": 4},
    ),
    "a waiter that leaves does not end the request of others": Timeline(
        [(0, "a"), (0.1, "a", 0.4), (0.6, "a")],
        [(1, A), None, (1, A)],
        [(0, A)],
    ),
    "a request is cancelled once all are late": Timeline(
        [(0, HANGS), (0.1, "a"), (0.1, "a")],
        [(1.3, late("a", 1.2))] * 2,
        [(0.1, A), "cancelled"],
        {"timeout": 1.2},
        {"shared": 1, "loads": 1},
    ),
    "a request that was late for a lookup is shared no more": Timeline(
        [(0, HANGS), (0.5, ANSWERS), *in_turn("aaaaaa", 1.25)],
        [*[(at, late("a", 3)) for at in (3, 4.25, 5.5)], (4.75, A), (6, A), (7.25, A)],
        [(0, A), (3.75, A), (5, A), "cancelled", (6.25, A)],
        {"timeout": 3},
    ),
    "a request that hangs has its place until all have left it": Timeline(
        [(0, HANGS), (0.5, ANSWERS), *in_turn("aaaaaa", 1.25)],
        [*[(at, late("a", 3)) for at in (3, 4.25, 5.5)], *[(6.5, A)] * 3],
        [(0, A), "cancelled", (5.5, A)],
        {"timeout": 3, "batch": ONE},
    ),
    "a request without a place is shared, although a lookup gave up": Timeline(
        [(0, HANGS), (0.5, ANSWERS), *in_turn("zazaaa", 0.75)],
        [*[(2.875 + n * 0.75, late("zaza"[n], 2.875)) for n in range(4)], *[(5.375, A)] * 2],
        [(0, ["z"]), "cancelled", (4.375, A)],
        {"timeout": 2.875, "batch": ONE},
    ),
    "a request that was cancelled has its place until it has ended": Timeline(
        [(0, {"clean_up": 2}), (0, "a", 0.5), (0.6, "b")],
        [None, (3.5, B)],
        [(0, A), "cancelled", (2.5, B)],
        {"batch": ONE},
    ),
    "an attempt that was late begins another request": Timeline(
        [(0, HANGS), (0.5, ANSWERS), *in_turn("aa", 0.75)],
        [(3.5, A)] * 2,
        [(0, A), (2.5, A), "cancelled"],
        {"retry": Retry(max_attempts=2, initial=0.5, attempt_timeout=2)},
    ),
    "a young request is shared, although a lookup gave up": Timeline(
        [
            (0, {"trouble": OSError("down")}),
            *((0.1, "a"), (1.5, {"trouble": None, "takes": 2}), (2.25, "a"), (2.75, "a")),
        ],
        [(2.6, late("a", 2.5) + DOWN), (4.1, A), (4.1, A)],
        [(0.1, A), (2.1, A)],
        {"timeout": 2.5, "retry": AGAIN},
    ),
    "what comes of a request that was late is not kept": Timeline(
        [
            (0, {"rows": {"a": ["new"]}, "takes": 4}),
            *((0.1, "a"), (1.5, "a"), (3.05, {"takes": 0.25})),
            *((3.8, {"rows": {"a": ["old"]}}), (5, {"peek": "a"})),
        ],
        [(3.6, ["new"]), (4.1, ["old"]), ["new"]],
        [(0.1, A), (3.35, A)],
        {"cache": Cache(9, 60), "retry": Retry(max_attempts=2, initial=0.25, attempt_timeout=3)},
    ),
    "a refresh that hangs is given up by a lookup that waits for it": Timeline(
        [(0, "a"), (8, HANGS), (9, {"peek": "a"}), (9.5, ANSWERS), (10, "a"), (13.5, "a")],
        [(1, A), A, (13, late("a", 3)), (14.5, A)],
        [(0, A), (9, A), "cancelled", (13.5, A)],
        {"cache": Cache(9, 10, refresh_ahead=0.5), "timeout": 3},
    ),
    "a request is cancelled when the last lookup has left, and begun anew": Timeline(
        [(0, {"clean_up": 0.3}), (0, "a", 0.5), (0.6, "a")],
        [None, (1.6, A)],
        [(0, A), (0.6, A), "cancelled"],
    ),
    "keys that gather are given up with the lookups that wait": Timeline(
        [(0, "a")], [(0.5, late("a", 0.5))], [], {"timeout": 0.5, "batch": Batch(max_wait=2)}
    ),
    "a full request goes at once": Timeline(
        [(0, "a"), (0.1, "b"), (0.2, "c")],
        [(1.1, A), (1.1, B), (3.2, ["c"])],
        [(0.1, ["a", "b"]), (2.2, ["c"])],
        {"batch": Batch(max_size=2, max_wait=2)},
    ),
}


@pytest.mark.parametrize("name", TIMELINES)
async def test_requests_and_answers_have_their_times(name: str) -> None:
    await play(Scripted(), TIMELINES[name])


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
        ({"cache": Full()}, "table must be one with load_all(), for the cache is Full, got "),
        (
            {"table": Readable(), "cache": Full(), "retry": Retry()},
            "retry must be None: with Full no lookup waits",
        ),
        ({"table": play}, "table must be a table with open(), close() and get_many(keys); Functio"),
    ],
)
async def test_what_does_not_go_together_is_refused(options: Any, message: str) -> None:
    table = Scripted()
    with pytest.raises(InvalidConfig) as caught:
        async with open_table(**{"table": table, **options}):
            pass

    assert str(caught.value).startswith(message)
    assert table.log == []


@pytest.mark.parametrize("wrong", [{"reload": 0}, {"max_age": -1}])
def test_bounds_of_a_copy_are_seconds(wrong: dict[str, float]) -> None:
    (name,) = wrong
    with pytest.raises(InvalidConfig, match=rf"^{name} must be a number of seconds > 0, or None"):
        Full(**wrong)


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
