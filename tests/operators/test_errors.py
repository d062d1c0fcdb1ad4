"""Texts of errors, which no rule reads, for each shipped operator."""

import re
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from operators import EVERY, Sleeper, Source, echo, failure_of, read_all

from asyncwait.backends import threads
from asyncwait.spec import (
    CallFailed,
    InvalidConfig,
    InvalidResult,
    OpenOperator,
    OperatorConfig,
    Record,
    Retry,
    RetryAfter,
    TooManyAbandonedCalls,
)
from asyncwait.toolkit import WrongFunction

pytestmark = pytest.mark.anyio


async def error_of(open_operator: OpenOperator, fn: Any, *script: Any, **config: Any) -> Any:
    async with open_operator(OperatorConfig(**config), fn, Source(*script)) as results:
        return await failure_of(results)


def giving(given: Any) -> Callable[[Any], Any]:
    async def fn(_: Any) -> Any:
        return given

    return fn


def raising(error: BaseException) -> Callable[[Any], Any]:
    def fn(_: Any) -> Any:
        raise error

    return fn


def refusing(given: Any) -> Any:
    class Client:
        def async_invoke(self, _: str, result: Any) -> None:
            result.complete_exceptionally(given)

    return Client()


async def test_a_coroutine_function_is_no_callback_form(open_operator: OpenOperator) -> None:
    class Mixed:
        async def async_invoke(self, value: str, result: Any) -> None:
            result.complete([value])

    with pytest.raises(InvalidConfig, match=r"^fn\.async_invoke must be "):
        open_operator(OperatorConfig(), Mixed(), Source("a"))


@pytest.mark.parametrize("name", ["config", "fn", "elements", "restore"])
@pytest.mark.parametrize("operator", [*EVERY, "threads"])
def test_a_wrong_argument_is_refused_by_name(operator: str, name: str) -> None:
    opens: Any = {**EVERY, "threads": threads.open_operator}[operator]
    arguments: dict[str, Any] = {"config": OperatorConfig(), "fn": echo, "elements": Source("a")}

    with pytest.raises(InvalidConfig, match=f"^{name} must be "):
        opens(**arguments | {name: "something else"})


@pytest.mark.all_profiles
@pytest.mark.parametrize("attempts", [1, 2])
async def test_a_copy_that_raises_is_a_failed_call(
    open_operator: OpenOperator, attempts: int
) -> None:
    reason = ValueError("no copy")
    errors = [reason]

    def copy(value: str) -> str:
        if errors:
            raise errors.pop()
        return value

    config = OperatorConfig(copy=copy, retry=Retry(max_attempts=attempts))
    async with open_operator(config, echo, Source("a")) as results:
        if attempts > 1:
            assert await read_all(results) == ["a"]
            return
        error: Any = await failure_of(results)
    assert (type(error), error.record, error.__cause__) == (CallFailed, Record("a"), reason)


@pytest.mark.all_profiles
async def test_what_a_failure_handler_gives_is_read_like_any_results(
    open_operator: OpenOperator,
) -> None:
    fn: Any = raising(ValueError("a"))
    fn.failure = lambda *_: "unknown"

    assert type(await error_of(open_operator, fn, "a")) is InvalidResult


@pytest.mark.all_profiles
@pytest.mark.parametrize(
    ("fn", "kind", "told"),
    [
        (str.upper, WrongFunction, "'A'; is it an `async def`?"),
        *((refusing(each), TypeError, repr(each)) for each in ("line is down", None, ValueError)),
    ],
    ids=["no coroutine function", "text", "none", "class"],
)
async def test_a_slip_in_the_function_fails_its_record_with_a_type_error(
    open_operator: OpenOperator, fn: Any, kind: type[Exception], told: str
) -> None:
    error = await error_of(open_operator, fn, "a")

    assert (type(error), error.record, type(error.__cause__)) == (
        CallFailed,
        Record("a"),
        kind,
    )
    assert f"got {told}" in str(error.__cause__)
    assert str(error).count(kind.__name__) == 1


async def test_what_is_no_element_is_shown_with_the_cure(open_operator: OpenOperator) -> None:
    async def source() -> Any:
        yield Record("a")
        yield b"raw"

    async with open_operator(OperatorConfig(), echo, source()) as results:
        assert await anext(results) == Record("a")
        error = await failure_of(results)

    assert type(error) is TypeError
    assert "b'raw'" in str(error)
    assert "Record" in str(error).split(";")[1]


async def test_calls_that_run_on_are_told_with_their_number(open_operator: OpenOperator) -> None:
    fn: Any = Sleeper()
    fn.clean_up = 50
    fn.timeout = lambda value: [value]

    error = await error_of(open_operator, fn, "a9", "b9", "c9", capacity=1, timeout=1)

    assert type(error) is TooManyAbandonedCalls
    assert error.record is None
    assert re.match(r"2 .*calls run on.* at most 1 .*cancellation", str(error))


class Hidden:
    def __repr__(self) -> str:
        raise AssertionError("shown")


async def test_what_can_not_be_shown_fails_as_anything_else(open_operator: OpenOperator) -> None:
    value, reason = Hidden(), ValueError("no")

    error = await error_of(open_operator, raising(reason), Record(value))

    assert (type(error), error.record.value, error.__cause__) == (CallFailed, value, reason)
    assert "<Hidden, whose repr raised AssertionError>" in str(error)
    assert type(await error_of(open_operator, giving(Hidden()), "a")) is InvalidResult


def length_of(traceback: Any) -> int:
    return 0 if traceback is None else 1 + length_of(traceback.tb_next)


async def test_the_traceback_of_a_failure_does_not_grow_with_each_read(
    open_operator: OpenOperator,
) -> None:
    lengths = set()

    async with open_operator(OperatorConfig(), Sleeper(), Source("x!")) as results:
        error = await failure_of(results)
    for _ in range(3):
        assert await failure_of(results) is error
        lengths.add(length_of(error.__traceback__))

    assert len(lengths) == 1


@pytest.mark.all_profiles
async def test_a_failure_handler_may_raise_what_it_was_given(open_operator: OpenOperator) -> None:
    reason = ValueError("a")
    fn: Any = raising(reason)
    cause: Any = lambda _, error: raising(error.__cause__)(_)  # noqa: E731 - in a line
    whole: Any = lambda _, error: raising(error)(_)  # noqa: E731 - in a line

    for fn.failure in (cause, whole):
        error = await error_of(open_operator, fn, "a")

        assert error.__cause__ is reason
        assert "handler" not in str(error)


class Throttled(RetryAfter):
    def __init__(self, response: Any) -> None:
        self.response = response


@pytest.mark.all_profiles
@pytest.mark.parametrize("seconds", [None, "soon", -1, float("nan")])
async def test_a_retry_after_without_seconds_fails_its_record(
    open_operator: OpenOperator, seconds: Any
) -> None:
    reason = Throttled("later")
    if seconds is not None:
        reason.seconds = seconds

    error = await error_of(open_operator, raising(reason), "a", retry=Retry())

    assert type(error) is CallFailed
    assert error.__cause__ is reason
    assert "super().__init__(seconds)" in str(error)
    assert error.record == Record("a")


async def slow(value: str) -> list[str]:
    await anyio.sleep(1)
    return [value]


class Unlike:
    def __init__(self, *, hashes: bool) -> None:
        self.hashes = hashes

    def __hash__(self) -> int:
        if not self.hashes:
            raise ValueError("no hash")
        return 1

    def __eq__(self, other: object) -> bool:
        raise ValueError("nothing is equal")

    def __repr__(self) -> str:
        return "Unlike()"


@pytest.mark.all_profiles
@pytest.mark.parametrize(
    ("hashes", "value", "said"), [(False, "a", "no hash"), (True, "b", "nothing is equal")]
)
async def test_a_key_that_can_not_be_looked_up_fails_the_operator(
    open_operator: OpenOperator, value: str, said: str, *, hashes: bool
) -> None:
    records = [Record(name, key=Unlike(hashes=hashes)) for name in "ab"]

    error = await error_of(open_operator, slow, *records, mode="key-ordered")

    assert (error.record.value, repr(error.__cause__)) == (value, f"ValueError({said!r})")
