"""Plain values in, plain values out: the contract without its elements."""

import inspect
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from typing import Any, Protocol

from msgspec.structs import replace

from asyncwait.spec._config import Mode, OperatorConfig
from asyncwait.spec._elements import Record
from asyncwait.spec._errors import InvalidConfig
from asyncwait.spec._function import FunctionParts, not_awaitable
from asyncwait.spec._operator import OpenOperator, OperatorResults, close_source
from asyncwait.spec._retry import Retry


class PlainWait(Protocol):
    """An operator for plain values: an async context manager that gives an iterator of results.

    It is no generator, because a task group must not stay open across the `yield` of one that
    someone may drop. What holds of the operator holds here: cancelling a wait for the next result
    loses none, and a failure is raised again by each further read.
    """

    def __call__(
        self,
        source: Iterable[Any] | AsyncIterable[Any],
        fn: Any,
        *,
        timeout: float | None = None,
        retry: Retry | None = None,
        capacity: int = 100,
        many: bool = False,
    ) -> AbstractAsyncContextManager[AsyncIterator[Any]]:
        """Call `fn` for each value of `source`.

        Args:
            source: the values; closed on every way out, with the iterator that it makes, as far as
                they have `aclose()`.
            fn: a coroutine function; may have `timeout(value)`, `open()` and `close()`. What the
                handler gives is read as what the function gives, but its None is no result.
            timeout: seconds from the start of the first call for a value to its deadline; None for
                none.
            retry: how calls are repeated; None for not at all. Its `on_result` is given what `fn`
                gives for a value: the one result, or with `many` all of them as a tuple.
            capacity: values called and not yet read by the consumer at most.
            many: `fn` returns an iterable of results for each value (not str, bytes, dict or
                None); without it there is exactly one result for each value, whatever it is.

        Raises:
            InvalidConfig: an argument is wrong; on entering, and the source is closed.
        """
        ...


def plain_wait(open_operator: OpenOperator, mode: Mode) -> PlainWait:
    """Build the plain-value form of an operator.

    Args:
        open_operator: the operator.
        mode: of the function to build.
    """

    @asynccontextmanager
    async def wait(
        source: Iterable[Any] | AsyncIterable[Any],
        fn: Any,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - of each call, not of this function
        retry: Retry | None = None,
        capacity: int = 100,
        many: bool = False,
    ) -> AsyncGenerator[AsyncIterator[Any]]:
        async with aclosing(_Records(source)) as records:
            config = OperatorConfig(mode, capacity, timeout, retry if many else _of_one(retry))
            wrapped = _Many(fn) if many else _One(fn)
            async with open_operator(config, wrapped, records) as results:
                yield _Values(results)

    wait.__name__ = wait.__qualname__ = f"{mode}_wait"
    wait.__doc__ = PlainWait.__call__.__doc__
    return wait


def _of_one(retry: Retry | None) -> Retry | None:
    """Return a Retry whose `on_result` is given the one result, and not a tuple of it."""
    if not isinstance(retry, Retry) or retry.on_result is None:
        return retry
    predicate = retry.on_result
    return replace(retry, on_result=lambda results: predicate(results[0]))


class _Dict:
    """A dict, which would lose its values as a collection, made something that is none."""

    def __init__(self, given: dict[Any, Any]) -> None:
        self._given = given

    def __repr__(self) -> str:
        return repr(self._given)


_Dict.__name__ = "dict"  # as the error has to call it


class _Many:
    """Gives the function's own results, and lets no dict pass for a collection."""

    def __init__(self, fn: Any) -> None:
        parts = FunctionParts.of(fn)
        if parts.call is None:
            raise InvalidConfig.of("fn", fn, "a coroutine function here; open_operator takes both")
        self._call = parts.call
        for name in ("open", "close"):
            if (hook := getattr(parts, name)) is not None:
                setattr(self, name, hook)
        if (handler := parts.timeout) is not None:
            self.timeout = lambda value: self._wrap_fallback(handler(value))

    async def __call__(self, value: Any) -> Any:
        returned = self._call(value)
        if not inspect.isawaitable(returned):
            raise not_awaitable(returned)
        return self._wrap(await returned)

    def _wrap(self, result: Any) -> Any:
        return _Dict(result) if isinstance(result, dict) else result

    def _wrap_fallback(self, result: Any) -> Any:
        return self._wrap(result)


class _One(_Many):
    """Gives one result for each value, whatever it is; a handler's None still means none."""

    def _wrap(self, result: Any) -> Any:
        return (result,)

    def _wrap_fallback(self, result: Any) -> Any:
        return None if result is None else self._wrap(result)


class _Records:
    """The values of a source as records.

    It is no generator: the operator may close it before it is started, and the source with it.
    """

    def __init__(self, source: Iterable[Any] | AsyncIterable[Any]) -> None:
        if not isinstance(source, AsyncIterable | Iterable):
            raise InvalidConfig.of("source", source, "an iterable or async iterable")
        self._source = source
        self._values: Iterator[Any] | AsyncIterator[Any] | None = None
        self._closed = False

    def __aiter__(self) -> AsyncIterator[Record]:
        return self

    async def __anext__(self) -> Record:
        if self._values is None:  # not before: what iterating raises is an error of the source
            source = self._source
            self._values = aiter(source) if isinstance(source, AsyncIterable) else iter(source)
        if isinstance(self._values, AsyncIterator):
            return Record(await anext(self._values))
        for value in self._values:
            return Record(value)
        raise StopAsyncIteration

    async def aclose(self) -> None:
        closed, self._closed = self._closed, True
        error = None if closed else await close_source(self._values, self._source)
        if error is not None:
            raise error


class _Values:
    """The values of the records that come out.

    It is no generator: one ends when a wait for its next value is cancelled.
    """

    def __init__(self, results: OperatorResults) -> None:
        self._results = results

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        while True:
            element = await self._results.__anext__()
            if isinstance(element, Record):
                return element.value
