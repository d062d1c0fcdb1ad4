"""Plays scenarios on operators and records what happens. Needs `spec` and anyio only."""

from asyncwait.conformance.harness._function import Planned, planned_function
from asyncwait.conformance.harness._outside_clock import OutsideVirtualLoop
from asyncwait.conformance.harness._player import play, play_leg
from asyncwait.conformance.harness._real_time import LONGEST, in_real_time, play_in_real_time, short
from asyncwait.conformance.harness._recorder import Recorder, heard_by
from asyncwait.conformance.harness._run import (
    LoopName,
    SpinWatch,
    VirtualLoop,
    run_virtual,
)
from asyncwait.conformance.harness._script import FURTHER_READS, PATIENCE, Consumer
from asyncwait.conformance.harness._source import WatchedSource
from asyncwait.conformance.harness._telling import line_of, shown
from asyncwait.spec.exports import claim_exports

__all__ = [
    "FURTHER_READS",
    "LONGEST",
    "PATIENCE",
    "Consumer",
    "LoopName",
    "OutsideVirtualLoop",
    "Planned",
    "Recorder",
    "SpinWatch",
    "VirtualLoop",
    "WatchedSource",
    "heard_by",
    "in_real_time",
    "line_of",
    "planned_function",
    "play",
    "play_in_real_time",
    "play_leg",
    "run_virtual",
    "short",
    "shown",
]

claim_exports(__name__)
