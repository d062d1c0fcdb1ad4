"""Types of the plain form: values of type A give results of type B, or of type C by `on_error`.

The docstring of the functions that `plain_wait` builds explains each argument.
"""

from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import AbstractAsyncContextManager
from typing import (
    Any,
    Generic,
    Literal,
    Protocol,
    Required,
    TypeAlias,
    TypedDict,
    TypeVar,
    Unpack,
    overload,
)

from asyncwait.spec import Batch, Cache, OperatorConfig, OperatorError, Retry, Statistics
from asyncwait.spec.limits import AnyLimit, Cost, SharedLimits
from asyncwait.toolkit._plain_parts import PlainFunction, PlainSource

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
B_co = TypeVar("B_co", covariant=True)

_Words: TypeAlias = Literal["fail", "skip"]

OnError: TypeAlias = _Words | Callable[[Any, OperatorError], Any]
"""Treatment of a value whose last attempt has failed."""

Answers: TypeAlias = Mapping[A, B | BaseException] | Sequence[B | BaseException]
"""Answer of a batched call: a result or an error for each value."""

Priced: TypeAlias = B | Cost[B]
"""Answer of a call, with or without the cost of the call."""

Source: TypeAlias = Iterable[A] | AsyncIterable[A]
Key: TypeAlias = Callable[[A], Any]
_Fn: TypeAlias = Callable[[A], Awaitable[B]]
_FnMany: TypeAlias = Callable[[A], Awaitable[Priced[Iterable[B]]]]
_Batch: TypeAlias = Callable[[list[A]], Awaitable[Priced[Answers[A, B]]]]
_Lists: TypeAlias = Callable[[list[A]], Awaitable[Priced[Answers[A, Iterable[B]]]]]


class PlainResults(Protocol[B_co]):
    """The results of a stream of plain values, for one consumer at a time."""

    def __aiter__(self) -> AsyncIterator[B_co]: ...

    async def __anext__(self) -> B_co:
        """Return the next result."""
        ...

    def statistics(self) -> Statistics:
        """Return the present figures."""
        ...


class _Options(TypedDict, Generic[A], total=False):
    """Options of all plain forms; `capacity` is 100 by default, every other option None."""

    timeout: float | None
    retry: Retry | None
    capacity: int
    max_held: int | None
    copy: Callable[[A], A] | None
    limits: Sequence[AnyLimit] | SharedLimits | None
    on_failure: Literal["finish"] | None


class One(_Options[A], Generic[A, C], total=False):
    """Options for one result of each value."""

    on_error: _Words | Callable[[A, OperatorError], C] | None
    many: Literal[False]


class Many(_Options[A], Generic[A, C], total=False):
    """Options for any number of results of each value."""

    on_error: _Words | Callable[[A, OperatorError], Iterable[C]] | None
    many: Required[Literal[True]]


class AllOne(One[A, C], Generic[A, C]):
    """Options for batched calls with one result of each value."""

    batch: Batch


class AllMany(Many[A, C], Generic[A, C]):
    """Options for batched calls with any number of results of each value."""

    batch: Batch


class _One(One[A, C], Generic[A, C], total=False):
    cache: Cache | None


class _Many(Many[A, C], Generic[A, C], total=False):
    cache: Cache | None


_Opened: TypeAlias = AbstractAsyncContextManager[PlainResults[B]]


class PlainWait(Protocol):
    """An operator for plain values: an async context manager that gives an iterator of results.

    The results are no generator, because a task group must not stay open across the `yield` of a
    generator that may be dropped. As with an operator, cancelling a wait for the next result loses
    no result, and each further read raises a failure again.
    """

    @overload
    def __call__(
        self, source: Source[A], fn: _Fn[A, Cost[B]], **options: Unpack[_One[A, C]]
    ) -> _Opened[B | C]: ...

    @overload
    def __call__(
        self, source: Source[A], fn: _Fn[A, B], **options: Unpack[_One[A, C]]
    ) -> _Opened[B | C]: ...

    @overload
    def __call__(
        self, source: Source[A], fn: _FnMany[A, B], **options: Unpack[_Many[A, C]]
    ) -> _Opened[B | C]: ...

    @overload
    def __call__(
        self, source: Source[A], fn: _Batch[A, B], **options: Unpack[AllOne[A, C]]
    ) -> _Opened[B | C]: ...

    @overload
    def __call__(
        self, source: Source[A], fn: _Lists[A, B], **options: Unpack[AllMany[A, C]]
    ) -> _Opened[B | C]: ...


class KeyedWait(Protocol):
    """An operator for plain values in key-ordered mode, where each value has a key."""

    @overload
    def __call__(
        self, source: Source[A], fn: _Fn[A, Cost[B]], *, key: Key[A], **options: Unpack[_One[A, C]]
    ) -> _Opened[B | C]: ...

    @overload
    def __call__(
        self, source: Source[A], fn: _Fn[A, B], *, key: Key[A], **options: Unpack[_One[A, C]]
    ) -> _Opened[B | C]: ...

    @overload
    def __call__(
        self, source: Source[A], fn: _FnMany[A, B], *, key: Key[A], **options: Unpack[_Many[A, C]]
    ) -> _Opened[B | C]: ...

    @overload
    def __call__(
        self, source: Source[A], fn: _Batch[A, B], *, key: Key[A], **options: Unpack[AllOne[A, C]]
    ) -> _Opened[B | C]: ...

    @overload
    def __call__(
        self, source: Source[A], fn: _Lists[A, B], *, key: Key[A], **options: Unpack[AllMany[A, C]]
    ) -> _Opened[B | C]: ...


class OpenPlain(Protocol):
    """Function that opens an operator for plain values without records in between."""

    def __call__(
        self, config: OperatorConfig, function: PlainFunction, source: PlainSource
    ) -> AbstractAsyncContextManager[PlainResults[Any]]:
        """Open an operator; the arguments also fit `OpenOperator`."""
        ...
