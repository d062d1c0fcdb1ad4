"""Types of the plain form in threads; see `asyncwait.toolkit.PlainWait`."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeAlias, TypeVar, Unpack, overload

from asyncwait.spec import Statistics
from asyncwait.spec.limits import Cost
from asyncwait.toolkit import (
    AllMany,
    AllOne,
    Answers,
    Key,
    Many,
    One,
    PlainResults,
    Priced,
    Source,
)

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
B_co = TypeVar("B_co", covariant=True)

_Fn: TypeAlias = Callable[[A], B]
_FnMany: TypeAlias = Callable[[A], Priced[Iterable[B]]]
_Batch: TypeAlias = Callable[[list[A]], Priced[Answers[A, B]]]
_Lists: TypeAlias = Callable[[list[A]], Priced[Answers[A, Iterable[B]]]]


class BlockingResults(Protocol[B_co]):
    """The results of a stream of plain values, for a thread without a loop."""

    def __iter__(self) -> Iterator[B_co]: ...

    def __next__(self) -> B_co:
        """Wait for the next result, and return it."""
        ...

    def statistics(self) -> Statistics:
        """Return the present figures."""
        ...


class ThreadsStream(Protocol[B_co]):
    """A stream that is opened once: by `async with`, by `with`, or by a `for` loop over it.

    A `for` loop over the stream leaves the operator at the end of the results, or when the loop
    breaks and its iterator is dropped; `with` leaves the operator at once.
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
        self, source: Source[A], fn: _Fn[A, Cost[B]], **options: Unpack[One[A, C]]
    ) -> ThreadsStream[B | C]: ...

    @overload
    def __call__(
        self, source: Source[A], fn: _Fn[A, B], **options: Unpack[One[A, C]]
    ) -> ThreadsStream[B | C]: ...

    @overload
    def __call__(
        self, source: Source[A], fn: _FnMany[A, B], **options: Unpack[Many[A, C]]
    ) -> ThreadsStream[B | C]: ...

    @overload
    def __call__(
        self, source: Source[A], fn: _Batch[A, B], **options: Unpack[AllOne[A, C]]
    ) -> ThreadsStream[B | C]: ...

    @overload
    def __call__(
        self, source: Source[A], fn: _Lists[A, B], **options: Unpack[AllMany[A, C]]
    ) -> ThreadsStream[B | C]: ...


class KeyedThreadsWait(Protocol):
    """An operator for plain values in key-ordered mode, where each value has a key."""

    @overload
    def __call__(
        self, source: Source[A], fn: _Fn[A, Cost[B]], *, key: Key[A], **options: Unpack[One[A, C]]
    ) -> ThreadsStream[B | C]: ...

    @overload
    def __call__(
        self, source: Source[A], fn: _Fn[A, B], *, key: Key[A], **options: Unpack[One[A, C]]
    ) -> ThreadsStream[B | C]: ...

    @overload
    def __call__(
        self, source: Source[A], fn: _FnMany[A, B], *, key: Key[A], **options: Unpack[Many[A, C]]
    ) -> ThreadsStream[B | C]: ...

    @overload
    def __call__(
        self, source: Source[A], fn: _Batch[A, B], *, key: Key[A], **options: Unpack[AllOne[A, C]]
    ) -> ThreadsStream[B | C]: ...

    @overload
    def __call__(
        self, source: Source[A], fn: _Lists[A, B], *, key: Key[A], **options: Unpack[AllMany[A, C]]
    ) -> ThreadsStream[B | C]: ...
