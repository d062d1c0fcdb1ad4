"""Plain values in, plain values out: the contract without its elements."""

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from typing import Any, TypeVar

from asyncwait.spec._config import Mode, OperatorConfig
from asyncwait.spec._elements import Element, Record
from asyncwait.spec._errors import InvalidConfig, InvalidResult
from asyncwait.spec._function import FunctionParts
from asyncwait.spec._operator import OpenOperator

T = TypeVar("T")

PlainWait = Callable[..., AbstractAsyncContextManager[AsyncIterator[Any]]]


def plain_wait(open_operator: OpenOperator, mode: Mode) -> PlainWait:
    """Build the plain-value form of an operator.

    Args:
        open_operator: the operator.
        mode: of the function to build.

    Returns:
        `wait(source, fn, *, timeout=None, capacity=100, many=False)`: an async context manager
        (a task group must not stay open across the `yield` of a generator that someone may drop)
        that gives an async iterator of results. `source` is an iterable or async iterable;
        `timeout` is in seconds. There is exactly one result for each value, whatever it is;
        with `many`, `fn` returns an iterable of results for each value (not str, bytes, dict
        or None).
    """

    @asynccontextmanager
    async def wait(
        source: Iterable[Any] | AsyncIterable[Any],
        fn: Any,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - of each call, not of this function
        capacity: int = 100,
        many: bool = False,
    ) -> AsyncIterator[AsyncIterator[Any]]:
        config = OperatorConfig(mode, capacity, timeout)
        wrapped = _Many(fn) if many else _One(fn)
        async with (
            aclosing(_records(source)) as records,
            open_operator(config, wrapped, records) as results,
            aclosing(_values(results)) as values,
        ):
            yield values

    wait.__name__ = wait.__qualname__ = f"{mode}_wait"
    return wait


class _Many:
    """Gives the function's own results, and refuses a dict, which would lose its values."""

    def __init__(self, fn: Any) -> None:
        parts = FunctionParts.of(fn)
        if parts.call is None:
            raise InvalidConfig.of("fn", fn, "a coroutine function here; open_operator takes both")
        self._call = parts.call
        for name in ("open", "close"):
            if (hook := getattr(parts, name)) is not None:
                setattr(self, name, hook)
        if (handler := parts.timeout) is not None:
            self.timeout = lambda value: self._wrap_fallback(value, handler(value))

    async def __call__(self, value: Any) -> Any:
        return self._wrap(value, await self._call(value))

    def _wrap(self, value: Any, result: Any) -> Any:
        if isinstance(result, dict):
            msg = f"expected an iterable of results, got a dict {result!r}; return a list"
            raise InvalidResult(Record(value), msg)
        return result

    def _wrap_fallback(self, value: Any, result: Any) -> Any:
        return self._wrap(value, result)


class _One(_Many):
    """Gives one result for each value, whatever it is; a handler's None still means none."""

    def _wrap(self, value: Any, result: Any) -> Any:  # noqa: ARG002 - shape of the base
        return (result,)

    def _wrap_fallback(self, value: Any, result: Any) -> Any:
        return None if result is None else self._wrap(value, result)


async def _records(source: Iterable[Any] | AsyncIterable[Any]) -> AsyncIterator[Element]:
    if isinstance(source, AsyncIterable):
        async for value in source:
            yield Record(value)
    else:
        for value in source:
            yield Record(value)


async def _values(results: AsyncIterator[Element]) -> AsyncIterator[Any]:
    async for element in results:
        if isinstance(element, Record):
            yield element.value
