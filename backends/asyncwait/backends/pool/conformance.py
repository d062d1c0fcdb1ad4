"""The pool as a backend, for elements and for plain values, on either loop."""

from asyncwait.backends.pool import key_ordered_wait, open_operator, ordered_wait, unordered_wait
from asyncwait.conformance import StreamBackend, stream_backend
from asyncwait.conformance.running import PlainBackend, plain_backend
from asyncwait.spec import Mode
from asyncwait.toolkit import KeyedWait, PlainWait

WAITS: dict[Mode, PlainWait | KeyedWait] = {
    "ordered": ordered_wait,
    "unordered": unordered_wait,
    "key-ordered": key_ordered_wait,
}
"""For plain values."""


def asyncio_backend() -> StreamBackend:
    """Return the pool on asyncio."""
    return stream_backend(open_operator)


def trio_backend() -> StreamBackend:
    """Return the pool on trio."""
    return stream_backend(open_operator, loop="trio")


def plain_asyncio_backend() -> PlainBackend:
    """Return the pool for plain values on asyncio."""
    return plain_backend(WAITS)


def plain_trio_backend() -> PlainBackend:
    """Return the pool for plain values on trio."""
    return plain_backend(WAITS, "trio")


__all__ = ["asyncio_backend", "plain_asyncio_backend", "plain_trio_backend", "trio_backend"]
