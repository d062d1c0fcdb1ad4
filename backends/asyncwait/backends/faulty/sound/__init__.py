"""Sound operators that were each written from the contract alone, in plain asyncio or plain trio.

They share the contract's own helpers, and a shell: their arguments, their door, how a call is
awaited. What an operator is made of differs in each: tasks, queues, callbacks, a thread, a timer
wheel, nothing but the consumer's wait, channels, a parking lot. No rule may convict any of them.
"""

from asyncwait.backends.faulty.sound._callbacks import RunsOnCallbacks
from asyncwait.backends.faulty.sound._channels import SpeaksThroughChannels
from asyncwait.backends.faulty.sound._lazy import WorksOnlyWhenAsked
from asyncwait.backends.faulty.sound._parking import ParksEachRecord
from asyncwait.backends.faulty.sound._queues import WorksThroughQueues
from asyncwait.backends.faulty.sound._task_per_record import GivesEachRecordATask
from asyncwait.backends.faulty.sound._thread import KeepsItsBooksInAThread
from asyncwait.backends.faulty.sound._wheel import RoundsDeadlinesToTicks
from asyncwait.spec.exports import claim_exports

__all__ = [
    "GivesEachRecordATask",
    "KeepsItsBooksInAThread",
    "ParksEachRecord",
    "RoundsDeadlinesToTicks",
    "RunsOnCallbacks",
    "SpeaksThroughChannels",
    "WorksOnlyWhenAsked",
    "WorksThroughQueues",
]

claim_exports(__name__)
