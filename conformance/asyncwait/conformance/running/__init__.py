"""Gets scenarios played: finds the backend, isolates it, refuses impossible traces."""

from asyncwait.conformance.running._adapt import adapted
from asyncwait.conformance.running._backend import (
    Backend,
    PlaysFurther,
    StreamBackend,
    stream_backend,
)
from asyncwait.conformance.running._names import (
    UnknownBackend,
    broken_families,
    known_backends,
    load_backend,
    shipped_backends,
)
from asyncwait.conformance.running._process import ChildProcess
from asyncwait.conformance.running._runs import Broken, Play, checked
from asyncwait.conformance.running._served import (
    REAL_SECONDS,
    Served,
    listed_backends,
    open_backend,
)
from asyncwait.conformance.running._speech import exec_name
from asyncwait.conformance.running._talk import Listed
from asyncwait.spec.exports import claim_exports

__all__ = [
    "REAL_SECONDS",
    "Backend",
    "Broken",
    "ChildProcess",
    "Listed",
    "Play",
    "PlaysFurther",
    "Served",
    "StreamBackend",
    "UnknownBackend",
    "adapted",
    "broken_families",
    "checked",
    "exec_name",
    "known_backends",
    "listed_backends",
    "load_backend",
    "open_backend",
    "shipped_backends",
    "stream_backend",
]

claim_exports(__name__)
