"""The reference operator as a backend, on either loop, and without each of its capabilities."""

from asyncwait.backends.reference._without import Refused, family, refusing
from asyncwait.conformance import StreamBackend, stream_backend
from asyncwait.conformance.running import PlainBackend, plain_backend
from asyncwait.reference import key_ordered_wait, open_operator, ordered_wait, unordered_wait
from asyncwait.spec import Mode
from asyncwait.spec.exports import claim_exports
from asyncwait.toolkit import KeyedWait, PlainWait

WAITS: dict[Mode, PlainWait | KeyedWait] = {
    "ordered": ordered_wait,
    "unordered": unordered_wait,
    "key-ordered": key_ordered_wait,
}
"""For plain values."""


def asyncio_backend() -> StreamBackend:
    """Return the reference on asyncio."""
    return stream_backend(open_operator)


def trio_backend() -> StreamBackend:
    """Return the reference on trio."""
    return stream_backend(open_operator, loop="trio")


def plain_asyncio_backend() -> PlainBackend:
    """Return the reference for plain values on asyncio."""
    return plain_backend(WAITS)


def plain_trio_backend() -> PlainBackend:
    """Return the reference for plain values on trio."""
    return plain_backend(WAITS, "trio")


__all__ = [
    "Refused",
    "asyncio_backend",
    "family",
    "plain_asyncio_backend",
    "plain_trio_backend",
    "refusing",
    "trio_backend",
]

claim_exports(__name__)
