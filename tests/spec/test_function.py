"""A user's function is taken apart at the door, and what it gives is read whole."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from asyncwait.spec import (
    CallFailed,
    FunctionParts,
    InvalidConfig,
    InvalidResult,
    Record,
    awaitable_of,
    call_failed,
    collect_results,
    run_hook,
)

RECORD = Record("a", 12)


async def double(value: Any) -> list[Any]:
    """Stand for a user's coroutine function."""
    return [value, value]


class Callbacks:
    """A function in callback form that has everything."""

    def async_invoke(self, value: Any, result: Any) -> None:
        """Answer at once."""
        result.complete([value])

    def timeout(self, value: Any) -> list[Any]:
        """Give a substitute."""
        return [value]

    async def open(self) -> None:
        """Connect."""

    def close(self) -> None:
        """Disconnect."""


def test_a_coroutine_function_is_called() -> None:
    """The plain form has no other parts."""
    assert FunctionParts.of(double) == FunctionParts(double, None, None, None, None)


def test_a_function_in_callback_form_is_invoked() -> None:
    """What has `async_invoke` is in callback form, whatever else it has."""
    fn = Callbacks()

    parts = FunctionParts.of(fn)

    assert parts == FunctionParts(None, fn.async_invoke, fn.timeout, fn.open, fn.close)


@pytest.mark.parametrize("fn", [partial(double), Callbacks().timeout])
def test_anything_callable_may_give_the_awaitable(fn: Callable[..., Any]) -> None:
    """Only the call shows whether it does."""
    assert FunctionParts.of(fn).call is fn


def of_part(name: str, part: object) -> Callable[..., Awaitable[Any]]:
    """Return a coroutine function that has `part` under `name`."""

    async def fn(value: Any) -> list[Any]:
        return [value]

    setattr(fn, name, part)
    return fn


@pytest.mark.parametrize(
    ("fn", "message"),
    [
        (None, "fn must be a coroutine function or have async_invoke(), got None (NoneType)"),
        ("f", "fn must be a coroutine function or have async_invoke(), got 'f' (str)"),
        (
            of_part("async_invoke", 3),
            "fn.async_invoke must be a function, or not be there, got 3 (int)",
        ),
        (
            of_part("timeout", 5.0),
            "fn.timeout must be a function, or not be there, got 5.0 (float)",
        ),
        (of_part("open", "db"), "fn.open must be a function, or not be there, got 'db' (str)"),
        (of_part("close", 0), "fn.close must be a function, or not be there, got 0 (int)"),
    ],
)
def test_what_is_no_function_is_refused(fn: Any, message: str) -> None:
    """A mistake shows when the operator is opened, not at the first deadline."""
    with pytest.raises(InvalidConfig) as caught:
        FunctionParts.of(fn)

    assert str(caught.value) == message


def test_a_timeout_handler_may_not_be_a_coroutine_function() -> None:
    """At the deadline the record is decided: there is nothing to wait for."""
    with pytest.raises(InvalidConfig, match=r"^fn\.timeout must be a plain function: "):
        FunctionParts.of(of_part("timeout", double))


def test_an_awaitable_is_passed_on() -> None:
    """A coroutine, a task or anything else that can be awaited will do."""

    async def main() -> Any:
        return await awaitable_of(RECORD, double(1))

    assert anyio.run(main) == [1, 1]


def test_a_plain_function_in_place_of_a_coroutine_function_is_told() -> None:
    """The likely mistake is named."""
    with pytest.raises(CallFailed) as caught:
        _ = awaitable_of(RECORD, 5)

    cause = "expected an awaitable from fn, got 5; is it an `async def`?"
    assert str(caught.value) == f"Record 'a' @ 12: the call failed: TypeError({cause!r})"
    assert repr(caught.value.__cause__) == f"TypeError({cause!r})"


class OldSequence:
    """Iterable by index only."""

    def __getitem__(self, index: int) -> int:
        return [1, 2][index]


@pytest.mark.parametrize(
    ("returned", "results"),
    [
        ([], ()),
        ((1, None), (1, None)),
        (range(3), (0, 1, 2)),
        (iter("ab"), ("a", "b")),
        ({"k": 1}, ("k",)),
        (OldSequence(), (1, 2)),
    ],
)
def test_any_collection_is_read_in_its_order(returned: Any, results: tuple[Any, ...]) -> None:
    """None, one or many: the collection says how many results there are."""
    assert collect_results(RECORD, returned) == results


@pytest.mark.parametrize(
    ("returned", "shown"),
    [
        (None, "None (NoneType)"),
        ("text", "'text' (str)"),
        (b"bytes", "b'bytes' (bytes)"),
        (bytearray(b"x"), "bytearray(b'x') (bytearray)"),
        (7, "7 (int)"),
        (list, "<class 'list'> (type)"),
    ],
)
def test_what_is_no_collection_is_an_invalid_result(returned: Any, shown: str) -> None:
    """A str is not taken for its letters, and None not for an empty list."""
    with pytest.raises(InvalidResult) as caught:
        collect_results(RECORD, returned)

    assert str(caught.value) == (
        f"Record 'a' @ 12: expected an iterable of results, got {shown}; "
        "return [] for none and [result] for one"
    )
    assert caught.value.record == RECORD


class RefusesIteration:
    """A collection whose own code is broken."""

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("broken")


def breaks_with(error: BaseException) -> Iterator[int]:
    """Give one result, then raise."""
    yield 1
    raise error


@pytest.mark.parametrize(
    ("returned", "cause"),
    [
        (breaks_with(ValueError("broken")), "ValueError('broken')"),
        (breaks_with(asyncio.CancelledError("broken")), "CancelledError('broken')"),
        (breaks_with(GeneratorExit("broken")), "GeneratorExit('broken')"),
        (RefusesIteration(), "TypeError('broken')"),
    ],
)
def test_a_collection_that_raises_fails_the_call(returned: Any, cause: str) -> None:
    """The error is the user's, whatever its kind: nothing else runs while it is read."""
    with pytest.raises(CallFailed) as caught:
        collect_results(RECORD, returned)

    assert str(caught.value) == f"Record 'a' @ 12: the call failed: {cause}"
    assert repr(caught.value.__cause__) == cause


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_an_interruption_of_the_program_is_not_caught(kind: type[BaseException]) -> None:
    """It is not about the record that happens to be read."""
    with pytest.raises(kind):
        collect_results(RECORD, breaks_with(kind()))


def test_the_error_of_a_call_shows_what_was_raised() -> None:
    """One line tells record and reason."""
    error = call_failed(RECORD, LookupError("no such user"))

    assert str(error) == "Record 'a' @ 12: the call failed: LookupError('no such user')"


def test_hooks_may_be_plain_or_coroutine_functions_or_absent() -> None:
    """Whoever writes a hook chooses its form."""
    ran: list[str] = []

    def plain() -> None:
        ran.append("plain")

    async def coroutine() -> None:
        await anyio.lowlevel.checkpoint()
        ran.append("coroutine")

    for hook in (plain, coroutine, None):
        anyio.run(run_hook, hook)

    assert ran == ["plain", "coroutine"]
