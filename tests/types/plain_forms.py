"""What type checkers make of the plain forms: mypy and basedpyright read this, nobody runs it.

Each line with an `ignore` is refused by both: an ignore that is of no use is an error, too.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import assert_type

from asyncwait.backends.pool import key_ordered_wait, ordered_wait, unordered_wait
from asyncwait.backends.services import Budget, Cost, Hedge, StandIns
from asyncwait.reference import ordered_wait as reference_wait
from asyncwait.spec import Batch, Cache, OperatorError, Retry
from asyncwait.toolkit import PlainResults


async def length(text: str) -> int:
    return len(text)


async def words(text: str) -> list[bytes]:
    return text.encode().split()


class Client:
    async def open(self) -> None:
        """Connect."""

    async def __call__(self, text: str) -> float:
        return float(text)

    def timeout(self, text: str) -> float:
        return 0.0


async def lengths(texts: list[str]) -> list[int | BaseException]:
    return [len(text) or ValueError(text) for text in texts]


async def words_by_text(texts: list[str]) -> dict[str, list[bytes]]:
    return {text: text.encode().split() for text in texts}


async def priced(text: str) -> Cost[int]:
    return Cost(len(text), {"USD": 0.1})


async def many_priced(text: str) -> Cost[list[bytes]]:
    return Cost(text.encode().split(), 1)


async def all_priced(texts: list[str]) -> Cost[list[int]]:
    return Cost([*map(len, texts)], 1)


def plain(text: str) -> int:
    return len(text)


def nothing(_: str, __: OperatorError) -> None:
    """Say that there is none."""


async def texts() -> AsyncIterator[str]:
    yield "text"


async def results() -> None:
    async with ordered_wait(["a"], length) as one:
        assert_type(one, PlainResults[int])
        assert_type([result async for result in one], list[int])
        assert_type(await anext(one), int)
    async with unordered_wait(texts(), words, many=True, timeout=1, retry=Retry()) as several:
        assert_type(await anext(several), bytes)
    async with ordered_wait(texts(), words) as lists:
        assert_type(await anext(lists), list[bytes])
    async with reference_wait(texts(), Client(), on_error="skip") as from_client:
        assert_type(await anext(from_client), float)
    async with ordered_wait(texts(), length, on_error=nothing) as with_gaps:
        assert_type(await anext(with_gaps), int | None)
    async with ordered_wait(texts(), lengths, batch=Batch()) as shared:
        assert_type(await anext(shared), int)
    async with unordered_wait(texts(), words_by_text, batch=Batch(), many=True) as all_shared:
        assert_type(await anext(all_shared), bytes)
    async with ordered_wait(texts(), words, many=True, cache=Cache(9, 1, key=len)) as kept:
        assert_type(await anext(kept), bytes)
    async with key_ordered_wait(texts(), length, key=len, cache=Cache(9, 1)) as kept_by_key:
        assert_type(await anext(kept_by_key), int)
    async with key_ordered_wait(texts(), length, key=len) as by_key:
        assert_type(await anext(by_key), int)
    async with key_ordered_wait(texts(), lengths, key=len, batch=Batch()) as shared_by_key:
        assert_type(await anext(shared_by_key), int)
    async with ordered_wait(["a"], priced, limits=[Budget(1, "USD")]) as with_limits:
        assert_type(await anext(with_limits), int)
    async with key_ordered_wait(["a"], priced, key=len) as without_limits:
        assert_type(await anext(without_limits), int)
    async with ordered_wait(["a"], many_priced, many=True) as many_with_costs:
        assert_type(await anext(many_with_costs), bytes)
    async with ordered_wait(["a"], all_priced, batch=Batch()) as batch_with_cost:
        assert_type(await anext(batch_with_cost), int)
    async with ordered_wait(["a"], StandIns(length, length)) as with_fallback:
        assert_type(await anext(with_fallback), int)
    async with ordered_wait(["a"], StandIns(priced, hedge=Hedge())) as hedged:
        assert_type(await anext(hedged), int)


def slips() -> None:
    ordered_wait(["a"], plain)  # type: ignore[arg-type]
    ordered_wait([1], length)  # type: ignore[arg-type]
    ordered_wait([1], StandIns(length))  # type: ignore[arg-type]
    ordered_wait(["a"], length, many=True)  # type: ignore[call-overload]
    ordered_wait(["a"], length, capacity="9")  # type: ignore[call-overload]
    ordered_wait(["a"], length, key=len)  # type: ignore[call-overload]
    ordered_wait(["a"], length, on_error="drop")  # type: ignore[call-overload]
    ordered_wait(["a"], length, time_out=1)  # type: ignore[call-overload]
    key_ordered_wait(["a"], length)  # type: ignore[call-overload]
    ordered_wait([1], lengths, batch=Batch())  # type: ignore[arg-type]
    ordered_wait(["a"], length, batch=Batch())  # type: ignore[arg-type]
    ordered_wait(["a"], lengths, batch=2)  # type: ignore[call-overload]
    ordered_wait(["a"], lengths, batch=Batch(), cache=Cache(9, 1))  # type: ignore[call-overload]
    ordered_wait(["a"], length, cache=9)  # type: ignore[call-overload]


def returned() -> AbstractAsyncContextManager[PlainResults[int]]:
    return ordered_wait(["a"], length)
