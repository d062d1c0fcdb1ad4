"""What type checkers make of the forms for threads: mypy and basedpyright read this.

Each line with an `ignore` is refused by both: an ignore that is of no use is an error, too.
"""

from collections.abc import AsyncIterator, Iterable, Iterator
from typing import assert_type

from asyncwait.backends.services import Cost
from asyncwait.backends.threads import (
    BlockingResults,
    ThreadsStream,
    key_ordered_wait,
    ordered_wait,
    unordered_wait,
)
from asyncwait.spec import Batch, Cache, OperatorError, Retry, Statistics
from asyncwait.toolkit import PlainResults


def length(text: str) -> int:
    return len(text)


def words(text: str) -> list[bytes]:
    return text.encode().split()


class Client:
    async def open(self) -> None:
        """Connect."""

    def __call__(self, text: str) -> float:
        return float(text)

    def timeout(self, text: str) -> float:
        return 0.0


def lengths(texts: list[str]) -> list[int | BaseException]:
    return [len(text) or ValueError(text) for text in texts]


def words_by_text(texts: list[str]) -> dict[str, list[bytes]]:
    return {text: words(text) for text in texts}


def priced(text: str) -> Cost[int]:
    return Cost(len(text), 1)


def nothing(_: str, __: OperatorError) -> None:
    """Say that there is none."""


def lines() -> Iterator[str]:
    yield "text"


async def texts() -> AsyncIterator[str]:
    yield "text"


def blocking() -> None:
    with ordered_wait(["a"], length) as one:
        assert_type(one, BlockingResults[int])
        assert_type(list(one), list[int])
        assert_type(next(one), int)
        assert_type(one.statistics(), Statistics)
    with unordered_wait(lines(), words, many=True, timeout=1, retry=Retry()) as several:
        assert_type(next(several), bytes)
    for given in ordered_wait(lines(), words):
        assert_type(given, list[bytes])
    for number in ordered_wait(lines(), Client(), on_error="skip"):
        assert_type(number, float)
    for gap in ordered_wait(lines(), length, on_error=nothing):
        assert_type(gap, int | None)
    for by_key in key_ordered_wait(lines(), length, key=len):
        assert_type(by_key, int)
    assert_type(list(ordered_wait(["1"], int)), list[int])
    for number in ordered_wait(lines(), lengths, batch=Batch()):
        assert_type(number, int)
    for word in ordered_wait(lines(), words_by_text, batch=Batch(), many=True):
        assert_type(word, bytes)


async def on_a_loop() -> None:
    """The same by `async with`, where the source may be an async one."""
    async with ordered_wait(["a"], length) as one:
        assert_type(one, PlainResults[int])
        assert_type([result async for result in one], list[int])
    async with key_ordered_wait(texts(), words, key=len, many=True) as several:
        assert_type(await anext(several), bytes)


def slips() -> None:
    ordered_wait([1], length)  # type: ignore[arg-type]
    ordered_wait(["a"], length, many=True)  # type: ignore[call-overload]
    ordered_wait(["a"], length, capacity="9")  # type: ignore[call-overload]
    ordered_wait(["a"], length, key=len)  # type: ignore[call-overload]
    ordered_wait(["a"], length, on_error="drop")  # type: ignore[call-overload]
    ordered_wait(["a"], length, time_out=1)  # type: ignore[call-overload]
    key_ordered_wait(["a"], length)  # type: ignore[call-overload]
    ordered_wait(["a"], length, cache=Cache(9, 1))  # type: ignore[call-overload]


def returned() -> ThreadsStream[int]:
    return ordered_wait(["a"], length)


def passed_on() -> Iterable[int]:
    return returned()
