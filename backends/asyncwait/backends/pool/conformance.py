"""The pool as a backend, for elements and for plain values, on either loop."""

from functools import partial

from asyncwait.backends.pool import key_ordered_wait, open_operator, ordered_wait, unordered_wait
from asyncwait.conformance import stream_backend
from asyncwait.conformance.running import plain_backend
from asyncwait.spec import Mode
from asyncwait.toolkit import KeyedWait, PlainWait

WAITS: dict[Mode, PlainWait | KeyedWait] = {
    "ordered": ordered_wait,
    "unordered": unordered_wait,
    "key-ordered": key_ordered_wait,
}
"""The operators for plain values, by mode."""

asyncio_backend = partial(stream_backend, open_operator)
"""Returns the pool on asyncio."""

trio_backend = partial(stream_backend, open_operator, loop="trio")
"""Returns the pool on trio."""

plain_asyncio_backend = partial(plain_backend, WAITS)
"""Returns the pool for plain values on asyncio."""

plain_trio_backend = partial(plain_backend, WAITS, "trio")
"""Returns the pool for plain values on trio."""


__all__ = ["asyncio_backend", "plain_asyncio_backend", "plain_trio_backend", "trio_backend"]
