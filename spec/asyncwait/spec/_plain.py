"""Plain values in, plain values out: the contract without its elements."""

import inspect
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
)
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from functools import wraps
from types import TracebackType
from typing import Any, Literal, Protocol, TypeAlias

from asyncwait.spec._checks import is_plain_function
from asyncwait.spec._config import Mode, OperatorConfig
from asyncwait.spec._elements import Record, shown
from asyncwait.spec._errors import InvalidConfig, OperatorError
from asyncwait.spec._function import FailureHandler, FunctionParts, not_awaitable, skip
from asyncwait.spec._operator import OpenOperator, OperatorResults, Statistics, close_source
from asyncwait.spec._retry import Retry
from asyncwait.spec._visit import Visit

OnError: TypeAlias = Literal["fail", "skip"] | Callable[[Any, OperatorError], Any]
"""What becomes of a value for which everything has failed; see `PlainWait`."""


class PlainResults(Protocol):
    """The results of a stream of plain values, for one consumer at a time."""

    def __aiter__(self) -> AsyncIterator[Any]: ...

    async def __anext__(self) -> Any:
        """Return the next result."""
        ...

    def statistics(self) -> Statistics:
        """Return the present figures."""
        ...


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
        on_error: OnError | None = None,
        capacity: int = 100,
        max_held: int | None = None,
        copy: Callable[[Any], Any] | None = None,
        many: bool = False,
        key: Callable[[Any], Any] | None = None,
    ) -> AbstractAsyncContextManager[PlainResults]:
        """Call `fn` for each value of `source`.

        Args:
            source: the values; closed on every way out, with the iterator that it makes, as far as
                they have `aclose()`.
            fn: a coroutine function; may have `timeout(value)`, `failure(value, error)`, `open()`
                and `close()`. What a handler gives is read as what the function gives, but its None
                is no result.
            timeout: seconds from the start of the first call for a value to its deadline; None for
                none.
            retry: how calls are repeated; None for not at all. Its `on_result` is given what `fn`
                gives for a value: the one result, or with `many` all of them as a tuple.
            on_error: what becomes of a value for which everything has failed, its retries too:
                "fail" ends the stream with the error; "skip" leaves the value out; a function of
                value and error gives the result in its place, whatever it is (with `many`: the
                results). None for what `fn.failure` says, or else "fail".
            capacity: values called and not yet read by the consumer at most, but see `max_held`.
            max_held: so many finished results take no room: one slow call in front then leaves no
                other undone. None for none.
            copy: makes the copy of a value that each call and each handler is given; None for the
                very object.
            key: gives the key of a value, which may be anything that can be compared; there must be
                one in key-ordered mode, and only there. What it raises is an error of the source.
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
        on_error: OnError | None = None,
        capacity: int = 100,
        max_held: int | None = None,
        copy: Callable[[Any], Any] | None = None,
        many: bool = False,
        key: Callable[[Any], Any] | None = None,
    ) -> AsyncGenerator[PlainResults]:
        async with aclosing(_Records(source)) as records:
            records.record = _keyed(key, mode)
            repeated = retry.of_one_result() if isinstance(retry, Retry) and not many else retry
            config = OperatorConfig(mode, capacity, timeout, repeated, max_held, copy)
            wrapped = _Many(fn) if many else _One(fn)
            if on_error is not None:
                wrapped.failure = _failure_handler(on_error, wrapped)
            async with open_operator(config, wrapped, records) as results:
                yield _Values(results)

    wait.__name__ = wait.__qualname__ = f"{mode.replace('-', '_')}_wait"
    wait.__doc__ = PlainWait.__call__.__doc__
    return _entered_once(wait)


def _entered_once(wait: Callable[..., AbstractAsyncContextManager[PlainResults]]) -> PlainWait:
    @wraps(wait)
    def visit(*args: Any, **kwargs: Any) -> AbstractAsyncContextManager[PlainResults]:
        return _EnteredOnce(wait(*args, **kwargs))

    return visit


class _EnteredOnce(AbstractAsyncContextManager[PlainResults]):
    """Says plainly what is wrong with a second visit to a context."""

    def __init__(self, context: AbstractAsyncContextManager[PlainResults]) -> None:
        self._context = context
        self._visit = Visit()

    async def __aenter__(self) -> PlainResults:
        self._visit.enter()
        return await self._context.__aenter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        self._visit.leave()
        return await self._context.__aexit__(kind, error, traceback)


def _keyed(key: Callable[[Any], Any] | None, mode: Mode) -> Callable[[Any], Record]:
    """Return what makes a record of a value.

    Raises:
        InvalidConfig: there must be one and is none, or the other way round.
    """
    if mode != "key-ordered":
        if key is not None:
            raise InvalidConfig.of("key", key, "None: only key_ordered_wait has keys")
        return Record
    if key is None or not is_plain_function(key):
        raise InvalidConfig.of("key", key, "a plain function that gives the key of a value")
    return lambda value: Record(value, key=key(value))


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
        self.failure: FailureHandler | None = None
        if (failed := parts.failure) is not None:
            self.failure = lambda value, error: self._wrap_fallback(failed(value, error))

    async def __call__(self, value: Any) -> Any:
        returned = self._call(value)
        if not inspect.isawaitable(returned):
            raise not_awaitable(returned)
        return self.wrap(await returned)

    def wrap(self, result: Any) -> Any:
        """Return what the function gives as a collection of results, unless it is none."""
        return _Dict(result) if isinstance(result, dict) else result

    def _wrap_fallback(self, result: Any) -> Any:
        return self.wrap(result)


class _One(_Many):
    """Gives one result for each value, whatever it is; a handler's None still means none."""

    def wrap(self, result: Any) -> Any:
        """Return the one result as a collection."""
        return (result,)

    def _wrap_fallback(self, result: Any) -> Any:
        return None if result is None else self.wrap(result)


def _failure_handler(on_error: OnError, function: _Many) -> FailureHandler | None:
    """Return what handles failures as `on_error` says; None for nothing.

    Raises:
        InvalidConfig: it says nothing that is known.
    """
    if on_error == "fail":
        return None
    if on_error == "skip":
        return skip
    handler: Any = on_error
    if not is_plain_function(handler):
        raise InvalidConfig.of("on_error", on_error, '"fail", "skip" or a plain function')
    return lambda value, error: function.wrap(handler(value, error))


class _Records:
    """The values of a source as records.

    It is no generator: the operator may close it before it is started, and the source with it.
    """

    def __init__(self, source: Iterable[Any] | AsyncIterable[Any]) -> None:
        if not isinstance(source, AsyncIterable | Iterable):
            raise InvalidConfig.of("source", source, "an iterable or async iterable")
        self._source = source
        self.record: Callable[[Any], Record] = Record
        self._values: Iterator[Any] | AsyncIterator[Any] | None = None
        self._closed = False

    def __aiter__(self) -> AsyncIterator[Record]:
        return self

    async def __anext__(self) -> Record:
        if self._values is None:  # not before: what iterating raises is an error of the source
            source = self._source
            self._values = aiter(source) if isinstance(source, AsyncIterable) else iter(source)
        if isinstance(self._values, AsyncIterator):
            return self._record_of(await anext(self._values))
        try:
            for value in self._values:
                return self._record_of(value)
        except StopAsyncIteration as error:
            raise RuntimeError("a source that is not async raised StopAsyncIteration") from error
        raise StopAsyncIteration

    def _record_of(self, value: Any) -> Record:
        """Return a value as a record; an error of its key is never taken for the end."""
        try:
            return self.record(value)
        except (StopIteration, StopAsyncIteration) as error:
            raise RuntimeError(f"the key of {shown(value)} raised {shown(error)}") from error

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

    def statistics(self) -> Statistics:
        """Return the figures of the operator."""
        return self._results.statistics()
