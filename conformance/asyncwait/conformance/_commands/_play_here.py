"""What `play --here` and `play --trace` do."""

import sys
from collections.abc import Sequence

from asyncwait.conformance._commands._run import gate_of_one, show_runs
from asyncwait.conformance._guard import INTERRUPTED
from asyncwait.conformance._say import say
from asyncwait.conformance.harness import heard_by
from asyncwait.conformance.playing_here import DebuggerLeft, Watcher, ended_by_debugger, open_here
from asyncwait.conformance.running import Broken, adapted
from asyncwait.conformance.verdict import Case, Word
from asyncwait.spec.scenario import Scenario, Trace

_ELSEWHERE = (
    "its events are recorded in other processes or on another machine: none could be told "
    "while it happened"
)


def play_here(backend: str, planned: Sequence[Scenario], *, traces: bool) -> Word:
    """Play scenarios in this process, for a debugger; draw and judge them, return the verdict.

    Raises:
        InvalidConfig: the backend is a program, or what the project's file says of it is wrong.
    """
    gate = gate_of_one(backend)
    with open_here(backend, folder=gate.folder(backend)) as opened:
        cases = [Case("", each, adapted(each, opened.capabilities)) for each in planned]
        watcher = Watcher(_say, tells=traces)
        try:
            with heard_by(watcher), watcher.interruptible(), ended_by_debugger():
                played = list(opened.play([case.scenario for case in cases]))
        except DebuggerLeft:
            say("stopped by the debugger: no verdict", err=True)
            sys.exit(INTERRUPTED)
    if traces and not watcher.heard and _has_events(played):
        say(_ELSEWHERE, err=True)
    return show_runs(cases, played, opened, gate)


def _say(line: str) -> None:
    say(line)
    sys.stdout.flush()


def _has_events(played: Sequence[Trace | Broken]) -> bool:
    return any(isinstance(run, Trace) and any(leg.events for leg in run.legs) for run in played)
