"""Texts of errors, odd values, keys and deadlines, for each shipped operator."""

import re
from collections.abc import Callable
from math import inf
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from operators import (
    SIDE_BY_SIDE,
    Callbacks,
    Sleeper,
    Source,
    echo,
    failure_of,
    read_all,
    read_timed,
)

from asyncwait.spec import (
    CallFailed,
    InvalidResult,
    Mode,
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


async def slow(value: str) -> list[str]:
    await anyio.sleep(1)
    return [value]


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


class Hostile:
    __hash__ = None  # type: ignore[assignment]

    def _refuse(self, *_: Any) -> Any:
        raise AssertionError("looked at")

    __eq__ = __bool__ = __len__ = __repr__ = __iter__ = __copy__ = __deepcopy__ = _refuse


ODD = [None, 0, 0.0, False, "", b"", (), [], {}, set[int](), 1, 1.0, True, float("nan"), Hostile()]


@pytest.mark.parametrize("mode", SIDE_BY_SIDE)
async def test_values_and_keys_keep_identity_and_type(
    open_operator: OpenOperator, mode: Mode
) -> None:
    seen: list[Any] = []

    async def fn(value: Any) -> list[Any]:
        seen.append(value)
        await anyio.sleep(1)
        return [value]

    source = Source(*(Record(value, None, value) for value in ODD))
    async with open_operator(OperatorConfig(mode), fn, source) as results:
        out: list[Any] = [element async for element in results]

    assert [id(value) for value in seen] == [id(value) for value in ODD]
    assert sorted(id(element.value) for element in out) == sorted(id(value) for value in ODD)
    assert all(element.key is element.value for element in out)


@pytest.mark.all_profiles
async def test_a_line_may_be_long(open_operator: OpenOperator) -> None:
    count = 5_000
    at_once = Callbacks(lambda value, result: result.complete([value]))
    config = OperatorConfig("key-ordered", capacity=count)
    source = Source(*(Record(number, key="x") for number in range(count)))
    async with open_operator(config, at_once, source) as results:
        assert await read_all(results) == list(range(count))


class Row:
    """A key that changes while its record is in flight, as what can be changed and hashed does."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.version = 0

    def __hash__(self) -> int:
        return hash((self.number, self.version))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Row) and hash(self) == hash(other)


@pytest.mark.all_profiles
async def test_a_key_that_changes_in_flight_is_freed_all_the_same(
    open_operator: OpenOperator,
) -> None:
    async def fn(row: Row) -> list[int]:
        await anyio.sleep(1)
        row.version += 1
        return [row.number]

    rows = [Row(1), Row(1), Row(2), Row(1)]
    source = Source(*(Record(row, key=row) for row in rows))
    async with open_operator(OperatorConfig("key-ordered"), fn, source) as results:
        assert sorted(await read_timed(results)) == [(1, 1), (1, 2), (2, 1), (3, 1)]


MONTHS = 120 * 24 * 3600.0


class Service:
    def __init__(self, answers: dict[Any, float]) -> None:
        self.answers = answers

    async def __call__(self, value: Any) -> list[Any]:
        await anyio.sleep(self.answers.get(value, 10**12))
        return [value]

    def timeout(self, value: Any) -> list[Any]:
        return [("late", value)]


@pytest.mark.parametrize("limit", [0.001, 0.0015, 1, 10**7, 2.0**63, 1e300, 10**400, inf, None])
async def test_a_timeout_may_be_a_millisecond_or_never(
    open_operator: OpenOperator, limit: Any
) -> None:
    lasts = MONTHS if limit is None or limit > MONTHS else limit
    fn = Service({"b": lasts / 2} if lasts < MONTHS else {"b": lasts / 2, "a": lasts})

    async with open_operator(
        OperatorConfig("ordered", timeout=limit), fn, Source("b", "a")
    ) as results:
        out = await read_timed(results)

    assert [when for when, _ in out] == pytest.approx([lasts / 2, lasts], abs=1e-6)
    assert [value for _, value in out] == ["b", "a" if lasts == MONTHS else ("late", "a")]
