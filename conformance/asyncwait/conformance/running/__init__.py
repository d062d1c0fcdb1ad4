"""Gets scenarios played: finds the backend, isolates it, refuses impossible traces."""

from asyncwait.conformance.running._adapt import adapted
from asyncwait.conformance.running._backend import (
    Backend,
    StreamBackend,
    UnknownBackend,
    exec_reference,
    known_backends,
    load_backend,
    shipped_backends,
    stream_backend,
)
from asyncwait.conformance.running._isolated import REAL_SECONDS, ChildPlayer, python_child
from asyncwait.conformance.running._possible import impossible

__all__ = [
    "REAL_SECONDS",
    "Backend",
    "ChildPlayer",
    "StreamBackend",
    "UnknownBackend",
    "adapted",
    "exec_reference",
    "impossible",
    "known_backends",
    "load_backend",
    "python_child",
    "shipped_backends",
    "stream_backend",
]
