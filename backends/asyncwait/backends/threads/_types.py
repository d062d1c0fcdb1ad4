"""How the plain form is typed: what goes in as A comes out as B, or something is wrong."""

from collections.abc import AsyncIterable, Callable, Iterable, Iterator
from typing import Any, Protocol, TypeVar, Unpack, overload

from asyncwait.spec import Batch, Statistics
from asyncwait.spec.limits import Cost
from asyncwait.toolkit import Answers, ManyResults, OneResult, PlainResults

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
B_co = TypeVar("B_co", covariant=True)


class BlockingResults(Protocol[B_co]):
    """The results of a stream of plain values, for a thread that has no loop."""

    def __iter__(self) -> Iterator[B_co]: ...

    def __next__(self) -> B_co:
        """Return the next result, and wait for it."""
        ...

    def statistics(self) -> Statistics:
        """Return the present figures."""
        ...


class ThreadsStream(Protocol[B_co]):
    """A stream that is opened once: by `async with`, by `with`, or by a `for` loop over it.

    A `for` loop over the stream itself leaves it when it ends, or when it is broken off and its
    iterator dropped; `with` leaves it at once, whoever keeps hold of what.
    """

    async def __aenter__(self) -> PlainResults[B_co]: ...

    async def __aexit__(self, kind: Any, error: Any, traceback: Any, /) -> bool | None: ...

    def __enter__(self) -> BlockingResults[B_co]: ...

    def __exit__(self, kind: Any, error: Any, traceback: Any, /) -> bool | None: ...

    def __iter__(self) -> Iterator[B_co]: ...


class ThreadsWait(Protocol):
    """An operator for plain values and a function that blocks; see `PlainWait`."""

    @overload
    def __call__(
        self,
        source: Iterable[A] | AsyncIterable[A],
        fn: Callable[[A], Cost[B]],
        **options: Unpack[OneResult[A, C]],
    ) -> ThreadsStream[B | C]: ...

    @overload
    def __call__(
        self,
        source: Iterable[A] | AsyncIterable[A],
        fn: Callable[[A], B],
        **options: Unpack[OneResult[A, C]],
    ) -> ThreadsStream[B | C]: ...

    @overload
    def __call__(
        self,
        source: Iterable[A] | AsyncIterable[A],
        fn: Callable[[A], Iterable[B] | Cost[Iterable[B]]],
        **options: Unpack[ManyResults[A, C]],
    ) -> ThreadsStream[B | C]: ...

    @overload
    def __call__(
        self,
        source: Iterable[A] | AsyncIterable[A],
        fn: Callable[[list[A]], Answers[A, B] | Cost[Answers[A, B]]],
        *,
        batch: Batch,
        **options: Unpack[OneResult[A, C]],
    ) -> ThreadsStream[B | C]: ...

    @overload
    def __call__(
        self,
        source: Iterable[A] | AsyncIterable[A],
        fn: Callable[[list[A]], Answers[A, Iterable[B]] | Cost[Answers[A, Iterable[B]]]],
        *,
        batch: Batch,
        **options: Unpack[ManyResults[A, C]],
    ) -> ThreadsStream[B | C]: ...


class KeyedThreadsWait(Protocol):
    """The same in key-ordered mode, in which each value has a key."""

    @overload
    def __call__(
        self,
        source: Iterable[A] | AsyncIterable[A],
        fn: Callable[[A], Cost[B]],
        *,
        key: Callable[[A], object],
        **options: Unpack[OneResult[A, C]],
    ) -> ThreadsStream[B | C]: ...

    @overload
    def __call__(
        self,
        source: Iterable[A] | AsyncIterable[A],
        fn: Callable[[A], B],
        *,
        key: Callable[[A], object],
        **options: Unpack[OneResult[A, C]],
    ) -> ThreadsStream[B | C]: ...

    @overload
    def __call__(
        self,
        source: Iterable[A] | AsyncIterable[A],
        fn: Callable[[A], Iterable[B] | Cost[Iterable[B]]],
        *,
        key: Callable[[A], object],
        **options: Unpack[ManyResults[A, C]],
    ) -> ThreadsStream[B | C]: ...

    @overload
    def __call__(
        self,
        source: Iterable[A] | AsyncIterable[A],
        fn: Callable[[list[A]], Answers[A, B] | Cost[Answers[A, B]]],
        *,
        key: Callable[[A], object],
        batch: Batch,
        **options: Unpack[OneResult[A, C]],
    ) -> ThreadsStream[B | C]: ...

    @overload
    def __call__(
        self,
        source: Iterable[A] | AsyncIterable[A],
        fn: Callable[[list[A]], Answers[A, Iterable[B]] | Cost[Answers[A, Iterable[B]]]],
        *,
        key: Callable[[A], object],
        batch: Batch,
        **options: Unpack[ManyResults[A, C]],
    ) -> ThreadsStream[B | C]: ...
