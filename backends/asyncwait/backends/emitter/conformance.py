"""The emitter operator as a backend, for elements and for plain values, on either loop."""

from functools import partial

from asyncwait.backends.emitter import key_ordered_wait, open_operator, ordered_wait, unordered_wait
from asyncwait.conformance import stream_backend
from asyncwait.conformance.running import plain_backend
from asyncwait.spec import Mode
from asyncwait.toolkit import KeyedWait, PlainWait

WAITS: dict[Mode, PlainWait | KeyedWait] = {
    "ordered": ordered_wait,
    "unordered": unordered_wait,
    "key-ordered": key_ordered_wait,
}
"""For plain values."""

LACKS = ("cache", "limits")
"""It keeps nothing of what calls give."""

asyncio_backend = partial(stream_backend, open_operator, lacks=LACKS)
"""Returns the emitter's operator on asyncio."""

trio_backend = partial(stream_backend, open_operator, loop="trio", lacks=LACKS)
"""Returns the emitter's operator on trio."""

plain_asyncio_backend = partial(plain_backend, WAITS)
"""Returns the emitter's operator for plain values on asyncio."""

plain_trio_backend = partial(plain_backend, WAITS, "trio")
"""Returns the emitter's operator for plain values on trio."""


__all__ = [
    "LACKS",
    "asyncio_backend",
    "plain_asyncio_backend",
    "plain_trio_backend",
    "trio_backend",
]
