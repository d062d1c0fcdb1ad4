"""The reference operator as a backend, on either loop, and without each of its capabilities."""

from functools import partial

from asyncwait.backends.reference._without import Refused, family, refusing
from asyncwait.conformance import stream_backend
from asyncwait.conformance.running import plain_backend
from asyncwait.reference import key_ordered_wait, open_operator, ordered_wait, unordered_wait
from asyncwait.spec import Mode
from asyncwait.spec.exports import claim_exports
from asyncwait.toolkit import KeyedWait, PlainWait

WAITS: dict[Mode, PlainWait | KeyedWait] = {
    "ordered": ordered_wait,
    "unordered": unordered_wait,
    "key-ordered": key_ordered_wait,
}
"""The operators for plain values, by mode."""

asyncio_backend = partial(stream_backend, open_operator)
"""Returns the reference on asyncio."""

trio_backend = partial(stream_backend, open_operator, loop="trio")
"""Returns the reference on trio."""

plain_asyncio_backend = partial(plain_backend, WAITS)
"""Returns the reference for plain values on asyncio."""

plain_trio_backend = partial(plain_backend, WAITS, "trio")
"""Returns the reference for plain values on trio."""


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
