"""The operator with threads as a backend: real threads, on a clock that waits for them.

The outcome of a call is played on the loop, as in every backend; the function in a thread requests
it from the loop, as a client from its server, and blocks until it has the answer. Time stands still
while a thread is on its way to the server or back.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from asyncwait.backends.threads.conformance._front import open_front
from asyncwait.backends.threads.conformance._loops import PatientLoop
from asyncwait.backends.threads.conformance._server import open_served
from asyncwait.conformance import ExpectedFailure
from asyncwait.conformance.harness import play
from asyncwait.conformance.running import OF_ELEMENTS, gives_one
from asyncwait.spec.scenario import ALL_CAPABILITIES, Capability, Scenario, Trace

LACKS = frozenset({Capability.CANCEL_CALLS, Capability.CACHE})
"""A thread cannot be ended from outside, and a thread's results are not cached."""

_STACK = 512 * 1024
"""Bytes of the stack of a thread: more than a thousand threads must fit into a child process."""


_TOGETHER = "results that are ready come to a thread without a loop together, and are emitted then"

_OPENS = "a thread that opens the operator is not cancelled: it is left as soon as it is open"
_RETURNS = "a call that is abandoned may end while the thread comes back from closing"

OF_THE_FRONT = {
    **{
        rule: ExpectedFailure(_TOGETHER, strict=False)
        for rule in ("CAP-1", "CAP-3", "FAIL-3", "KEY-9", "STAT-1", "STAT-3", "STAT-10")
    },
    "END-6": ExpectedFailure(_RETURNS, strict=False),
    "END-10": ExpectedFailure(_OPENS, strict=False),
}
"""Expected failures with a slow reader in a thread: besides the records in flight, as many results
as the operator has room for wait for the thread.
"""


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


class FrontBackend(ThreadsBackend):
    """Plays scenarios on the blocking form for plain values, whose results a thread reads."""

    capabilities = (
        ALL_CAPABILITIES
        - LACKS
        - OF_ELEMENTS
        - {
            Capability.TIMED_INPUT,
            Capability.ONE_LOOP,
            Capability.CANCELLATION_SEEN,
            Capability.COPIES,
            Capability.CONTEXTS,
        }
    )
    """Its source is a collection of available values, and a blocked thread is not
    cancelled. Values are copied and contexts are kept as in all threads.
    """
    expected_failures = OF_THE_FRONT

    def run(self, scenarios: Sequence[Scenario]) -> Iterator[Trace]:
        """Play `scenarios`."""
        threading.stack_size(_STACK)
        for scenario in scenarios:
            opens = partial(open_front, single=gives_one(scenario))
            yield play(opens, scenario, loop_factory=PatientLoop)


def backend() -> ThreadsBackend:
    """Return the operator with threads."""
    return ThreadsBackend()


def plain_backend() -> FrontBackend:
    """Return the form for plain values, as a thread without a loop uses it."""
    return FrontBackend()


def family() -> Mapping[str, Callable[[], FrontBackend]]:
    """Return the backends that are verified by name alone."""
    return {"threads-plain": plain_backend}


__all__ = ["backend", "family", "plain_backend"]
