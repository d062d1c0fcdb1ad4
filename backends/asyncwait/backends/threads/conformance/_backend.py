"""The backend: plays scenarios on the virtual clock, and some of them on the real one, too."""

import threading
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from asyncwait.backends.threads.conformance._loops import HurriedLoop, PatientLoop
from asyncwait.backends.threads.conformance._server import open_served
from asyncwait.conformance.harness import in_real_time, play, short
from asyncwait.spec.scenario import ALL_CAPABILITIES, Capability, Scenario, Trace

LACKS = frozenset({Capability.CANCEL_CALLS})
"""Nothing ends a thread from outside."""

MOST = 40
"""Scenarios that are played on the real clock at most."""

_STACK = 512 * 1024
"""Bytes of the stack of a thread: more than a thousand of them have to fit into a child process."""


class ThreadsBackend:
    """Plays scenarios one after the other, each in an event loop of its own."""

    capabilities: frozenset[Capability] = ALL_CAPABILITIES - LACKS
    exceptions: Mapping[str, str] = {}
    batch = False

    def run(self, scenarios: Sequence[Scenario]) -> Iterator[Trace]:
        """Play `scenarios`."""
        threading.stack_size(_STACK)
        for scenario in scenarios:
            yield _play(scenario)

    def further_runs(
        self, scenarios: Mapping[str, Scenario]
    ) -> Iterator[tuple[str, Scenario, Trace]]:
        """Play short ones of `scenarios` on the real clock."""
        names = list(chosen := short(scenarios, _play, MOST))
        for number, trace in in_real_time(list(chosen.values()), _play_for_real):
            yield f"{names[number]}, in real time", chosen[names[number]], trace


def _play(scenario: Scenario) -> Trace:
    return play(open_served, scenario, loop_factory=PatientLoop)


def _play_for_real(scenarios: Sequence[Scenario]) -> Iterator[Trace]:
    return map(_play_once_for_real, scenarios)


def _play_once_for_real(scenario: Scenario) -> Trace:
    """Play `scenario`; what was long on its way to or from a thread makes its leg late, too."""
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
