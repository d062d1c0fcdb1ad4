"""Plays scenarios on operators and writes down what happens. Needs `spec` and anyio only."""

from asyncwait.conformance.harness._clock import (
    MAX_TURNS,
    LoopName,
    SpinWatch,
    VirtualLoop,
    loop_blocker,
    loop_clock,
    run_virtual,
)
from asyncwait.conformance.harness._function import Planned, planned_error, planned_function
from asyncwait.conformance.harness._outside_clock import OutsideVirtualLoop
from asyncwait.conformance.harness._player import PATIENCE, play, play_leg
from asyncwait.conformance.harness._recorder import Recorder
from asyncwait.conformance.harness._sink import ScriptedSink, describe_failure
from asyncwait.conformance.harness._source import (
    PlannedSourceError,
    ScriptedSource,
    given_as,
    planned_source_error,
)
from asyncwait.spec.exports import claim_exports

__all__ = [
    "MAX_TURNS",
    "PATIENCE",
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
    "given_as",
    "loop_blocker",
    "loop_clock",
    "planned_error",
    "planned_function",
    "planned_source_error",
    "play",
    "play_leg",
    "run_virtual",
]

claim_exports(__name__)
