"""Plays scenarios on operators and writes down what happens. Needs `spec` and anyio only."""

from asyncwait.conformance.harness._function import Planned, planned_error, planned_function
from asyncwait.conformance.harness._outside_clock import OutsideRealLoop, OutsideVirtualLoop
from asyncwait.conformance.harness._player import play, play_leg
from asyncwait.conformance.harness._real_time import (
    LONGEST,
    in_real_time,
    play_in_real_time,
    short,
)
from asyncwait.conformance.harness._recorder import Listener, Recorder, heard_by
from asyncwait.conformance.harness._run import (
    MAX_TURNS,
    REDELIVERIES,
    LoopName,
    SpinWatch,
    VirtualLoop,
    loop_blocker,
    loop_clock,
    run_real,
    run_virtual,
)
from asyncwait.conformance.harness._script import (
    FURTHER_READS,
    PATIENCE,
    Consumer,
    PlannedSourceError,
    TimedElements,
    WatchedSource,
    given_as,
    planned_source_error,
)
from asyncwait.conformance.harness._telling import describe_failure, line_of, shown
from asyncwait.spec.exports import claim_exports

__all__ = [
    "FURTHER_READS",
    "LONGEST",
    "MAX_TURNS",
    "PATIENCE",
    "REDELIVERIES",
    "Consumer",
    "Listener",
    "LoopName",
    "OutsideRealLoop",
    "OutsideVirtualLoop",
    "Planned",
    "PlannedSourceError",
    "Recorder",
    "SpinWatch",
    "TimedElements",
    "VirtualLoop",
    "WatchedSource",
    "describe_failure",
    "given_as",
    "heard_by",
    "in_real_time",
    "line_of",
    "loop_blocker",
    "loop_clock",
    "planned_error",
    "planned_function",
    "planned_source_error",
    "play",
    "play_in_real_time",
    "play_leg",
    "run_real",
    "run_virtual",
    "short",
    "shown",
]

claim_exports(__name__)
