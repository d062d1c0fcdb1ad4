"""Plays scenarios on operators and writes down what happens. Needs `spec` and anyio only."""

from asyncwait.conformance.harness._clock import (
    MAX_TURNS,
    LoopName,
    SpinWatch,
    VirtualLoop,
    loop_clock,
    run_virtual,
)
from asyncwait.conformance.harness._function import Planned, planned_error, planned_function
from asyncwait.conformance.harness._outside_clock import OutsideVirtualLoop
from asyncwait.conformance.harness._player import (
    PATIENCE,
    LegPlan,
    last_snapshot,
    next_leg,
    play,
    play_leg,
)
from asyncwait.conformance.harness._recorder import GRID, Recorder
from asyncwait.conformance.harness._sink import ScriptedSink, describe_failure
from asyncwait.conformance.harness._source import PlannedSourceError, ScriptedSource

__all__ = [
    "GRID",
    "MAX_TURNS",
    "PATIENCE",
    "LegPlan",
    "LoopName",
    "OutsideVirtualLoop",
    "Planned",
    "PlannedSourceError",
    "Recorder",
    "ScriptedSink",
    "ScriptedSource",
    "SpinWatch",
    "VirtualLoop",
    "describe_failure",
    "last_snapshot",
    "loop_clock",
    "next_leg",
    "planned_error",
    "planned_function",
    "play",
    "play_leg",
    "run_virtual",
]
