"""The operator with threads as a backend: real threads, on a clock that waits for them.

The outcome of a call is played on the loop, as in every backend; the function in a thread requests
it from the loop, as a client from its server, and blocks until it has the answer. Time stands still
while a thread is on its way to the server or back.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence

from asyncwait.backends.threads.conformance._loops import PatientLoop
from asyncwait.backends.threads.conformance._server import open_served
from asyncwait.conformance import ExpectedFailure
from asyncwait.conformance.harness import play
from asyncwait.spec.scenario import ALL_CAPABILITIES, Capability, Scenario, Trace

LACKS = frozenset({Capability.CANCEL_CALLS, Capability.CACHE})
"""A thread cannot be ended from outside, and a thread's results are not cached."""

_STACK = 512 * 1024
"""Bytes of the stack of a thread: more than a thousand threads must fit into a child process."""


class ThreadsBackend:
    """Plays scenarios one after the other, each in an event loop of its own."""

    capabilities: frozenset[Capability] = ALL_CAPABILITIES - LACKS
    expected_failures: Mapping[str, ExpectedFailure] = {}
    batch = False

    def run(self, scenarios: Sequence[Scenario]) -> Iterator[Trace]:
        """Play `scenarios`."""
        threading.stack_size(_STACK)
        for scenario in scenarios:
            yield play(open_served, scenario, loop_factory=PatientLoop)


def backend() -> ThreadsBackend:
    """Return the operator with threads."""
    return ThreadsBackend()


__all__ = ["backend"]
