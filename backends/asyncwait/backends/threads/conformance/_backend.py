"""The backend: plays scenarios on the virtual clock, and some of them on the real clock, too."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from asyncwait.backends.threads.conformance._front import open_front
from asyncwait.backends.threads.conformance._loops import HurriedLoop, PatientLoop
from asyncwait.backends.threads.conformance._server import open_served
from asyncwait.conformance import ExpectedFailure
from asyncwait.conformance.harness import in_real_time, play, short
from asyncwait.conformance.running import OF_ELEMENTS, gives_one
from asyncwait.spec.scenario import ALL_CAPABILITIES, Capability, Scenario, Trace

LACKS = frozenset({Capability.CANCEL_CALLS, Capability.CACHE})
"""A thread cannot be ended from outside, and a thread's results are not cached."""

MOST = 40
"""Largest number of scenarios that are played on the real clock."""

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
            yield _play(scenario)

    def further_runs(
        self, scenarios: Mapping[str, Scenario]
    ) -> Iterator[tuple[str, Scenario, Trace]]:
        """Play the short ones of `scenarios` on the real clock."""
        names = list(chosen := short(scenarios, _play, MOST))
        for number, trace in in_real_time(list(chosen.values()), _play_for_real):
            yield f"{names[number]}, in real time", chosen[names[number]], trace


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

    def further_runs(
        self,
        scenarios: Mapping[str, Scenario],  # noqa: ARG002 - none
    ) -> Iterator[tuple[str, Scenario, Trace]]:
        """Play no further scenario: on the real clock, the form with a loop is played."""
        return iter(())


def _play(scenario: Scenario) -> Trace:
    return play(open_served, scenario, loop_factory=PatientLoop)


def _play_for_real(scenarios: Sequence[Scenario]) -> Iterator[Trace]:
    return map(_play_once_for_real, scenarios)


def _play_once_for_real(scenario: Scenario) -> Trace:
    """Play `scenario`; a long way to or from a thread makes its leg late, too."""
    loops: list[HurriedLoop] = []

    def make() -> HurriedLoop:
        loops.append(HurriedLoop())
        return loops[-1]

    trace = play(open_served, scenario, real=True, loop_factory=make)
    legs = (
        replace(leg, late_by=max(leg.late_by, loop.late_by))
        for leg, loop in zip(trace.legs, loops, strict=True)
    )
    return Trace(tuple(legs))
