"""Flink's operator before 1.10: a blocking queue, an emitter, a checkpoint lock."""

from asyncwait.backends.emitter._batches import BatchCalls
from asyncwait.backends.emitter._blocking import ElementQueue
from asyncwait.backends.emitter._calls import Calls
from asyncwait.backends.emitter._checkpoints import Checkpoints
from asyncwait.backends.emitter._emitter import Emitter
from asyncwait.backends.emitter._entries import Entry
from asyncwait.backends.emitter._intake import Intake
from asyncwait.backends.emitter._keys import KeyChains
from asyncwait.backends.emitter._life import Life
from asyncwait.backends.emitter._lock import CheckpointLock
from asyncwait.backends.emitter._operator import (
    EmitterOperator,
    EmitterResults,
    key_ordered_wait,
    open_operator,
    open_with,
    ordered_wait,
    unordered_wait,
)
from asyncwait.backends.emitter._outlet import Outlet
from asyncwait.backends.emitter._parts import Parts
from asyncwait.backends.emitter._queues import KeyOrderedQueue, OrderedQueue, UnorderedQueue
from asyncwait.backends.emitter._reader import Reader
from asyncwait.backends.emitter._records import Records
from asyncwait.backends.emitter._retries import Retries
from asyncwait.backends.emitter._timers import Timers
from asyncwait.spec.exports import claim_exports

__all__ = [
    "BatchCalls",
    "Calls",
    "CheckpointLock",
    "Checkpoints",
    "ElementQueue",
    "Emitter",
    "EmitterOperator",
    "EmitterResults",
    "Entry",
    "Intake",
    "KeyChains",
    "KeyOrderedQueue",
    "Life",
    "OrderedQueue",
    "Outlet",
    "Parts",
    "Reader",
    "Records",
    "Retries",
    "Timers",
    "UnorderedQueue",
    "key_ordered_wait",
    "open_operator",
    "open_with",
    "ordered_wait",
    "unordered_wait",
]

claim_exports(__name__)
