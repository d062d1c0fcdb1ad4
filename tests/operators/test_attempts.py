"""Attempts and errors of plain values, with the times of real services."""

import asyncio
import logging
import pickle
import random
from collections.abc import AsyncIterator, Callable
from types import SimpleNamespace
from typing import Any

import pytest
from operators import PLAIN_FORMS

from asyncwait.backends.pool import key_ordered_wait, ordered_wait, unordered_wait
from asyncwait.backends.services import InFlight, Limit, transient
from asyncwait.conformance.harness import VirtualLoop
from asyncwait.spec import (
    Batch,
    Cache,
    CallFailed,
    InvalidConfig,
    ResultRejected,
    Retry,
)
from asyncwait.toolkit import PlainWait, WrongFunction


@pytest.fixture(params=["pool", "reference"])
def wait(request: pytest.FixtureRequest) -> PlainWait:
    return PLAIN_FORMS[request.param]["ordered"]


def run(main: Callable[[], Any]) -> Any:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main())


def now() -> float:
    return asyncio.get_running_loop().time()


async def given(wait: Any, values: Any, fn: Any, **options: Any) -> list[Any]:
    async with wait(values, fn, **options) as results:
        return [each async for each in results]


async def ended(wait: Any, values: Any, fn: Any, **options: Any) -> tuple[list[Any], Any]:
    got: list[Any] = []
    try:
        async with wait(values, fn, **options) as results:
            async for each in results:
                got.append(each)
                await asyncio.sleep(0.02)
    except CallFailed as error:
        return got, error
    return got, None


TOO_LATE = "Wed, 21 Oct 2015 07:28:00 GMT"


@pytest.mark.parametrize(
    ("header", "starts"),
    [("0", [0, 1, 3, 7]), ("-3", [0, 1, 3, 7]), (TOO_LATE, [0, 1, 3, 7]), ("3", [0, 3, 6, 10]),
     ("3600", [0, 60, 120, 180])],
)  # fmt: skip
def test_the_longer_of_hint_and_back_off_counts(
    wait: PlainWait, header: str, starts: list[float]
) -> None:
    class TooMany(Exception):
        response = SimpleNamespace(status_code=429, headers={"Retry-After": header})

    async def main() -> list[float]:
        at: list[float] = []

        async def ask(_: int) -> None:
            at.append(now())
            raise TooMany

        retry = Retry(max_attempts=4, initial=1, jitter=0, on_error=transient, retry_after_cap=60)
        assert await given(wait, [1], ask, retry=retry, on_error="skip") == []
        return at

    assert run(main) == starts


def test_results_that_are_rejected_to_the_end_fail(wait: PlainWait) -> None:
    async def poll(_: int) -> dict[str, str]:
        return {"status": "pending"}

    def is_pending(result: dict[str, str]) -> bool:
        return result["status"] == "pending"

    async def main(**options: Any) -> Any:
        retry = Retry(max_attempts=3, on_result=is_pending, **options)
        return await given(wait, [1], poll, retry=retry, on_error=lambda _, e: e)

    (error,) = run(main)
    assert (error.attempts, type(error.__cause__)) == (3, ResultRejected)
    assert error.__cause__.results == ({"status": "pending"},)
    assert run(lambda: main(rejected="accept")) == [{"status": "pending"}]


def test_each_back_off_is_told(wait: PlainWait, caplog: pytest.LogCaptureFixture) -> None:
    told: list[Any] = []

    async def main() -> list[Any]:
        async def ask(value: str) -> str:
            if len(told) < 2:
                raise ConnectionError(value)
            return value

        def note(*args: Any) -> None:
            told.append(args)

        retry = Retry(max_attempts=3, initial=20, jitter=0, on_retry=note)
        return await given(wait, ["a"], ask, retry=retry)

    with caplog.at_level(logging.INFO, "asyncwait"):
        assert run(main) == ["a"]
    assert [(v, n, type(e), s) for v, n, e, s in told] == [
        ("a", 1, ConnectionError, 20), ("a", 2, ConnectionError, 40)
    ]  # fmt: skip
    assert [each.levelname for each in caplog.records] == ["INFO", "INFO"]


def test_a_hook_that_raises_ends_the_stream_and_drops_no_record(wait: PlainWait) -> None:
    async def ask(value: int) -> int:
        raise ConnectionError("reset")

    def broken(*_: Any) -> None:
        raise KeyError("a field of the log")

    with pytest.raises(InvalidConfig, match="on_retry"):
        Retry(on_retry=lambda _: None)
    _, error = run(lambda: ended(wait, [1], ask, retry=Retry(on_retry=broken), on_error="skip"))
    assert (type(error.__cause__), error.value) == (WrongFunction, 1)


def test_the_log_tells_of_failures_that_a_handler_hides(
    wait: PlainWait, caplog: pytest.LogCaptureFixture
) -> None:
    async def ask(value: int) -> int:
        if value == 1:
            raise ValueError(value)
        return value

    assert run(lambda: given(wait, range(3), ask, on_error="skip")) == [0, 2]
    assert [(each.name, each.levelname) for each in caplog.records] == [("asyncwait", "WARNING")]


def test_what_a_cancelled_call_raises_is_told_on_leaving(caplog: pytest.LogCaptureFixture) -> None:
    async def ask(value: int) -> int:
        if value == 1:
            await asyncio.sleep(1)
            raise ValueError(value)
        try:
            await asyncio.sleep(60)
        finally:
            raise OSError("closing")

    _, error = run(lambda: ended(ordered_wait, range(2), ask))
    assert any("OSError('closing')" in note for note in error.__notes__)
    assert "OSError('closing')" in caplog.text


@pytest.mark.parametrize("seed", range(60))
def test_of_a_stream_that_is_finished_each_value_is_told_once(seed: int) -> None:
    chance = random.Random(seed)
    mode = chance.choice([ordered_wait, unordered_wait, key_ordered_wait])
    options: dict[str, Any] = {"capacity": chance.choice([1, 2, 5, 100])}
    if mode is key_ordered_wait:
        options["key"] = lambda value: value % 3
    kinds: list[dict[str, Any]] = [
        {},
        {"timeout": 60},
        {"limits": [InFlight(3)]},
        {"limits": [Limit(calls=2, per=4)]},
        {"retry": Retry(on_error=OSError, initial=30)},
        {"batch": Batch(max_size=min(3, options["capacity"]), in_flight=2)},
        {"cache": Cache(100, 600)},
    ]
    options |= chance.choice(kinds)
    takes = [chance.choice([1, 5, 20]) for _ in range(20)]
    failing = set(chance.sample(range(20), 3))
    read: list[int] = []
    begun: list[tuple[int, float]] = []
    failed: list[float] = []
    whole: list[float] = []  # when batches have given what failed

    async def source() -> AsyncIterator[int]:
        for value in range(20):
            await asyncio.sleep(chance.choice([0, 0, 3]))
            read.append(value)
            yield value

    async def ask(value: int) -> int:
        begun.append((value, now()))
        await asyncio.sleep(takes[value])
        if value in failing:
            failed.append(now())
            raise ValueError(value)
        if "retry" in options and value % 5 == 0 and [n for n, _ in begun].count(value) == 1:
            raise OSError("reset")
        return value

    async def ask_all(values: list[int]) -> list[Any]:
        given = await asyncio.gather(*map(ask, values), return_exceptions=True)
        if failing.intersection(values):
            whole.append(now())
        return given

    fn: Any = ask_all if "batch" in options else ask
    got, error = run(lambda: ended(mode, source(), fn, on_failure="finish", **options))
    assert all(at <= (whole or failed)[0] for _, at in begun)
    told = [*got, error.value, *(each.value for each in error.others), *error.uncalled]
    assert sorted(told) == read
    called = {value for value, _ in begun}
    assert called >= set(read) - set(error.uncalled)
    assert "retry" in options or called.isdisjoint(error.uncalled)
    copied = pickle.loads(pickle.dumps(error))  # noqa: S301 - made here
    noted = [getattr(each, "__notes__", None) for each in (copied, error)]
    assert (copied.uncalled, noted[0]) == (error.uncalled, noted[1])


def test_a_failure_says_how_many_results_it_drops() -> None:
    async def ask(value: int) -> int:
        await asyncio.sleep({0: 20, 9: 2}.get(value, 1))
        if value == 9:
            raise ValueError(value)
        return value

    got, error = run(lambda: ended(ordered_wait, range(10), ask))
    assert (got, error.dropped) == ([], 8)
    assert any(note.startswith("8 ") for note in error.__notes__)
