"""The reference operator: slow enough to be read, sound enough to be believed."""

from asyncwait.reference._abandoned import GRACE, CancelledCalls, Watch
from asyncwait.reference._batches import BatchCall, Gathering
from asyncwait.reference._cache import LoadCall, ResultCache
from asyncwait.reference._calls import TaskCall
from asyncwait.reference._counts import (
    BreakerCount,
    BudgetCount,
    Count,
    InFlightCount,
    Need,
    WindowCount,
)
from asyncwait.reference._executor import MailboxExecutor
from asyncwait.reference._gate import Caller, Gate, Permit
from asyncwait.reference._handler import Attempt, ResultHandler
from asyncwait.reference._keys import KeyLines
from asyncwait.reference._mailbox import OPERATOR, Mail, TaskMailbox
from asyncwait.reference._operator import AsyncWaitOperator
from asyncwait.reference._outcomes import Completion, Outcome, Raised, Returned
from asyncwait.reference._output import Output
from asyncwait.reference._parts import QUEUES, REFERENCE, Parts, open_with
from asyncwait.reference._processor import MailboxProcessor, Suspension
from asyncwait.reference._queues import (
    ElementQueue,
    Entry,
    FenceEntry,
    KeyOrderedQueue,
    OrderedQueue,
    RecordEntry,
    Segment,
    UnorderedQueue,
)
from asyncwait.reference._source import End, SourceReader
from asyncwait.reference._stream import ResultStream
from asyncwait.reference._task import InputStatus, StreamTask
from asyncwait.reference._timers import Alarm, LoopAlarm, TaskAlarm, Timer, TimerService
from asyncwait.spec.exports import claim_exports
from asyncwait.spec.mailbox import MAIN, MailboxClosedError, MailboxMetrics, MailboxState
from asyncwait.toolkit import plain_wait

open_operator = open_with()
ordered_wait = plain_wait(open_operator, "ordered")
unordered_wait = plain_wait(open_operator, "unordered")
key_ordered_wait = plain_wait(open_operator, "key-ordered")

__all__ = [
    "GRACE",
    "MAIN",
    "OPERATOR",
    "QUEUES",
    "REFERENCE",
    "Alarm",
    "AsyncWaitOperator",
    "Attempt",
    "BatchCall",
    "BreakerCount",
    "BudgetCount",
    "Caller",
    "CancelledCalls",
    "Completion",
    "Count",
    "ElementQueue",
    "End",
    "Entry",
    "FenceEntry",
    "Gate",
    "Gathering",
    "InFlightCount",
    "InputStatus",
    "KeyLines",
    "KeyOrderedQueue",
    "LoadCall",
    "LoopAlarm",
    "Mail",
    "MailboxClosedError",
    "MailboxExecutor",
    "MailboxMetrics",
    "MailboxProcessor",
    "MailboxState",
    "Need",
    "OrderedQueue",
    "Outcome",
    "Output",
    "Parts",
    "Permit",
    "Raised",
    "RecordEntry",
    "ResultCache",
    "ResultHandler",
    "ResultStream",
    "Returned",
    "Segment",
    "SourceReader",
    "StreamTask",
    "Suspension",
    "TaskAlarm",
    "TaskCall",
    "TaskMailbox",
    "Timer",
    "TimerService",
    "UnorderedQueue",
    "Watch",
    "WindowCount",
    "key_ordered_wait",
    "open_operator",
    "open_with",
    "ordered_wait",
    "unordered_wait",
]

claim_exports(__name__)
