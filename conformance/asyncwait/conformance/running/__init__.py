"""Gets scenarios played: finds the backend, isolates it, refuses impossible traces."""

from asyncwait.conformance.running._adapt import adapted
from asyncwait.conformance.running._backend import (
    Backend,
    ExecBackend,
    StreamBackend,
    UnknownBackend,
    broken_families,
    exec_reference,
    known_backends,
    load_backend,
    shipped_backends,
    stream_backend,
)
from asyncwait.conformance.running._isolated import REAL_SECONDS, ChildPlayer, python_child
from asyncwait.conformance.running._runs import Broken, Play, checked, open_player, runs
from asyncwait.spec.exports import claim_exports

__all__ = [
    "REAL_SECONDS",
    "Backend",
    "Broken",
    "ChildPlayer",
    "ExecBackend",
    "Play",
    "StreamBackend",
    "UnknownBackend",
    "adapted",
    "broken_families",
    "checked",
    "exec_reference",
    "known_backends",
    "load_backend",
    "open_player",
    "python_child",
    "runs",
    "shipped_backends",
    "stream_backend",
]

claim_exports(__name__)
