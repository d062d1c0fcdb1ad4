"""Plays scenarios: finds the backend, isolates it, refuses impossible traces.

The process that decides runs none of a backend's code. It starts children, as many as there are
cores, and each loads the backend and serves it:

    command --- supervisor --- child    one line requests a scenario, one line has its outcome
            --- supervisor --- child

The first lines of a child say that it runs, and describe the backend or why it can't be loaded. The
clock that bounds loading and playing is the command's. The supervisor ends all processes below it,
however the command or the child ends, and removes their folder of temporary files.

Limits: a process that a daemon starts for a child is not below the supervisor. On systems other
than Linux the supervisor does not find a process that leaves the session of its child. A child that
runs as the same user can kill the command itself, which then has no verdict. And the operator
shares its process with the harness that observes it: a malicious operator can forge its own traces.
"""

from asyncwait.conformance.running._backend import (
    Backend,
    Lacking,
    Lacks,
    StreamBackend,
    adapted,
    importing_the_suite,
    missing_text,
    require_trio,
    stream_backend,
)
from asyncwait.conformance.running._names import (
    Fault,
    UnknownBackend,
    imported,
    known_backends,
    load_backend,
    shipped_backends,
)
from asyncwait.conformance.running._plain import (
    OF_ELEMENTS,
    gives_one,
    plain_backend,
    plain_opener,
)
from asyncwait.conformance.running._process import ChildProcess
from asyncwait.conformance.running._served import (
    REAL_SECONDS,
    Broken,
    Play,
    Served,
    checked,
    listed_backends,
    lost,
    open_backend,
    open_mailbox,
)
from asyncwait.conformance.running._speech import Listed, exec_name
from asyncwait.spec.exports import claim_exports

__all__ = [
    "OF_ELEMENTS",
    "REAL_SECONDS",
    "Backend",
    "Broken",
    "ChildProcess",
    "Fault",
    "Lacking",
    "Lacks",
    "Listed",
    "Play",
    "Served",
    "StreamBackend",
    "UnknownBackend",
    "adapted",
    "checked",
    "exec_name",
    "gives_one",
    "imported",
    "importing_the_suite",
    "known_backends",
    "listed_backends",
    "load_backend",
    "lost",
    "missing_text",
    "open_backend",
    "open_mailbox",
    "plain_backend",
    "plain_opener",
    "require_trio",
    "shipped_backends",
    "stream_backend",
]

claim_exports(__name__)
