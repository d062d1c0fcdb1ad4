"""What errors say: no rule reads that, so each shipped operator is held to it here."""

import re
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from operators import Sleeper, Source, echo, failure_of, read_all

from asyncwait.spec import (
    CallFailed,
    InvalidConfig,
    InvalidResult,
    OpenOperator,
    OperatorConfig,
    OperatorError,
    Record,
    Retry,
    RetryAfter,
    Snapshot,
    TooManyAbandonedCalls,
)

pytestmark = pytest.mark.anyio


async def error_of(open_operator: OpenOperator, fn: Any, *script: Any, **config: Any) -> Any:
    """Run until the operator fails; return its error."""
    async with open_operator(OperatorConfig(**config), fn, Source(*script)) as results:
        return await failure_of(results)


def giving(given: Any) -> Callable[[Any], Any]:
    """A function that gives this."""

    async def fn(_: Any) -> Any:
        return given

    return fn


def raising(error: BaseException) -> Callable[[Any], Any]:
    """A plain function that raises."""

    def fn(_: Any) -> Any:
        raise error

    return fn


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"config": "ordered"}, "config must be an OperatorConfig, got 'ordered' (str)"),
        ({"fn": 7}, "fn must be a coroutine function or have async_invoke(), got 7 (int)"),
        ({"elements": [1]}, "elements must be an async iterable of elements, got [1] (list)"),
        ({"restore": b"x"}, "restore must be a Snapshot or None, got b'x' (bytes)"),
        (
            {"restore": Snapshot(1, (7,))},  # type: ignore[arg-type]
            "restore.in_flight must be records, watermarks and statuses, got 7 (int)",
        ),
    ],
    ids=["config", "fn", "elements", "restore", "in_flight"],
)
async def test_wrong_arguments_are_refused_where_they_are_given(
    open_operator: OpenOperator, arguments: dict[str, Any], message: str
) -> None:
    """Before anything is opened, with name, value and type."""
    right = {"config": OperatorConfig(), "fn": echo, "elements": Source(), "restore": None}

    with pytest.raises(InvalidConfig) as caught:
        open_operator(**(right | arguments))

    assert str(caught.value) == message


async def test_a_coroutine_function_is_no_callback_form(open_operator: OpenOperator) -> None:
    """Nobody would await it."""

    class Mixed:
        async def async_invoke(self, value: str, result: Any) -> None:
            result.complete([value])

    with pytest.raises(InvalidConfig, match=r"^fn\.async_invoke must be a plain function: "):
        open_operator(OperatorConfig(), Mixed(), Source("a"))


@pytest.mark.parametrize(
    ("given", "shown"),
    [(None, "None (NoneType)"), ("text", "'text' (str)"), (b"b", "b'b' (bytes)"), (7, "7 (int)")],
)
async def test_what_is_no_collection_is_shown(
    open_operator: OpenOperator, given: Any, shown: str
) -> None:
    """With the record, and what should have come."""
    error = await error_of(open_operator, giving(given), "a")

    assert type(error) is InvalidResult
    assert str(error) == (
        f"Record 'a': expected an iterable of results, got {shown}; "
        "return [] for none and [result] for one"
    )


async def test_a_plain_function_is_told_so(open_operator: OpenOperator) -> None:
    """Forgetting `async` is found at the first record, and the message is not wrapped again."""
    error = await error_of(open_operator, str.upper, "a")

    assert str(error) == (
        "Record 'a': the call failed: TypeError(\"expected an awaitable from fn, got 'A'; "
        'is it an `async def`?")'
    )
    assert isinstance(error.__cause__, TypeError)


async def test_a_stop_iteration_of_a_plain_function_ends_nothing(
    open_operator: OpenOperator,
) -> None:
    """It has failed the call, be it by itself or by what a coroutine makes of it."""
    raised = StopIteration("a")
    error = await error_of(open_operator, raising(raised), "a")

    assert type(error) is CallFailed
    assert error.record == Record("a")
    assert raised in {error.__cause__, error.__cause__ and error.__cause__.__cause__}


async def test_what_is_no_element_is_shown_with_the_cure(open_operator: OpenOperator) -> None:
    """As an error of the source: what was read before comes out."""

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
    """No record is to blame, and the message says what may be."""
    fn: Any = Sleeper()
    fn.clean_up = 50
    fn.timeout = lambda value: [value]

    async with open_operator(
        OperatorConfig("ordered", 1, 1), fn, Source("a9", "b9", "c9")
    ) as results:
        error = await failure_of(results)
        assert 2 < anyio.current_time() <= 2.02

    assert type(error) is TooManyAbandonedCalls
    assert error.record is None
    assert re.match(r"2 .*calls run on.* capacity .*1.*cancellation", str(error))


class Hidden:
    """What can't be shown."""

    def __repr__(self) -> str:
        raise AssertionError("shown")


async def test_what_can_not_be_shown_fails_as_anything_else(open_operator: OpenOperator) -> None:
    """The error is there, with the record and its cause; of results, too."""
    value, reason = Hidden(), ValueError("no")

    error = await error_of(open_operator, raising(reason), Record(value))

    assert (type(error), error.record.value, error.__cause__) == (CallFailed, value, reason)
    assert str(error) == (
        "Record <Hidden, whose repr raised AssertionError>: the call failed: ValueError('no')"
    )
    assert type(await error_of(open_operator, giving(Hidden()), "a")) is InvalidResult


def length_of(traceback: Any) -> int:
    """Count the frames of a traceback."""
    return 0 if traceback is None else 1 + length_of(traceback.tb_next)


async def test_the_traceback_of_a_failure_does_not_grow_with_each_read(
    open_operator: OpenOperator,
) -> None:
    """It is the very object that comes again, also after leaving."""
    lengths = set()

    async with open_operator(OperatorConfig(), Sleeper(), Source("x!")) as results:
        error = await failure_of(results)
    for _ in range(3):
        assert await failure_of(results) is error
        lengths.add(length_of(error.__traceback__))

    assert len(lengths) == 1


async def test_a_failure_handler_may_raise_what_it_was_given(open_operator: OpenOperator) -> None:
    """That is as good as None, be it the error or its cause."""
    reason = ValueError("a")
    fn: Any = raising(reason)
    cause: Any = lambda _, error: raising(error.__cause__)(_)  # noqa: E731 - in a line
    whole: Any = lambda _, error: raising(error)(_)  # noqa: E731 - in a line

    for fn.failure in (cause, whole):
        error = await error_of(open_operator, fn, "a")

        assert str(error) == "Record 'a': the call failed: ValueError('a')"
        assert error.__cause__ is reason


async def test_the_error_of_a_failure_handler_tells_of_both(open_operator: OpenOperator) -> None:
    """The cause is what the handler raised, and behind that stands what it was asked about."""

    def breaks(_: str, __: OperatorError) -> None:
        raise KeyError("no such queue")

    fn: Any = raising(ValueError(1))
    fn.failure = breaks
    error = await error_of(open_operator, fn, "a")

    assert str(error) == (
        "Record 'a': the call failed: ValueError(1), and the failure handler raised "
        "KeyError('no such queue')"
    )
    assert isinstance(error.__cause__, KeyError)
    assert isinstance(error.__cause__.__context__, CallFailed)


async def test_a_predicate_is_given_the_very_error(open_operator: OpenOperator) -> None:
    """As the call raised it, and once for each outcome while attempts are left."""
    errors = iter(raised := [KeyError("a"), RetryAfter(1), KeyError("b")])
    given: list[BaseException] = []

    async def fn(_: str) -> Any:
        raise next(errors)

    retry = Retry(max_attempts=3, on_error=lambda error: not given.append(error))
    error = await error_of(open_operator, fn, "a", retry=retry)

    # RetryAfter speaks for itself, and nothing is asked after the last attempt.
    assert [each is raised[0] for each in given] == [True]
    assert error.__cause__ is raised[2]
    assert str(error) == "Record 'a': the call failed: KeyError('b') (after 3 attempts)"


class Throttled(RetryAfter):
    """Forgets to say when to come again."""

    def __init__(self, response: Any) -> None:
        self.response = response


@pytest.mark.parametrize("seconds", [None, "soon", -1, float("nan")])
async def test_a_retry_after_without_seconds_fails_its_record(
    open_operator: OpenOperator, seconds: Any
) -> None:
    """And says what is missing."""
    reason = Throttled("later")
    if seconds is not None:
        reason.seconds = seconds

    error = await error_of(open_operator, raising(reason), "a", retry=Retry())

    assert type(error) is CallFailed
    assert error.__cause__ is reason
    assert str(error).endswith("does its __init__ call super().__init__(seconds)?")
    assert error.record == Record("a")


@pytest.mark.parametrize("given", ["line is down", None, ValueError], ids=repr)
async def test_a_completion_with_what_is_no_error_is_told_so(
    open_operator: OpenOperator, given: Any
) -> None:
    """The record fails all the same: something was wrong with it."""

    class Client:
        def async_invoke(self, _: str, result: Any) -> None:
            result.complete_exceptionally(given)

    error = await error_of(open_operator, Client(), "a")

    assert type(error) is CallFailed
    assert isinstance(error.__cause__, TypeError)
    assert str(error.__cause__) == f"complete_exceptionally() takes an exception, got {given!r}"


async def slow(value: str) -> list[str]:
    """Take a second."""
    await anyio.sleep(1)
    return [value]


class Unlike:
    """A key that raises where it is looked up."""

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


@pytest.mark.parametrize(
    ("hashes", "value", "said"), [(False, "a", "no hash"), (True, "b", "nothing is equal")]
)
async def test_a_key_that_can_not_be_looked_up_fails_the_operator(
    open_operator: OpenOperator, value: str, said: str, *, hashes: bool
) -> None:
    """At once, naming the record."""
    records = [Record(name, key=Unlike(hashes=hashes)) for name in "ab"]

    error = await error_of(open_operator, slow, *records, mode="key-ordered")

    assert str(error) == (
        f"Record {value!r} (key Unlike()): its key can't be compared with others, as in a dict: "
        f"ValueError({said!r})"
    )
    assert isinstance(error.__cause__, ValueError)


async def test_closing_the_source_is_a_note_on_what_open_raised(
    open_operator: OpenOperator,
) -> None:
    """It was closed because of that."""
    fn: Any = Sleeper()
    source = Source("a1")
    source.closing_error = OSError("busy")
    fn.open = lambda: raising(LookupError("open"))(None)

    with pytest.raises(LookupError, match=r"^open") as caught:
        async with open_operator(OperatorConfig(), fn, source):
            pytest.fail("the body must not run")

    assert caught.value.__notes__ == ["Closing the operator raised, too: OSError('busy')"]


@pytest.mark.parametrize("raises", [False, True])
async def test_the_first_that_went_wrong_comes_out_with_the_others_as_notes(
    open_operator: OpenOperator, *, raises: bool
) -> None:
    """Body, source, function, in this order."""
    body = KeyError("body") if raises else None
    source = Source("a1", 99)
    source.closing_error = OSError("source")
    fn: Any = Sleeper()
    fn.close = lambda: raising(LookupError("close"))(None)

    with pytest.raises(Exception) as caught:  # noqa: PT011, PT012 - one of two
        async with open_operator(OperatorConfig(), fn, source):
            if body is not None:
                raise body

    note = "Closing the operator raised, too: "
    notes = [f"{note}OSError('source')", f"{note}LookupError('close')"]
    assert caught.value is (source.closing_error if body is None else body)
    assert caught.value.__notes__ == (notes[1:] if body is None else notes)


async def test_a_failed_call_ends_the_stream_and_no_group_stands_round_it(
    open_operator: OpenOperator,
) -> None:
    """The plain error, on both loops, also where the body lets it through."""
    with pytest.raises(CallFailed, match=r"^Record 'x!': the call failed: ValueError"):
        async with open_operator(OperatorConfig(), Sleeper(), Source("x!", "a9")) as results:
            await read_all(results)
