"""Flink's first AsyncWaitOperator: a blocking queue, an emitter, a checkpoint lock.

The modules, in the order in which they read best: `_queue`, `_emitter`, `_reader`, `_calls`,
`_tasks`, and `_operator`, which joins them.
"""

from asyncwait.backends.emitter._calls import Calls, Records, Timers
from asyncwait.backends.emitter._emitter import CheckpointLock, Emitter, Outlet
from asyncwait.backends.emitter._operator import (
    EmitterOperator,
    EmitterResults,
    Parts,
    open_operator,
)
from asyncwait.backends.emitter._queue import ElementQueue, Entry, OrderedQueue, UnorderedQueue
from asyncwait.backends.emitter._reader import Intake, Reader
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
