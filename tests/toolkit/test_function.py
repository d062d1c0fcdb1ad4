"""A user's function is taken apart at the door, and what it gives is read whole."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from asyncwait.spec import CallFailed, InvalidConfig, InvalidResult, Record
from asyncwait.toolkit import FunctionParts, call_failed, collect_results

RECORD = Record("a", 12)


def of_part(name: str, part: object) -> Callable[..., Awaitable[Any]]:
    async def fn(value: Any) -> list[Any]:
        return [value]

    setattr(fn, name, part)
    return fn


@pytest.mark.parametrize("part", ["async_invoke", "timeout", "failure", "open", "close"])
def test_a_part_that_is_no_function_is_refused(part: str) -> None:
    with pytest.raises(InvalidConfig, match=rf"^fn\.{part} must be .* got 0 \(int\)$"):
        FunctionParts.of(of_part(part, 0))


class OldSequence:
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
    assert collect_results(RECORD, returned) == results


@pytest.mark.parametrize("returned", [None, "text", b"bytes", bytearray(b"x"), 7, list])
def test_what_is_no_collection_is_an_invalid_result(returned: Any) -> None:
    with pytest.raises(InvalidResult) as caught:
        collect_results(RECORD, returned)

    assert f"got {returned!r} ({type(returned).__name__})" in str(caught.value)
    assert all(cure in str(caught.value) for cure in ("[]", "[result]"))
    assert caught.value.record == RECORD


class RefusesIteration:
    def __iter__(self) -> Iterator[Any]:
        raise TypeError("broken")


def breaks_with(error: BaseException) -> Iterator[int]:
    yield 1
    raise error


@pytest.mark.parametrize(
    "returned",
    [
        breaks_with(ValueError("broken")),
        breaks_with(asyncio.CancelledError("broken")),
        breaks_with(GeneratorExit("broken")),
        RefusesIteration(),
    ],
    ids=["error", "cancellation", "exit", "refusal"],
)
def test_a_collection_that_raises_fails_the_call(returned: Any) -> None:
    with pytest.raises(CallFailed, match=r"^Record 'a' @ 12: .*\('broken'\)$") as caught:
        collect_results(RECORD, returned)

    assert str(caught.value).endswith(repr(caught.value.__cause__))


def test_the_error_of_a_call_that_names_the_record_is_not_wrapped_again() -> None:
    error = InvalidResult(RECORD, "no collection")

    assert call_failed(RECORD, error) is error
    assert call_failed(Record("a", 12), error).__cause__ is error


def test_an_error_is_shown_with_its_text_where_that_is_made_by_its_class() -> None:
    class Late(LookupError):
        def __str__(self) -> str:
            return "no column is named 'nope'"

    for error, said in ((Late(), "Late(\"no column is named 'nope'\")"), (Late(1), "Late(1)")):
        assert str(call_failed(RECORD, error)).endswith(f"the call failed: {said}")
