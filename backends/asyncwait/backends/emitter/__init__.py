"""Flink's first AsyncWaitOperator: a blocking queue, an emitter, a checkpoint lock.

The modules, in the order in which they read best: `_queue`, `_emitter`, `_calls`, `_tasks`, and
`_operator`, which reads the source and joins the parts.
"""

from asyncwait.backends.emitter._calls import Calls, Records, Timers
from asyncwait.backends.emitter._emitter import CheckpointLock, Emitter, Outlet
from asyncwait.backends.emitter._operator import (
    EmitterOperator,
    EmitterResults,
    Intake,
    Parts,
    Reader,
    open_operator,
)
from asyncwait.backends.emitter._queue import ElementQueue, Entry, OrderedQueue, UnorderedQueue
from asyncwait.backends.emitter._tasks import Life
from asyncwait.spec.exports import claim_exports

__all__ = [
    "Calls",
    "CheckpointLock",
    "ElementQueue",
    "Emitter",
    "EmitterOperator",
    "EmitterResults",
    "Entry",
    "Intake",
    "Life",
    "OrderedQueue",
    "Outlet",
    "Parts",
    "Reader",
    "Records",
    "Timers",
    "UnorderedQueue",
    "open_operator",
]

claim_exports(__name__)
