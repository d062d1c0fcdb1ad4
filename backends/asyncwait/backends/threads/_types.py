"""How the plain form is typed: what goes in as A comes out as B, or something is wrong."""

from collections.abc import AsyncIterable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias, TypeVar, overload

from asyncwait.spec import Batch, OperatorError, Retry, Statistics
from asyncwait.toolkit import PlainResults

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
B_co = TypeVar("B_co", covariant=True)

_Words: TypeAlias = Literal["fail", "skip"]

_Answers: TypeAlias = Mapping[A, B | BaseException] | Sequence[B | BaseException]
"""What a function gives that is called in batches: for each value its result, or an error."""


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
        fn: Callable[[A], B],
        *,
        timeout: float | None = None,
        retry: Retry | None = None,
        on_error: _Words | Callable[[A, OperatorError], C] | None = None,
        capacity: int = 100,
        max_held: int | None = None,
        copy: Callable[[A], A] | None = None,
        many: Literal[False] = False,
    ) -> ThreadsStream[B | C]: ...

    @overload
    def __call__(
        self,
        source: Iterable[A] | AsyncIterable[A],
        fn: Callable[[A], Iterable[B]],
        *,
        many: Literal[True],
        timeout: float | None = None,
        retry: Retry | None = None,
        on_error: _Words | Callable[[A, OperatorError], Iterable[C]] | None = None,
        capacity: int = 100,
        max_held: int | None = None,
        copy: Callable[[A], A] | None = None,
    ) -> ThreadsStream[B | C]: ...

    @overload
    def __call__(
        self,
        source: Iterable[A] | AsyncIterable[A],
        fn: Callable[[list[A]], _Answers[A, B]],
        *,
        batch: Batch,
        timeout: float | None = None,
        retry: Retry | None = None,
        on_error: _Words | Callable[[A, OperatorError], C] | None = None,
        capacity: int = 100,
        max_held: int | None = None,
        copy: Callable[[A], A] | None = None,
        many: Literal[False] = False,
    ) -> ThreadsStream[B | C]: ...

    @overload
    def __call__(
        self,
        source: Iterable[A] | AsyncIterable[A],
        fn: Callable[[list[A]], _Answers[A, Iterable[B]]],
        *,
        batch: Batch,
        many: Literal[True],
        timeout: float | None = None,
        retry: Retry | None = None,
        on_error: _Words | Callable[[A, OperatorError], Iterable[C]] | None = None,
        capacity: int = 100,
        max_held: int | None = None,
        copy: Callable[[A], A] | None = None,
    ) -> ThreadsStream[B | C]: ...


class KeyedThreadsWait(Protocol):
    """The same in key-ordered mode, in which each value has a key."""

    @overload
    def __call__(
        self,
        source: Iterable[A] | AsyncIterable[A],
        fn: Callable[[A], B],
        *,
        key: Callable[[A], object],
        timeout: float | None = None,
        retry: Retry | None = None,
        on_error: _Words | Callable[[A, OperatorError], C] | None = None,
        capacity: int = 100,
        max_held: int | None = None,
        copy: Callable[[A], A] | None = None,
        many: Literal[False] = False,
    ) -> ThreadsStream[B | C]: ...

    @overload
    def __call__(
        self,
        source: Iterable[A] | AsyncIterable[A],
        fn: Callable[[A], Iterable[B]],
        *,
        key: Callable[[A], object],
        many: Literal[True],
        timeout: float | None = None,
        retry: Retry | None = None,
        on_error: _Words | Callable[[A, OperatorError], Iterable[C]] | None = None,
        capacity: int = 100,
        max_held: int | None = None,
        copy: Callable[[A], A] | None = None,
    ) -> ThreadsStream[B | C]: ...

    @overload
    def __call__(
        self,
        source: Iterable[A] | AsyncIterable[A],
        fn: Callable[[list[A]], _Answers[A, B]],
        *,
        key: Callable[[A], object],
        batch: Batch,
        timeout: float | None = None,
        retry: Retry | None = None,
        on_error: _Words | Callable[[A, OperatorError], C] | None = None,
        capacity: int = 100,
        max_held: int | None = None,
        copy: Callable[[A], A] | None = None,
        many: Literal[False] = False,
    ) -> ThreadsStream[B | C]: ...

    @overload
    def __call__(
        self,
        source: Iterable[A] | AsyncIterable[A],
        fn: Callable[[list[A]], _Answers[A, Iterable[B]]],
        *,
        key: Callable[[A], object],
        batch: Batch,
        many: Literal[True],
        timeout: float | None = None,
        retry: Retry | None = None,
        on_error: _Words | Callable[[A, OperatorError], Iterable[C]] | None = None,
        capacity: int = 100,
        max_held: int | None = None,
        copy: Callable[[A], A] | None = None,
    ) -> ThreadsStream[B | C]: ...
