"""The form of operators for plain values: the contract without its elements."""

import inspect
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from difflib import get_close_matches
from functools import wraps
from typing import Any, Literal, NoReturn, ParamSpec, TypeAlias, TypeVar, cast, get_args, overload

from asyncwait.spec import (
    Batch,
    Cache,
    FailureHandler,
    InvalidConfig,
    Mode,
    OpenOperator,
    OperatorConfig,
    Record,
    Retry,
)
from asyncwait.spec.checks import is_plain_function, kind_of, takes
from asyncwait.spec.limits import AnyLimit, SharedLimits
from asyncwait.spec.texts import shown
from asyncwait.toolkit._function import SingleEntry, part_of, settled, skip
from asyncwait.toolkit._plain_parts import (
    PlainFunction,
    PlainOne,
    PlainSource,
    PlainValues,
    Value,
)
from asyncwait.toolkit._plain_types import (
    KeyedWait,
    OnError,
    OpenPlain,
    PlainResults,
    PlainWait,
)

P = ParamSpec("P")
T = TypeVar("T")
Opening: TypeAlias = AbstractAsyncContextManager[T]


@overload
def plain_wait(
    open_operator: OpenOperator,
    mode: Literal["ordered", "unordered"],
    open_plain: OpenPlain | None = None,
    *,
    blocks: bool = False,
) -> PlainWait: ...


@overload
def plain_wait(
    open_operator: OpenOperator,
    mode: Literal["key-ordered"],
    open_plain: OpenPlain | None = None,
    *,
    blocks: bool = False,
) -> KeyedWait: ...


def plain_wait(
    open_operator: OpenOperator,
    mode: Mode,
    open_plain: OpenPlain | None = None,
    *,
    blocks: bool = False,
) -> PlainWait | KeyedWait:
    """Build the plain-value form of an operator.

    Args:
        open_operator: the operator.
        mode: mode of the function to build.
        open_plain: the same operator without records in between, if it has such a form.
        blocks: whether the operator calls the function in threads.
    """
    open_values = _through_records(open_operator) if open_plain is None else open_plain

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
        batch: Batch | None = None,
        cache: Cache | None = None,
        many: bool = False,
        key: Callable[[Any], Any] | None = None,
        limits: Sequence[AnyLimit] | SharedLimits | None = None,
        on_failure: Literal["finish"] | None = None,
    ) -> AsyncGenerator[PlainResults[Any]]:
        """Call `fn` for each value of `source`, many at a time, and give the results.

        Args:
            source: the values; closed on every way out, with the iterator that it makes: a
                generator by `close()`, any other source by `aclose()`, if it has it.
            fn: a coroutine function; may have `timeout(value)`, `failure(value, error)`, `open()`
                and `close()`. A handler returns results in the same form as the function, but its
                None is no result.
            timeout: seconds from the start of the first call for a value to its deadline; None for
                no deadline.
            retry: retry policy; None for no further attempts. Its `on_result` takes the one result
                of `fn` for a value, or with `many` all results as a tuple.
            on_error: treatment of a value whose last attempt has failed: "fail" ends the stream
                with the error; "skip" leaves the value out; a function of value and error returns
                the result in its place (with `many`: the results). None for `fn.failure`, or else
                "fail".
            capacity: largest number of values called and not yet read by the consumer, but see
                `max_held`.
            max_held: number of finished results that take no room, so that other calls can start
                while one call in front is slow. None if all results take room.
            copy: function that copies a value for each call and each handler; None for no copies.
            batch: bounds of batches: `fn` takes a list of values, and returns a list in the same
                order, or a mapping from values, of its answers; an exception among the answers
                fails its value alone. None for a call for each value.
            cache: bounds of the cache of results by key, whose values also share calls; values then
                share result objects, which must not be changed. None for no cache. Not with
                `batch`. Without `many` no result counts as missing.
            many: whether `fn` returns an iterable of results for each value (not str, bytes, dict
                or None); else it returns exactly one result for each value, of any type.
            key: function that returns the key of a value, an object that can be compared; required
                in key-ordered mode, and only there. Its error is an error of the source.
            limits: limits of the service and budgets: a list of
                `asyncwait.backends.services.Limit`, `InFlight`, `Adaptive`, `Breaker` and `Budget`.
                All of them apply to each call, further attempts included. A value waits for its
                permit before its deadline runs. Operators with the same limit object share it. None
                for `capacity` alone.
            on_failure: end of the stream after a failure without a handler. None raises the error
                at once, and drops the finished results after it. "finish" begins no further call,
                gives the results of all running calls in order, and raises the error then.

        Returns:
            An async context manager that gives an async iterator of the results: see
            `asyncwait.toolkit.PlainWait`.

        Raises:
            InvalidConfig: an argument is wrong; raised on entering, and the source is closed.
        """
        async with aclosing(PlainSource(source)) as records:
            records.record = _keyed(key, mode)
            if not isinstance(many, bool):
                raise InvalidConfig.of("many", many, "True or False")
            repeated = retry
            if isinstance(retry, Retry):
                repeated = retry.of_values() if many else retry.of_values().of_one_result()
            is_paid = part_of(fn, "is_paid")
            if is_paid is not None and batch is not None:
                expected = "None where paid_once keeps results: those of a batch have no key"
                raise InvalidConfig.of("batch", batch, expected)
            config = OperatorConfig(
                mode, capacity, timeout, repeated, max_held, copy, batch, cache, limits, on_failure
            )
            if cache is not None and cache.missing_ttl and repeated and repeated.on_result:
                expected = "None with `retry.on_result`: a kept result would be rejected again"
                raise InvalidConfig.of("cache.missing_ttl", cache.missing_ttl, expected)
            kind = PlainFunction if many else PlainOne
            batched, limited = batch is not None, limits is not None
            wrapped = kind(fn, batched=batched, limited=limited, blocks=blocks)
            if on_error is not None:
                wrapped.failure = _failure_handler(on_error, wrapped)
            async with open_values(config, wrapped, records) as results:
                yield results

    wait.__name__ = wait.__qualname__ = f"{mode.replace('-', '_')}_wait"
    return cast(PlainWait, entered_once("results", "async for ... in results")(wait))


def _through_records(open_operator: OpenOperator) -> OpenPlain:
    @asynccontextmanager
    async def open_plain(
        config: OperatorConfig, function: PlainFunction, source: PlainSource
    ) -> AsyncGenerator[PlainResults[Any]]:
        async with open_operator(config, function, source) as results:
            values = PlainValues(results)
            try:
                yield values
            finally:
                values.leave()

    return open_plain


_SAME = dict.fromkeys(("max_workers", "workers", "concurrency", "max_concurrency"), "capacity")
"""Names of other libraries for an option."""


def bind(function: str, signature: inspect.Signature, args: Any, options: Any) -> dict[str, Any]:
    """Return the arguments of a call by their names.

    Args:
        function: name of the function.
        signature: signature of the function.
        args: arguments by position.
        options: arguments by name.

    Raises:
        TypeError: an argument is missing, or the function has no such option; the message names
            the nearest option.
    """
    for name in options:
        if name not in signature.parameters:
            near = [_SAME.get(name), *get_close_matches(name, signature.parameters, 1)]
            hints = [f"; did you mean {each!r}?" for each in near if each in signature.parameters]
            raise TypeError(f"{function}() has no option {shown(name)}{''.join(hints[:1])}")
    try:
        return signature.bind(*args, **options).arguments
    except TypeError as error:
        by_name = inspect.Parameter.KEYWORD_ONLY
        needed = ", ".join(n for n, each in signature.parameters.items() if each.kind != by_name)
        raise TypeError(f"{function}({needed}, ...): {error}; give options by name") from None


def entered_once(
    given: str, use: str
) -> Callable[[Callable[P, AbstractAsyncContextManager[T]]], Callable[P, Opening[T]]]:
    """Decorate a function that returns a context, to explain wrong options and wrong uses.

    Args:
        given: name for the object that entering gives, for the message.
        use: example of the use of this object within the context.
    """

    def decorate(wait: Callable[P, AbstractAsyncContextManager[T]]) -> Callable[P, Opening[T]]:
        name, signature = wait.__name__, inspect.signature(wait)
        given_type: Any = AbstractAsyncContextManager
        results = given_type[get_args(signature.return_annotation)[0]]
        signature = signature.replace(return_annotation=results)

        @wraps(wait)
        def enter_once(*args: P.args, **options: P.kwargs) -> Opening[T]:
            bind(name, signature, args, options)
            return _EnteredOnce(wait(*args, **options), name, given, use)

        enter_once.__signature__ = signature  # type: ignore[attr-defined]
        return enter_once

    return decorate


class _EnteredOnce(AbstractAsyncContextManager[T]):
    """Context that explains the error of a second entry, or of a loop over the context."""

    def __init__(
        self, context: AbstractAsyncContextManager[T], name: str, given: str, use: str
    ) -> None:
        self._context = context
        self._name, self._given, self._use = name, given, use
        self._single_entry = SingleEntry()

    def __repr__(self) -> str:
        return f"{self._name}(...)"

    async def __aenter__(self) -> T:
        self._single_entry.enter()
        return await self._context.__aenter__()

    async def __aexit__(self, *raised: Any) -> bool | None:
        self._single_entry.leave()
        return await self._context.__aexit__(*raised)

    def __aiter__(self, *_: object) -> NoReturn:
        raise TypeError(
            f"{self._name}(...) has to be entered, so that leaving it cancels its calls: "
            f"`async with {self._name}(...) as {self._given}:`, and in there `{self._use}`"
        )

    __await__ = __enter__ = __exit__ = __iter__ = __anext__ = __aiter__


def _keyed(key: Callable[[Any], Any] | None, mode: Mode) -> Callable[[Any], Record]:
    if mode != "key-ordered":
        if key is not None:
            raise InvalidConfig.of("key", key, "None: only key_ordered_wait has keys")
        return Value
    if key is None or not is_plain_function(key, 1):
        raise InvalidConfig.of("key", key, "a plain function that gives the key of a value")

    def record(value: Any) -> Value:
        try:
            return Value(value, key=settled("key", key(value)))
        except Exception as error:
            error.add_note(f"`key` raised this for the value {shown(value)}")
            raise

    return record


def _failure_handler(on_error: OnError, function: PlainFunction) -> FailureHandler | None:
    """Return the failure handler for `on_error`; None for "fail"."""
    if on_error == "fail":
        return None
    if on_error == "skip":
        return skip
    handler: Any = on_error
    kinds = ("plain",) if function.single else ("plain", "generator")
    is_error = isinstance(handler, type) and issubclass(handler, BaseException)
    if not callable(handler) or is_error or kind_of(handler) not in kinds or not takes(handler, 2):
        expected = (
            '"fail", "skip" or a plain function of a value and an error, which nothing awaits: '
            "await inside fn"
        )
        raise InvalidConfig.of("on_error", on_error, expected)
    return lambda value, error: function.wrap(handler(value, error), "on_error")
