"""How the plain form is typed: what goes in as A comes out as B, or something is wrong.

What each argument means stands in the docstring of the functions that `plain_wait` builds.
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

from asyncwait.spec import (
    Batch,
    Cache,
    OperatorConfig,
    OperatorError,
    Retry,
    Statistics,
)
from asyncwait.spec.limits import AnyLimit, Cost, SharedLimits
from asyncwait.toolkit._plain_parts import PlainFunction, PlainSource

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
B_co = TypeVar("B_co", covariant=True)

OnError: TypeAlias = Literal["fail", "skip"] | Callable[[Any, OperatorError], Any]
"""What becomes of a value for which everything has failed."""

_Words: TypeAlias = Literal["fail", "skip"]

Answers: TypeAlias = Mapping[A, B | BaseException] | Sequence[B | BaseException]
"""What a function gives that is called in batches: for each value its result, or an error."""


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
    """What each form for plain values takes; left out, `capacity` is 100, and all else None."""

    timeout: float | None
    retry: Retry | None
    capacity: int
    max_held: int | None
    copy: Callable[[A], A] | None
    limits: Sequence[AnyLimit] | SharedLimits | None
    on_failure: Literal["finish"] | None


class OneResult(_Options[A], Generic[A, C], total=False):
    """The same, and what a value comes to by itself that has one result."""

    on_error: _Words | Callable[[A, OperatorError], C] | None
    many: Literal[False]


class ManyResults(_Options[A], Generic[A, C], total=False):
    """The same of a value that has many."""

    on_error: _Words | Callable[[A, OperatorError], Iterable[C]] | None
    many: Required[Literal[True]]


class PlainWait(Protocol):
    """An operator for plain values: an async context manager that gives an iterator of results.

    It is no generator, because a task group must not stay open across the `yield` of one that
    someone may drop. What holds of the operator holds here: cancelling a wait for the next result
    loses none, and a failure is raised again by each further read.
    """

    @overload
    def __call__(
        self,
        source: Iterable[A] | AsyncIterable[A],
        fn: Callable[[A], Awaitable[Cost[B]]],
        *,
        cache: Cache | None = None,
        **options: Unpack[OneResult[A, C]],
    ) -> AbstractAsyncContextManager[PlainResults[B | C]]: ...

    @overload
    def __call__(
        self,
        source: Iterable[A] | AsyncIterable[A],
        fn: Callable[[A], Awaitable[B]],
        *,
        cache: Cache | None = None,
        **options: Unpack[OneResult[A, C]],
    ) -> AbstractAsyncContextManager[PlainResults[B | C]]: ...

    @overload
    def __call__(
        self,
        source: Iterable[A] | AsyncIterable[A],
        fn: Callable[[A], Awaitable[Iterable[B] | Cost[Iterable[B]]]],
        *,
        cache: Cache | None = None,
        **options: Unpack[ManyResults[A, C]],
    ) -> AbstractAsyncContextManager[PlainResults[B | C]]: ...

    @overload
    def __call__(
        self,
        source: Iterable[A] | AsyncIterable[A],
        fn: Callable[[list[A]], Awaitable[Answers[A, B] | Cost[Answers[A, B]]]],
        *,
        batch: Batch,
        **options: Unpack[OneResult[A, C]],
    ) -> AbstractAsyncContextManager[PlainResults[B | C]]: ...

    @overload
    def __call__(
        self,
        source: Iterable[A] | AsyncIterable[A],
        fn: Callable[[list[A]], Awaitable[Answers[A, Iterable[B]] | Cost[Answers[A, Iterable[B]]]]],
        *,
        batch: Batch,
        **options: Unpack[ManyResults[A, C]],
    ) -> AbstractAsyncContextManager[PlainResults[B | C]]: ...


class KeyedWait(Protocol):
    """The same in key-ordered mode, in which each value has a key; see `PlainWait`."""

    @overload
    def __call__(
        self,
        source: Iterable[A] | AsyncIterable[A],
        fn: Callable[[A], Awaitable[Cost[B]]],
        *,
        key: Callable[[A], Any],
        cache: Cache | None = None,
        **options: Unpack[OneResult[A, C]],
    ) -> AbstractAsyncContextManager[PlainResults[B | C]]: ...

    @overload
    def __call__(
        self,
        source: Iterable[A] | AsyncIterable[A],
        fn: Callable[[A], Awaitable[B]],
        *,
        key: Callable[[A], Any],
        cache: Cache | None = None,
        **options: Unpack[OneResult[A, C]],
    ) -> AbstractAsyncContextManager[PlainResults[B | C]]: ...

    @overload
    def __call__(
        self,
        source: Iterable[A] | AsyncIterable[A],
        fn: Callable[[A], Awaitable[Iterable[B] | Cost[Iterable[B]]]],
        *,
        key: Callable[[A], Any],
        cache: Cache | None = None,
        **options: Unpack[ManyResults[A, C]],
    ) -> AbstractAsyncContextManager[PlainResults[B | C]]: ...

    @overload
    def __call__(
        self,
        source: Iterable[A] | AsyncIterable[A],
        fn: Callable[[list[A]], Awaitable[Answers[A, B] | Cost[Answers[A, B]]]],
        *,
        key: Callable[[A], Any],
        batch: Batch,
        **options: Unpack[OneResult[A, C]],
    ) -> AbstractAsyncContextManager[PlainResults[B | C]]: ...

    @overload
    def __call__(
        self,
        source: Iterable[A] | AsyncIterable[A],
        fn: Callable[[list[A]], Awaitable[Answers[A, Iterable[B]] | Cost[Answers[A, Iterable[B]]]]],
        *,
        key: Callable[[A], Any],
        batch: Batch,
        **options: Unpack[ManyResults[A, C]],
    ) -> AbstractAsyncContextManager[PlainResults[B | C]]: ...


class OpenPlain(Protocol):
    """How an operator is opened that takes plain values, and gives them, without a detour."""

    def __call__(
        self, config: OperatorConfig, function: PlainFunction, source: PlainSource
    ) -> AbstractAsyncContextManager[PlainResults[Any]]:
        """Open an operator; see `OpenOperator`, to which it could be handed just so."""
        ...
