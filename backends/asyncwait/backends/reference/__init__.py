"""The reference operator as a backend, on either loop, and without each of its abilities."""

from asyncwait.backends.reference._without import Refused, family, refusing
from asyncwait.conformance import StreamBackend, stream_backend
from asyncwait.reference import open_operator
from asyncwait.spec.exports import claim_exports


def asyncio_backend() -> StreamBackend:
    """Return the reference on asyncio."""
    return stream_backend(open_operator)


def trio_backend() -> StreamBackend:
    """Return the reference on trio."""
    return stream_backend(open_operator, loop="trio")


__all__ = ["Refused", "asyncio_backend", "family", "refusing", "trio_backend"]

claim_exports(__name__)
